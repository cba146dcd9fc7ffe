import Synchronization

/// What is known of the guard, the process that writes the safe states when this one cannot: for `GET /api/health` and metrics.
public final class GuardHealth: Sendable {
  /// What the guard is doing. The raw values are those of `GET /api/health`.
  public enum State: String, Sendable, Encodable {
    /// It has been ready and has not ended since.
    case watching
    /// It has died or hangs, and the next is not ready yet.
    case replacing
    /// No guard runs: it is switched off, or everything is simulated.
    case none
  }

  struct Report: Sendable, Equatable, Encodable {
    var state: State
    /// How often one took another's place since the start.
    var replacements = 0
  }

  private let content: Mutex<Report>

  /// - Parameter state: at the daemon's start: `.watching` if it has a guard, otherwise `.none`.
  public init(_ state: State) { content = Mutex(Report(state: state)) }

  var report: Report { content.withLock { $0 } }

  /// One has died, or hangs.
  public func lose() { content.withLock { $0.state = .replacing } }

  /// Another is watching in its place.
  public func replace() {
    content.withLock { report in
      report.state = .watching
      report.replacements += 1
    }
  }

  var trouble: ServiceTrouble? {
    guard report.state == .replacing else { return nil }
    return ServiceTrouble(
      code: "GUARD_LOST",
      message:
        "the guard died or hangs and is being replaced; until then nothing stops the actuators if this program dies")
  }
}
