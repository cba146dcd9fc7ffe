import Tactus

/// The account of which heartbeats the guard has answered, and whether an answer is overdue. It is the rule of `HeartbeatSender` without its socket.
///
/// The type may be used in a loop's tick: it never blocks, takes no lock and allocates nothing.
public struct HeartbeatAnswers: Sendable, Hashable, BitwiseCopyable {
  /// The smallest number of unanswered heartbeats with which a guard counts as silent. After a standstill of the program, its last
  /// heartbeat may have gone to a guard that has been replaced since, and the next heartbeat has had no time for its answer; these
  /// two do not show that the new guard is silent.
  private static var fewestOwed: UInt64 {
    @_noLocks @_noAllocation get { 3 }
  }

  /// The longest time that an answer may take.
  public let patience: Nanoseconds
  /// The number of the newest heartbeat that was sent.
  public private(set) var number: UInt64 = 0
  /// Whether the guard was found silent and no answer has come since.
  public private(set) var isUnanswered = false
  /// The instant in nanoseconds since which an answer is owed, or `.max` if none is owed.
  private var owedSince = Int64.max
  /// The number of heartbeats since that instant.
  private var owed: UInt64 = 0
  private var answered: UInt64 = 0

  /// Creates an account in which no answer is owed.
  ///
  /// - Parameter patience: the longest time that an answer may take, more than 0.
  @_noLocks @_noAllocation
  public init(patience: Nanoseconds) { self.patience = patience }

  /// Records that the heartbeat `number + 1` was sent.
  @_noLocks @_noAllocation
  public mutating func noteSent(at now: TickInstant) {
    number &+= 1
    owe(at: now)
  }

  /// Records that the heartbeat `number + 1` could not be sent because the guard has not read earlier ones.
  @_noLocks @_noAllocation
  public mutating func noteRefused(at now: TickInstant) { owe(at: now) }

  @_noLocks @_noAllocation
  private mutating func owe(at now: TickInstant) {
    if owedSince == .max { (owedSince, owed) = (now.nanoseconds, 0) }
    owed &+= 1
  }

  /// Records an answer to a heartbeat. Returns whether the answer is a new one.
  @_noLocks @_noAllocation
  public mutating func noteAnswer(to heartbeat: UInt64, at now: TickInstant) -> Bool {
    guard heartbeat > answered, heartbeat <= number else { return false }
    answered = heartbeat
    isUnanswered = false
    (owedSince, owed) = (answered == number ? .max : now.nanoseconds, 1)
    return true
  }

  /// Records that the guard has died, so that no answer is owed.
  @_noLocks @_noAllocation
  public mutating func noteGone() {
    answered = number
    owedSince = .max
    isUnanswered = false
  }

  /// Returns whether an answer has been owed for longer than the patience. If so, the debt is cleared, since another guard may take
  /// its place; the next unanswered heartbeat starts another period of patience.
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
