import Tactus

/// The limit on lost packets that are sent again, which may take a quarter of the stream's bits.
///
/// A viewer asks for every lost packet again and again. On a full link each packet sent again displaces another one, which the viewer then asks for
/// as well, so that without a limit the link stays full however little is encoded.
public struct RetransmissionBudget: Sendable {
  /// The length of a packet, in bits.
  private static let packetBits = 9_600.0
  /// The highest number of packets that are sent again at once.
  private static let most = 30.0

  private var packets = Self.most
  private var last: TickInstant?

  public init() {}

  /// Returns whether one more packet may be sent again.
  ///
  /// - Parameter bitsPerSecond: the stream's present bit rate.
  public mutating func allows(at now: TickInstant, bitsPerSecond: UInt32) -> Bool {
    if let last {
      let seconds = Double(max(.zero, now - last).count) / 1e9
      packets = min(Self.most, packets + seconds * Double(bitsPerSecond) / 4 / Self.packetBits)
    }
    last = now
    guard packets >= 1 else { return false }
    packets -= 1
    return true
  }
}
