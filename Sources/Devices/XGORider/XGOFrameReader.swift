@_spi(FromOutside) import Conversions

/// Finds the frames in the bytes that an XGO board sends.
///
/// Noise, cut frames and wrong sums are skipped byte by byte until the next frame. A valid frame is never lost because of earlier
/// bytes. If a false start (55 00 and a plausible length) covers it, the frame is found once the false frame is rejected, at most
/// 40 bytes later. Holds at most 40 bytes and allocates nothing.
///
///     for byte in received {
///       reader.append(byte)
///       while let frame = reader.next() { … }
///     }
public struct XGOFrameReader: Sendable, BitwiseCopyable {
  private var bytes: [40 of UInt8]
  private var count = 0
  /// The number of bytes since the beginning that belonged to no frame.
  public private(set) var skipped: UInt64 = 0

  /// Creates a reader without any byte.
  @_noLocks @_noAllocation
  public init() { bytes = .init(repeating: 0) }

  /// Takes one received byte. If 40 bytes are waiting because `next` was not called, the oldest is skipped.
  @_noLocks @_noAllocation
  public mutating func append(_ byte: UInt8) {
    if count == 40 {
      drop(1)
      skipped &+= 1
    }
    bytes[count] = byte
    count += 1
  }

  /// Returns the next whole frame with a correct sum, or `nil` if more bytes are needed.
  @_noLocks @_noAllocation
  public mutating func next() -> XGOFrame? {
    while count > 0 {
      switch inspect() {
      case .incomplete: return nil
      case .frame(let frame):
        drop(frame.count)
        return frame
      case .noise:
        drop(1)
        skipped &+= 1
      }
    }
    return nil
  }

  /// Discards a frame that has begun, for example after a timeout.
  @_noLocks @_noAllocation
  public mutating func reset() {
    skipped &+= UInt64(clamping: count)
    count = 0
  }

  private enum Finding {
    case incomplete
    case frame(XGOFrame)
    case noise
  }

  /// Examines the oldest bytes.
  @_noLocks @_noAllocation
  private func inspect() -> Finding {
    guard bytes[0] == 0x55 else { return .noise }
    guard count >= 2 else { return .incomplete }
    guard bytes[1] == 0 else { return .noise }
    guard count >= 3 else { return .incomplete }
    let length = Int(bytes[2])
    guard length >= XGOFrame.overhead, length <= XGOFrame.overhead + XGOFrame.maximumDataCount else { return .noise }
    guard count >= length else { return .incomplete }
    guard let frame = XGOFrame(validating: bytes) else { return .noise }
    return .frame(frame)
  }

  @_noLocks @_noAllocation
  private mutating func drop(_ dropped: Int) {
    for index in dropped..<count { bytes[index - dropped] = bytes[index] }
    count -= dropped
  }
}
