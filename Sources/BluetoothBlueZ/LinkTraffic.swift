/// What has gone over a link since it was made. Counts, modulo 2⁶⁴.
public struct LinkTraffic: Sendable, Hashable {
  /// Messages that the loop got, and those that it did not since it was behind or they were too long.
  public internal(set) var received: UInt64 = 0
  public internal(set) var refused: UInt64 = 0
  /// Messages of the loop that were handed to BlueZ, and those that were not: nobody listens, BlueZ is behind, too long.
  public internal(set) var sent: UInt64 = 0
  public internal(set) var dropped: UInt64 = 0
  /// Connections.
  public internal(set) var connections: UInt64 = 0

  public init() {}
}
