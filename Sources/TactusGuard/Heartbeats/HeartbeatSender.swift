import CTactusGuard
import Tactus

/// The program's end of the heartbeats: numbers them, sends them, and hears from the answers whether the guard is alive.
///
/// For a loop's tick: never blocks, takes no lock, allocates nothing. The owner of the socket closes it.
public struct HeartbeatSender: Sendable, BitwiseCopyable {
  /// How the guard answers.
  public enum Hearing: UInt8, Sendable, BitwiseCopyable {
    /// It owes no answer, or not for longer than the patience.
    case answers
    /// Three heartbeats or more have gone unanswered for the patience. Told again when later ones have, too.
    case silent
    /// Its end of the socket is closed: it has died.
    case gone
  }

  /// A `GuardLink`'s.
  public let socket: Int32
  /// Which of them the guard has answered.
  private var answers: HeartbeatAnswers
  /// How often the guard has begun to write the safe state, as it said last.
  public private(set) var written: UInt64 = 0

  /// How long an answer may take. A guard that writes to a bus that is stuck needs 30 ms for each write.
  public var patience: Nanoseconds { answers.patience }
  /// Of the newest heartbeat that was sent.
  public var number: UInt64 { answers.number }
  /// Whether `silent` was reported, and no answer has come since.
  public var isUnanswered: Bool { answers.isUnanswered }

  /// - Parameters: see the properties.
  public init(socket: Int32, patience: Nanoseconds = .milliseconds(800)) {
    self.socket = socket
    answers = HeartbeatAnswers(patience: patience)
  }

  /// Takes the answers that have come, sends one heartbeat, and says how the guard answers.
  ///
  /// - Parameters:
  ///   - due: when this heartbeat was due: the tick's `scheduled`.
  ///   - now: the tick's `started`.
  ///   - watched: the watched loops, bit k for the k-th.
  ///   - advanced: those of them that have advanced since the heartbeat before, or need not have.
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
      // A full socket: the guard reads nothing. The number is the next one's, so that the guard will find no gap.
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

  /// Whether the socket is open.
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
