import CTactusGuard
import Tactus

/// One sign of a program's life, as its guard judges it.
public struct Heartbeat: Sendable, Hashable, BitwiseCopyable {
  /// Counted by the sender, from 1, without a gap.
  public var number: UInt64
  /// When it was due by the sender's schedule. The window is judged by these, so a sender or a guard that a busy machine holds up is not
  /// taken for one that runs wild.
  public var due: TickInstant
  /// When it was sent.
  public var sent: TickInstant
  /// The loops that are watched: bit k stands for the k-th.
  public var watched: UInt64
  /// Those of them that have advanced since the heartbeat before, or need not have.
  public var advanced: UInt64

  /// - Parameters: see the properties.
  @_noLocks @_noAllocation
  public init(number: UInt64, due: TickInstant, sent: TickInstant, watched: UInt64 = 0, advanced: UInt64 = 0) {
    self.number = number
    self.due = due
    self.sent = sent
    self.watched = watched
    self.advanced = advanced
  }
}

/// What is wrong with a heartbeat.
public enum HeartbeatFault: String, Sendable, Hashable {
  /// Due too soon after the one before, or sent before it was due, before the one before, or in the future.
  case early
  /// It has the number of the one before.
  case repeated
  /// It has any other number than the next.
  case outOfOrder
  /// A loop that was watched is watched no longer.
  case forgetful
  /// Not a message of this protocol.
  case malformed

  /// A clause for a log.
  public var words: String {
    switch self {
    case .early: "a heartbeat came too early"
    case .repeated: "a heartbeat was repeated"
    case .outOfOrder: "a heartbeat was out of order"
    case .forgetful: "a heartbeat left out a loop that was watched"
    case .malformed: "a message is none"
    }
  }
}

/// How far apart heartbeats are.
public struct HeartbeatWindow: Sendable, Hashable {
  /// Between the instants at which two in a row are due.
  public let shortest: Nanoseconds
  /// From the sending of one to the sending of the next, and of each loop's sign to its next: longer means that the program, or the loop, is
  /// not under control.
  public let longest: Nanoseconds

  /// - Parameters:
  ///   - shortest: more than 0.
  ///   - longest: more than `shortest`.
  public init(shortest: Nanoseconds, longest: Nanoseconds) {
    precondition(.zero < shortest && shortest < longest, "a window has a beginning and an end")
    self.shortest = shortest
    self.longest = longest
  }
}
