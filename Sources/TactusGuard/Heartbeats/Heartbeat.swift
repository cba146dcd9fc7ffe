import CTactusGuard
import Tactus

/// A heartbeat: the message by which a program shows its guard that the program and its watched loops make progress.
public struct Heartbeat: Sendable, Hashable, BitwiseCopyable {
  /// The number of the heartbeat, counted by the sender from 1 without a gap.
  public var number: UInt64
  /// The instant at which the heartbeat was due by the sender's schedule. The window is checked with these instants, so a sender or
  /// a guard that a busy machine delays is not taken for one that is out of control.
  public var due: TickInstant
  /// The instant at which the heartbeat was sent.
  public var sent: TickInstant
  /// The watched loops: bit k stands for loop k.
  public var watched: UInt64
  /// The watched loops that have made progress since the previous heartbeat, or that need not have.
  public var advanced: UInt64

  /// Creates a heartbeat from its properties.
  @_noLocks @_noAllocation
  public init(number: UInt64, due: TickInstant, sent: TickInstant, watched: UInt64 = 0, advanced: UInt64 = 0) {
    self.number = number
    self.due = due
    self.sent = sent
    self.watched = watched
    self.advanced = advanced
  }
}

/// The reason why a heartbeat is invalid.
public enum HeartbeatFault: String, Sendable, Hashable {
  /// The heartbeat was due too soon after the previous one, or was sent before it was due, before the previous one, or in the future.
  case early
  /// The heartbeat has the number of the previous one.
  case repeated
  /// The heartbeat has neither the next number nor that of the previous one.
  case outOfOrder
  /// A loop that was watched is no longer watched.
  case forgetful
  /// The message is not one of this protocol.
  case malformed

  /// The fault as a clause for a log.
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

/// The window of time between two heartbeats.
public struct HeartbeatWindow: Sendable, Hashable {
  /// The shortest time between the instants at which two consecutive heartbeats are due.
  public let shortest: Nanoseconds
  /// The longest time from the sending of one heartbeat to the sending of the next, and from a loop's progress to its next
  /// progress. After a longer time the program, or the loop, is not under control.
  public let longest: Nanoseconds

  /// Creates a window between two times since the previous heartbeat.
  ///
  /// - Parameters:
  ///   - shortest: the shortest time, more than 0.
  ///   - longest: the longest time, more than `shortest`.
  public init(shortest: Nanoseconds, longest: Nanoseconds) {
    precondition(.zero < shortest && shortest < longest, "a window has a beginning and an end")
    self.shortest = shortest
    self.longest = longest
  }
  /// A window without an end, for a program that sends no heartbeats: a hundred years.
  static let unlimited = HeartbeatWindow(shortest: .nanoseconds(1), longest: .seconds(3_155_760_000))
}
