@_spi(FromOutside) import Conversions

/// One UART frame of an XGO board: `55 00 LEN MODE ADDRESS DATA… SUM 00 AA`.
///
/// LEN counts the whole frame, 8 + data bytes. SUM = 255 − (LEN + MODE + ADDRESS + data) mod 256. The value holds the bytes of the
/// frame as they are sent, at most 40. Requests and replies have the same form. Source: facts/robot.md, "The REAL Rider-Pi CM4"
/// (from Xgorobot/XGO-PythonLib 1.4.2).
public struct XGOFrame: Sendable, BitwiseCopyable {
  /// The number of data bytes in the longest frame of this module. The board's longest known reply has 10.
  public static var maximumDataCount: Int {
    @_noLocks @_noAllocation @inline(__always) get { 32 }
  }
  /// The number of bytes around the data.
  static var overhead: Int {
    @_noLocks @_noAllocation @inline(__always) get { 8 }
  }

  private var bytes: [40 of UInt8]
  /// The number of bytes in the frame, 8…40.
  public private(set) var count: Int

  /// Returns a frame that writes one register. To write several from `address` on, use `init(mode:address:)` and `append`.
  @_noLocks @_noAllocation
  public static func write(_ byte: UInt8, to address: XGOAddress) -> XGOFrame {
    var frame = XGOFrame(mode: 0x01, address: address)
    frame.append(byte)
    return frame
  }

  /// Returns a frame that requests `count` bytes from `address` on.
  @_noLocks @_noAllocation
  public static func read(_ count: UInt8, from address: XGOAddress) -> XGOFrame {
    var frame = XGOFrame(mode: 0x02, address: address)
    frame.append(count)
    return frame
  }

  /// Creates a frame without data, to which `append` adds data. MODE is 0x01 to write and 0x02 to read; boards reply with other modes.
  @_noLocks @_noAllocation
  public init(mode: UInt8, address: XGOAddress) {
    bytes = .init(repeating: 0)
    bytes[0] = 0x55
    bytes[3] = mode
    bytes[4] = address.value
    count = Self.overhead
    seal()
  }

  /// Creates the frame at the start of `bytes`, whose first byte is 0x55, whose LEN is 8…40 and whose last byte has been received.
  /// The result is `nil` if a fixed byte or the sum is wrong.
  @_noLocks @_noAllocation
  init?(validating received: [40 of UInt8]) {
    bytes = received
    count = Int(received[2])
    guard bytes[0] == 0x55, bytes[1] == 0, bytes[count - 2] == 0, bytes[count - 1] == 0xAA, bytes[count - 3] == sum
    else { return nil }
  }

  /// Appends a data byte. There must be fewer than 32.
  @_noLocks @_noAllocation
  public mutating func append(_ byte: UInt8) {
    precondition(dataCount < Self.maximumDataCount, "an XGO frame carries at most 32 data bytes")
    bytes[count - 3] = byte
    count += 1
    seal()
  }

  /// The MODE byte: 0x01 to write, 0x02 to read; boards reply with other modes.
  public var mode: UInt8 {
    @_noLocks @_noAllocation get { bytes[3] }
  }

  /// The first register that the frame writes or reads.
  public var address: XGOAddress {
    @_noLocks @_noAllocation get { XGOAddress(bytes[4]) }
  }

  /// The number of data bytes, 0…32.
  public var dataCount: Int {
    @_noLocks @_noAllocation get { count - Self.overhead }
  }

  /// Returns data byte `index`, 0..<dataCount.
  @_noLocks @_noAllocation
  public func data(_ index: Int) -> UInt8 {
    precondition(index >= 0 && index < dataCount)
    return bytes[5 + index]
  }

  /// The little-endian float in data bytes 0…3, in which roll, pitch and yaw are sent, or `nil` if there are not exactly four
  /// bytes. The float may be NaN or infinite.
  public var float: Float? {
    @_noLocks @_noAllocation get {
      guard dataCount == 4 else { return nil }
      let bits = UInt32(bytes[5]) | UInt32(bytes[6]) << 8 | UInt32(bytes[7]) << 16 | UInt32(bytes[8]) << 24
      return Float(bitPattern: bits)
    }
  }

  /// Appends a float as four data bytes, little-endian.
  @_noLocks @_noAllocation
  public mutating func append(_ float: Float) {
    for shift in 0..<UInt32(4) { append(UInt8(truncatingIfNeeded: float.bitPattern >> (8 * shift))) }
  }

  /// The byte `index` of the frame as it is sent, 0..<count.
  @_noLocks @_noAllocation
  public subscript(index: Int) -> UInt8 {
    precondition(index >= 0 && index < count)
    return bytes[index]
  }

  /// Copies the frame to the start of `buffer`, which must hold at least `count` bytes. Returns `count`.
  @_noLocks @_noAllocation
  public func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(buffer.count >= count, "the buffer is too small for the frame")
    for index in 0..<count { buffer[index] = bytes[index] }
    return count
  }

  /// Sets the length and the sum, which follow from `count`, mode, address and data.
  @_noLocks @_noAllocation
  private mutating func seal() {
    bytes[2] = UInt8(truncatingIfNeeded: count)
    bytes[count - 3] = sum
    bytes[count - 2] = 0
    bytes[count - 1] = 0xAA
  }

  private var sum: UInt8 {
    @_noLocks @_noAllocation get {
      var total: UInt8 = 0
      for index in 2..<count - 3 { total &+= bytes[index] }
      return 255 - total
    }
  }
}

extension XGOFrame: Equatable {
  @_noLocks @_noAllocation
  public static func == (left: Self, right: Self) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where left.bytes[index] != right.bytes[index] { return false }
    return true
  }
}

extension XGOFrame: CustomStringConvertible {
  /// The bytes of the frame in hexadecimal: `55 00 09 01 30 7F 46 00 AA`.
  public var description: String {
    (0..<count).map { index in
      let digits = String(bytes[index], radix: 16, uppercase: true)
      return digits.count == 1 ? "0" + digits : digits
    }.joined(separator: " ")
  }
}
