import Synchronization

/// What is known of the guard, the process that writes the safe states when this one cannot: for `GET /api/health` and metrics.
public final class GuardHealth: Sendable {
  /// What the guard is doing. The raw values are those of `GET /api/health`.
  public enum State: String, Sendable, Encodable {
    /// It has been ready and has not ended since.
    case watching
    /// It has died or hangs, and the next is not ready yet.
    case replacing
    /// It has died or hung, and no other can be had: every output is kept stopped.
    case lost
    /// No guard runs: it is switched off, or everything is simulated.
    case none
  }

  struct Report: Sendable, Equatable, Encodable {
    var state: State
    /// How often one took another's place since the start.
    var replacements = 0
    /// How often the guard has written the safe state: since the start, and once more if it did so when the program before had died.
    var madeSafe: UInt64 = 0
    /// When it did so last, by the time of day; absent if it never did.
    var madeSafeISO: String?
  }

  private struct Content: Sendable {
    var report: Report
    /// Replacements, by how the one before was lost.
    var byReason: [String: Int] = [:]
    /// Why no guard can be had, or `nil` if one watches or is being started.
    var lostBecause: String?
  }

  private let content: Mutex<Content>
  /// Counted since the start.
  let changes = Atomic<UInt64>(0)

  /// - Parameter state: at the daemon's start: `.watching` if it has a guard, otherwise `.none`.
  public init(_ state: State) { content = Mutex(Content(report: Report(state: state))) }

  var report: Report { content.withLock { $0.report } }
  var replacementsByReason: [String: Int] { content.withLock { $0.byReason } }
  /// Why no guard can be had, or `nil` if one watches, is being started, or is not wanted.
  public var lostBecause: String? { content.withLock { $0.lostBecause } }

  /// One has died, or hangs.
  public func lose() { change { $0.report.state = .replacing } }

  /// No other can be had, for this reason.
  public func despair(_ why: String) {
    change { content in
      content.report.state = .lost
      content.lostBecause = why
    }
  }

  /// Another is watching in its place.
  ///
  /// - Parameter reason: how the one before was lost: `died` or `hung`.
  public func replace(_ reason: String = "died") {
    change { content in
      content.report.state = .watching
      content.report.replacements += 1
      content.byReason[reason, default: 0] += 1
      content.lostBecause = nil
    }
  }

  /// The guard has written the safe state so often more, last at this time of day.
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
