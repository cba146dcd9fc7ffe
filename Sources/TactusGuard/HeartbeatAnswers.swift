import Tactus

/// Which heartbeats the guard has answered, and whether it owes an answer for too long: `HeartbeatSender`'s rule without its socket.
///
/// For a loop's tick: never blocks, takes no lock, allocates nothing.
public struct HeartbeatAnswers: Sendable, Hashable, BitwiseCopyable {
  /// How long an answer may take.
  public let patience: Nanoseconds
  /// Of the newest heartbeat that was sent.
  public private(set) var number: UInt64 = 0
  /// Whether the guard was found silent, and no answer has come since.
  public private(set) var isUnanswered = false
  /// Since when the guard owes an answer; `.max` if it owes none.
  private var owedSince = Int64.max
  private var answered: UInt64 = 0

  /// - Parameter patience: more than 0.
  @_noLocks @_noAllocation
  public init(patience: Nanoseconds) { self.patience = patience }

  /// The heartbeat `number + 1` was sent.
  @_noLocks @_noAllocation
  public mutating func noteSent(at now: TickInstant) {
    number &+= 1
    if owedSince == .max { owedSince = now.nanoseconds }
  }

  /// An answer to a heartbeat has come. Returns whether it is a new one.
  @_noLocks @_noAllocation
  public mutating func noteAnswer(to heartbeat: UInt64, at now: TickInstant) -> Bool {
    guard heartbeat > answered, heartbeat <= number else { return false }
    answered = heartbeat
    isUnanswered = false
    owedSince = answered == number ? .max : now.nanoseconds
    return true
  }

  /// The guard has died: another owes nothing.
  @_noLocks @_noAllocation
  public mutating func noteGone() {
    answered = number
    owedSince = .max
    isUnanswered = false
  }

  /// Returns whether the guard has owed an answer for the patience; once for each patience.
  @_noLocks @_noAllocation
  public mutating func isSilent(at now: TickInstant) -> Bool {
    guard Mechanism.guardHang.acts, owedSince != .max, now.nanoseconds &- owedSince >= patience.count else {
      return false
    }
    owedSince = now.nanoseconds
    isUnanswered = true
    return true
  }
}
