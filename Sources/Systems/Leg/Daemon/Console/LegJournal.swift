import Leg
import Tactus
import TactusDaemon
import Wire

/// The last hundred events: keys pressed, and changes of the leg and the link.
struct LegJournal {
  static let capacity = 100

  private(set) var entries: [String] = []
  private var startedAt: TickInstant?
  private var last: LegOperatorSnapshot?
  private var lastTrouble: String?

  /// Adds an event and returns its line: the time since the first event, and the text.
  @discardableResult
  mutating func note(_ text: String, at now: TickInstant) -> String {
    let start = startedAt ?? now
    startedAt = start
    let milliseconds = (now - start).count / 1_000_000
    let decimals = String(1000 + milliseconds % 1000).dropFirst()
    let line = "\(TerminalText.right("\(milliseconds / 1000)", 4)).\(decimals) s  \(text)"
    entries.append(line)
    if entries.count > Self.capacity { entries.removeFirst() }
    return line
  }

  /// Adds the changes since the previous snapshot and returns the new lines.
  @discardableResult
  mutating func observe(_ snapshot: LegOperatorSnapshot, trouble: String?) -> [String] {
    let before = last ?? LegOperatorSnapshot()
    last = snapshot
    var news: [String] = []
    if let words = snapshot.state.text(after: before.state) { news.append(words) }
    if let heard = snapshot.heard?.telemetry {
      let old = before.heard?.telemetry
      if old?.state != heard.state || old?.error != heard.error {
        news.append("leg \(heard.state)" + (heard.error == .none ? "" : ", error: \(heard.error)"))
      }
    }
    switch (before.telemetryAge, snapshot.telemetryAge) {
    case (.fresh, .stale): news.append("telemetry is stale")
    case (.stale, .fresh): news.append("telemetry is fresh again")
    default: break
    }
    if snapshot.refused > before.refused { news.append("refused: nobody answers, or the pulse is being sent") }
    if snapshot.sendFailures > before.sendFailures {
      news.append("\(snapshot.sendFailures - before.sendFailures) frames were not sent")
    }
    if snapshot.malformed > before.malformed {
      news.append("\(snapshot.malformed - before.malformed) messages that are no telemetry")
    }
    if trouble != lastTrouble, let trouble { news.append("link: \(trouble)") }
    lastTrouble = trouble
    return news.map { note($0, at: snapshot.at) }
  }
}

extension LegOperatorState {
  /// Returns the change from `before` in words, or `nil` if the change is not worth a line.
  fileprivate func text(after before: LegOperatorState) -> String? {
    switch (before, self) {
    case (.connecting, .connected): "connected"
    case (.connected, .connecting), (.periodic, .connecting): "connection lost"
    case (.connected, .periodic), (.connecting, .periodic): "keepalive on: the pulse at 50 Hz"
    case (.periodic, .connected): "keepalive off"
    case (.connecting, .quitting), (.connected, .quitting), (.periodic, .quitting): "disarming"
    default: nil
    }
  }
}
