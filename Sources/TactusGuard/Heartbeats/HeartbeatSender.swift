import CTactusGuard
@_spi(FromOutside) import Conversions
import Tactus

/// The program's end of the heartbeats. It numbers and sends them, and its answers show whether the guard is alive.
///
/// The type may be used in a loop's tick: it never blocks, takes no lock and allocates nothing. The owner of the socket closes it.
public struct HeartbeatSender: Sendable, BitwiseCopyable {
  /// The guard's response to heartbeats.
  public enum Hearing: UInt8, Sendable, BitwiseCopyable {
    /// The guard owes no answer, or has owed one for no longer than the patience.
    case answers
    /// Three or more heartbeats have been unanswered for the patience. The result is returned again if later heartbeats are unanswered as well.
    case silent
    /// The guard's end of the socket is closed, because the guard has died.
    case gone
  }

  /// The descriptor of the socket, which belongs to a `GuardLink`.
  public let socket: Int32
  /// The account of the heartbeats that the guard has answered.
  private var answers: HeartbeatAnswers
  /// The number of times the guard has begun to write the safe state, as last reported by the guard.
  public private(set) var written: UInt64 = 0

  /// The longest time that an answer may take. A guard needs up to 30 ms for each write to a bus that is stuck.
  public var patience: Nanoseconds { answers.patience }
  /// The number of the newest heartbeat that was sent.
  public var number: UInt64 { answers.number }
  /// Whether `silent` was returned and no answer has come since.
  public var isUnanswered: Bool { answers.isUnanswered }

  /// Creates a sender that uses `socket` and allows `patience` for an answer.
  public init(socket: Int32, patience: Nanoseconds = .milliseconds(800)) {
    self.socket = socket
    answers = HeartbeatAnswers(patience: patience)
  }

  /// Reads the answers that have come, sends one heartbeat, and returns the guard's response.
  ///
  /// - Parameters:
  ///   - due: the instant at which this heartbeat was due, which is the tick's `scheduled`.
  ///   - now: the tick's `started`.
  ///   - watched: the watched loops, with bit k for loop k.
  ///   - advanced: the watched loops that have made progress since the previous heartbeat, or that need not have.
  @_noLocks @_noAllocation
  public mutating func send(due: TickInstant, at now: TickInstant, watched: UInt64, advanced: UInt64) -> Hearing {
    var isOpen = hear(at: now)
    if isOpen {
      var message = tactus_guard_message()
      message.kind = UInt64(TACTUS_GUARD_HEARTBEAT.rawValue)
      message.number = answers.number &+ 1
      message.due = due.nanoseconds
      message.sent = now.nanoseconds
      message.watched = watched
      message.advanced = advanced
      let result = tactus_guard_send(socket, &message)
      // A full socket means that the guard does not read. The heartbeat's number is used again, so that the guard finds no gap.
      if result == 0 { answers.noteSent(at: now) } else { answers.noteRefused(at: now) }
      isOpen = result == 0 || result == -11  // EAGAIN
    }
    guard isOpen else {
      answers.noteGone()
      written = 0
      return .gone
    }
    return answers.isSilent(at: now) ? .silent : .answers
  }

  /// Reads the answers that have come. Returns whether the socket is open.
  @_noLocks @_noAllocation
  private mutating func hear(at now: TickInstant) -> Bool {
    var message = tactus_guard_message()
    var rest = 64
    while rest > 0 {
      rest &-= 1
      let result = tactus_guard_receive(socket, &message)
      guard result == 1 else { return result == -11 || result == -71 }  // EAGAIN, EPROTO
      guard message.kind == UInt64(TACTUS_GUARD_ANSWER.rawValue), answers.noteAnswer(to: message.number, at: now)
      else { continue }
      written = message.written
    }
    return true
  }
}
