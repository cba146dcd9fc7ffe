@_spi(FromOutside) import Conversions

/// Assembles lines from pieces of any size, such as notifications of 20 bytes or single bytes of a UART.
///
/// A line ends with `\r`, `
/// ` or both; empty lines are ignored. A line longer than the buffer is dropped and counted. The buffer belongs to the caller and must be the same at
/// every call. Timing: constant; no allocation, no lock.
///
/// A Bluetooth module set to AT+NOTI1 writes changes of its connection between the bytes of the line, without a line end: `OK+CONN` and `OK+LOST`,
/// with AT+NOTP1 followed by the peer's address (`OK+CONN:001122334455`), and `OK+CONNE`, `OK+CONNF` or `OK+CONNN` after a failed connection. Such a
/// notice is not part of a line. The bytes before it were received on another connection, and their line has lost its end.
///
///     for byte in received {
///       switch assembler.receive(byte, into: buffer) { … }
///     }
public struct PumpLineAssembler: Sendable, BitwiseCopyable {
  /// The capacity in bytes of a buffer that holds the longest line.
  public static var standardCapacity: Int {
    @_noLocks @_noAllocation get { 512 }
  }

  /// The treatment of a line that is longer than the buffer.
  public enum Overflow: UInt8, Sendable, Hashable, BitwiseCopyable {
    /// The whole line is dropped; its end returns `dropped`.
    case dropsLine
    /// The original firmware's handling: the byte that does not fit is dropped together with those before it and returns `dropped`, and the next byte
    /// begins a line. A module's notice is treated like any other bytes.
    case dropsBeginning
  }

  public enum Outcome: Sendable, Hashable, BitwiseCopyable {
    /// The line is not complete yet.
    case incomplete
    /// The first `count` bytes of the buffer are a line without its line end; at least 1.
    case line(count: Int)
    /// The first `count` bytes of the buffer are a line that has lost its end because a module's notice arrived; at least 1.
    case cut(count: Int)
    /// The first `count` bytes of the buffer are the bytes between a cut line's notice and the line end; at least 1. They are not a whole line and
    /// must not start anything.
    case rest(count: Int)
    /// A line of `count` bytes did not fit.
    case dropped(count: Int)
  }

  private let overflow: Overflow
  /// The number of bytes of the line so far, including those that did not fit.
  private var count = 0
  /// The line's last eight bytes, the newest in the lowest place.
  private var recent: UInt64 = 0
  /// Whether the bytes in the buffer follow a module's notice.
  private var followsNotice = false
  /// Whether a notice was received in the middle of this line.
  private var isCut = false
  /// The number of lines that did not fit.
  public private(set) var dropped: Int64 = 0

  @_noLocks @_noAllocation
  public init(overflow: Overflow = .dropsLine) { self.overflow = overflow }

  @_noLocks @_noAllocation
  public mutating func receive(_ byte: UInt8, into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    guard byte == 0x0A || byte == 0x0D else { return append(byte, to: buffer) }
    let (ended, wasCut) = (count, isCut)
    let fits = ended <= buffer.count
    let length = fits ? withoutRestOfNotice(ended, buffer) : ended
    reset()
    if fits { return length == 0 ? .incomplete : wasCut ? .rest(count: length) : .line(count: length) }
    dropped &+= 1
    return .dropped(count: ended)
  }

  @_noLocks @_noAllocation
  private mutating func append(_ byte: UInt8, to buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    if count < buffer.count {
      buffer[count] = byte
    } else if case .dropsBeginning = overflow {
      let lost = count &+ 1
      count = 0
      dropped &+= 1
      return .dropped(count: lost)
    }
    // A line may never end, so the count saturates.
    if count < Int(Int32.max) { count &+= 1 }
    recent = recent &<< 8 | UInt64(byte)
    guard case .dropsLine = overflow, PumpModuleNotice.ends(recent) else { return .incomplete }
    return cut(buffer)
  }

  /// Handles a notice, whose bytes are the last ones of the line.
  @_noLocks @_noAllocation
  private mutating func cut(_ buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    let before = count &- PumpModuleNotice.length
    let fits = before <= buffer.count
    let length = fits ? withoutRestOfNotice(before, buffer) : before
    count = 0
    recent = 0
    followsNotice = true
    if length == 0 { return .incomplete }
    isCut = true
    if fits { return .cut(count: length) }
    dropped &+= 1
    return .dropped(count: length)
  }

  /// Removes the rest of a notice from the beginning of the buffer by moving the bytes after it forward; returns how many of the first `count` are
  /// left.
  @_noLocks @_noAllocation
  private func withoutRestOfNotice(_ count: Int, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard followsNotice else { return count }
    let rest = PumpModuleNotice.restLength(buffer, count)
    guard rest > 0 else { return count }
    for place in rest..<count { buffer[place &- rest] = buffer[place] }
    return count &- rest
  }

  /// Discards an incomplete line, whose end was lost with the connection.
  @_noLocks @_noAllocation
  public mutating func reset() {
    count = 0
    recent = 0
    followsNotice = false
    isCut = false
  }
}
