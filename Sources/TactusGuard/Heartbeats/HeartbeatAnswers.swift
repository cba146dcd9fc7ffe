import Tactus

/// Which heartbeats the guard has answered, and whether it owes an answer for too long: `HeartbeatSender`'s rule without its socket.
///
/// For a loop's tick: never blocks, takes no lock, allocates nothing.
public struct HeartbeatAnswers: Sendable, Hashable, BitwiseCopyable {
  /// A guard is silent only with so many heartbeats unanswered. Of a program that stood still the last heartbeat may have gone to a guard that has
  /// been replaced since, and the next heartbeat has had no time for its answer: the two say nothing of the new guard.
  private static var fewestOwed: UInt64 {
    @_noLocks @_noAllocation get { 3 }
  }

  /// How long an answer may take.
  public let patience: Nanoseconds
  /// Of the newest heartbeat that was sent.
  public private(set) var number: UInt64 = 0
  /// Whether the guard was found silent, and no answer has come since.
  public private(set) var isUnanswered = false
  /// Since when the guard owes an answer; `.max` if it owes none.
  private var owedSince = Int64.max
  /// Heartbeats since then.
  private var owed: UInt64 = 0
  private var answered: UInt64 = 0

  /// - Parameter patience: more than 0.
  @_noLocks @_noAllocation
  public init(patience: Nanoseconds) { self.patience = patience }

  /// The heartbeat `number + 1` was sent.
  @_noLocks @_noAllocation
  public mutating func noteSent(at now: TickInstant) {
    number &+= 1
    owe(at: now)
  }

  /// The heartbeat `number + 1` could not be sent, since the guard has not read those before it.
  @_noLocks @_noAllocation
  public mutating func noteRefused(at now: TickInstant) { owe(at: now) }

  @_noLocks @_noAllocation
  private mutating func owe(at now: TickInstant) {
    if owedSince == .max { (owedSince, owed) = (now.nanoseconds, 0) }
    owed &+= 1
  }

  /// An answer to a heartbeat has come. Returns whether it is a new one.
  @_noLocks @_noAllocation
  public mutating func noteAnswer(to heartbeat: UInt64, at now: TickInstant) -> Bool {
    guard heartbeat > answered, heartbeat <= number else { return false }
    answered = heartbeat
    isUnanswered = false
    (owedSince, owed) = (answered == number ? .max : now.nanoseconds, 1)
    return true
  }

  /// The guard has died: another owes nothing.
  @_noLocks @_noAllocation
  public mutating func noteGone() {
    answered = number
    owedSince = .max
    isUnanswered = false
  }

  /// Returns whether the guard has owed an answer for the patience. What it owed is forgotten then, since another guard may take its place: the next
  /// heartbeat without an answer begins another patience.
  @_noLocks @_noAllocation
  public mutating func isSilent(at now: TickInstant) -> Bool {
    guard Mechanism.guardHang.acts, owedSince != .max, owed >= Self.fewestOwed,
      now.nanoseconds &- owedSince >= patience.count
    else { return false }
    owedSince = .max
    isUnanswered = true
    return true
  }
}
