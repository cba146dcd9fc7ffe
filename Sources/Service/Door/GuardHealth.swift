import Synchronization

/// The state of the guard for `GET /api/health` and metrics. The guard is the process that writes the safe states when the daemon cannot.
public final class GuardHealth: Sendable {
  /// The state of the guard. The raw values are those of `GET /api/health`.
  public enum State: String, Sendable, Encodable {
    /// The guard is ready and is watching this process.
    case watching
    /// The guard has died or hangs, and its replacement is not ready yet.
    case replacing
    /// The guard has died or hung and no replacement can be started; every output is kept stopped.
    case lost
    /// No guard runs, because it is switched off or every device is simulated.
    case none
  }

  struct Report: Sendable, Equatable, Encodable {
    var state: State
    /// The number of times that a guard was replaced since the start.
    var replacements = 0
    /// The number of times that a guard has written the safe state since the start, plus one if it did so when the previous run had died.
    var madeSafe: UInt64 = 0
    /// The time of day at which a guard last wrote the safe state, or `nil` if none has.
    var madeSafeISO: String?
  }

  private struct Content: Sendable {
    var report: Report
    /// The number of replacements by the reason for which the previous guard was lost.
    var byReason: [String: Int] = [:]
    /// The reason why no guard can be started, or `nil` if one is watching or being started.
    var lostBecause: String?
  }

  private let content: Mutex<Content>
  /// The number of changes since the start.
  let changes = Atomic<UInt64>(0)

  /// Makes the health of a guard that was never replaced.
  ///
  /// - Parameter state: the state at the daemon's start: `.watching` if the daemon has a guard, otherwise `.none`.
  public init(_ state: State) { content = Mutex(Content(report: Report(state: state))) }

  var report: Report { content.withLock { $0.report } }
  var replacementsByReason: [String: Int] { content.withLock { $0.byReason } }
  /// The reason why no guard can be started, or `nil` if one is watching, is being started, or is not wanted.
  public var lostBecause: String? { content.withLock { $0.lostBecause } }

  /// Notes that the guard has died or hangs.
  public func lose() { change { $0.report.state = .replacing } }

  /// Notes that no replacement can be started, for the given reason.
  public func despair(_ why: String) {
    change { content in
      content.report.state = .lost
      content.lostBecause = why
    }
  }

  /// Notes that a replacement is watching.
  ///
  /// - Parameter reason: how the previous guard was lost: `died` or `hung`.
  public func replace(_ reason: String = "died") {
    change { content in
      content.report.state = .watching
      content.report.replacements += 1
      content.byReason[reason, default: 0] += 1
      content.lostBecause = nil
    }
  }

  /// Notes that the guard has written the safe state `times` more times, most recently at the given time of day.
  public func noteMadeSafe(_ times: UInt64, at time: String) {
    change { content in
      content.report.madeSafe += times
      content.report.madeSafeISO = time
    }
  }

  private func change(_ body: (inout Content) -> Void) {
    content.withLock { body(&$0) }
    changes.wrappingAdd(1, ordering: .relaxed)
  }

  var trouble: ServiceTrouble? {
    let content = content.withLock { $0 }
    switch content.report.state {
    case .watching, .none: return nil
    case .replacing:
      return ServiceTrouble(
        code: "GUARD_LOST",
        message:
          "the guard died or hangs and is being replaced; until then nothing stops the actuators if this program dies")
    case .lost:
      return ServiceTrouble(
        code: "GUARD_LOST",
        message:
          "no guard can be had (\(content.lostBecause ?? "unknown")): every output is stopped and stays so; another "
          + "is tried every second; when it watches, reset the stop (POST /api/reset)")
    }
  }
}
