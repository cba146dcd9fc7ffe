/// Counts of the messages and connections of a link since it was created, modulo 2⁶⁴.
public struct LinkTraffic: Sendable, Hashable {
  /// The number of messages that were delivered to the loop.
  public internal(set) var received: UInt64 = 0
  /// The number of messages that did not reach the loop, because it was behind or they were longer than `MessageLink.mostBytes`.
  public internal(set) var refused: UInt64 = 0
  /// The number of messages of the loop that were passed to BlueZ.
  public internal(set) var sent: UInt64 = 0
  /// The number of messages of the loop that were not sent, because no client has subscribed, BlueZ is behind, or they were too long.
  public internal(set) var dropped: UInt64 = 0
  /// The number of connections.
  public internal(set) var connections: UInt64 = 0

  /// Creates the counts of a new link, which are all 0.
  public init() {}
}
