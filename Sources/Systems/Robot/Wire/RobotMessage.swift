import Wire

/// One robot datagram, understood: what it asks for, when its sender says it sent it, whether a reply is wanted.
public struct RobotMessage: Sendable, Equatable, BitwiseCopyable {
  public var datagram: RobotDatagram
  /// nil in the CSV form and when the sender gave none: arrival order decides.
  public var timestamp: SenderTimestamp?
  /// 0…2⁵³; a reply that carries it back is wanted. It is `nil` if no reply is wanted.
  public var echo: UInt64?
  /// CSV only: the wheel speeds turn against the direction field. The speeds hold; the caller counts it.
  public var directionMismatch: Bool

  @_noLocks @_noAllocation
  public init(
    _ datagram: RobotDatagram, timestamp: SenderTimestamp? = nil, echo: UInt64? = nil, directionMismatch: Bool = false
  ) {
    self.datagram = datagram
    self.timestamp = timestamp
    self.echo = echo
    self.directionMismatch = directionMismatch
  }

  /// Bytes in the longest datagram.
  public static var maximumLength: Int {
    @_noLocks @_noAllocation get { 1024 }
  }

  /// The message in a datagram: JSON when its first byte that is not white space is `{`, else CSV.
  ///
  /// Total: every byte string is a message or an error. Keeps no reference to `bytes`. Errors: see `DatagramError`.
  /// Timing: linear in the length; no allocation, no lock. Source: README.md beside this file; facts/robot.md.
  @_noLocks @_noAllocation
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(DatagramError) -> RobotMessage {
    guard bytes.count <= maximumLength else { throw .tooLong(count: bytes.count) }
    var scanner = ByteScanner(bytes)
    scanner.skipWhiteSpace()
    guard !scanner.isAtEnd else { throw .empty }
    return scanner.byte == 0x7B ? try scanner.robotJSON() : try scanner.robotCSV()
  }
}

extension WheelSpeeds {
  /// Each wheel on its own within ±100 %.
  @_noLocks @_noAllocation
  init(clampingLeft left: Double, right: Double) {
    self.init(
      left: Percent(Swift.max(-100, Swift.min(100, left))), right: Percent(Swift.max(-100, Swift.min(100, right))))
  }

  /// From forward speed and turn, percent each, positive turns right: both wheels scaled together into ±100 %, so that
  /// the curve stays the same.
  @_noLocks @_noAllocation
  init(speed: Double, direction: Double) {
    let left = speed + direction
    let right = speed - direction
    let largest = Swift.max(left.magnitude, right.magnitude)
    if largest > 100 {
      self.init(clampingLeft: left * 100 / largest, right: right * 100 / largest)
    } else {
      self.init(left: Percent(left), right: Percent(right))
    }
  }
}
