/// What has gone over a link since it was made. Counts, modulo 2⁶⁴.
public struct LinkTraffic: Sendable, Hashable {
  /// Messages that were handed to the loop.
  public internal(set) var received: UInt64 = 0
  /// Messages that did not reach the loop: it was behind, or they were longer than `MessageLink.mostBytes`.
  public internal(set) var refused: UInt64 = 0
  /// Messages of the loop that were handed to BlueZ.
  public internal(set) var sent: UInt64 = 0
  /// Messages of the loop that were not sent: no client has subscribed, BlueZ is behind, or they were too long.
  public internal(set) var dropped: UInt64 = 0
  /// Connections.
  public internal(set) var connections: UInt64 = 0

  /// The counts of a new link: all 0.
  public init() {}
}
