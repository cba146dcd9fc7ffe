import Service
import Tactus

// The desk's document `GET /api/notices`, and its metrics.

extension NoticeDesk {
  private struct Document: Encodable {
    struct Condition: Encodable {
      let id: String
      let kind: NoticeKind
      let system: String
      let severity: NoticeSeverity
      let text: String
      let wayOut: String?
      let seconds: Int64
      let comesAndGoes: Bool
      let told: [String]
    }

    struct Receiver: Encodable {
      let name: String
      let kind: String
      let waiting: Int
      let sent, failed, refused, dropped: Int64
      let isReached: Bool?
      let answer: String?
    }

    let ok = true
    let isKept: Bool
    let conditions: [Condition]
    let receivers: [Receiver]
    let recent: [NoticeDeskState.Record]
  }

  /// The route `GET /api/notices`.
  var route: Route {
    Route(.get, "/api/notices") { [self] _ in .json(document) }
  }

  private var document: Document {
    let now = BootClock.now.seconds
    return withState { state in
      Document(
        isKept: state.fileFailure == nil,
        conditions: state.machine.active.map { one in
          Document.Condition(
            id: one.condition.id, kind: one.condition.kind, system: one.condition.system,
            severity: one.condition.severity, text: one.condition.text, wayOut: one.condition.wayOut,
            seconds: max(0, now - one.began), comesAndGoes: one.flaps > 0, told: one.told.keys.sorted())
        },
        receivers: receivers.map { receiver in
          let counts = state.outbox.counts[receiver.name] ?? .zero
          return Document.Receiver(
            name: receiver.name, kind: receiver.kind.rawValue,
            waiting: state.outbox.kept.waiting.count { $0.message.receiver == receiver.name },
            sent: counts.sent, failed: counts.failed, refused: counts.refused, dropped: counts.dropped,
            isReached: state.answers[receiver.name]?.isSent, answer: state.answers[receiver.name]?.words)
        }, recent: state.recent)
    }
  }
}

/// The metrics of the messages to people.
struct NoticeMetrics: MetricSource {
  let desk: NoticeDesk

  func write(into writer: inout MetricsWriter) {
    let names = desk.receivers.map(\.name)
    let (counts, waiting, active) = desk.withState { state in
      (state.outbox.counts, state.outbox.kept.waiting.map(\.message.receiver), state.machine.active)
    }
    writer.gauge(
      "tactus_conditions", "Conditions that last, by severity.",
      NoticeSeverity.allCases.map { severity in
        MetricSample(Double(active.count { $0.condition.severity == severity }), ["severity": severity.rawValue])
      })
    writer.gauge(
      "tactus_notices_waiting", "Messages to people that wait for their receiver.",
      names.map { name in MetricSample(Double(waiting.count { $0 == name }), ["receiver": name]) })
    writer.counter(
      "tactus_notices_total", "Messages to people and attempts, by receiver and outcome.",
      names.flatMap { name in
        let count = counts[name] ?? .zero
        let outcomes: [(word: String, count: Int64)] = [
          ("sent", count.sent), ("failed", count.failed), ("refused", count.refused), ("dropped", count.dropped),
        ]
        return outcomes.map { MetricSample(Double($0.count), ["receiver": name, "outcome": $0.word]) }
      })
  }
}
