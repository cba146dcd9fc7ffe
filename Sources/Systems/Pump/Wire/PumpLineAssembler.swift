/// Puts lines together from whatever pieces they come in: notifications of 20 bytes, single bytes of a UART.
///
/// A line ends with `\r`, `\n` or both; empty lines are nothing. What is longer than the buffer is dropped and counted. The buffer is the
/// caller's, the same at every call. Timing: constant; no allocation, no lock.
///
/// A Bluetooth module that is told to (AT+NOTI1) writes what becomes of its connection between the bytes of the line, without a line end:
/// `OK+CONN`, `OK+LOST`, with AT+NOTP1 the other's address behind it (`OK+CONN:001122334455`), and `OK+CONNE`, `OK+CONNF`, `OK+CONNN` of a
/// connection that came to nothing. Such a notice is no part of a line. What stands before it was begun on another connection, and has
/// lost its end.
///
///     for byte in received {
///       switch assembler.take(byte, into: buffer) { … }
///     }
public struct PumpLineAssembler: Sendable, BitwiseCopyable {
  /// Bytes of a buffer that holds the longest line.
  public static var standardCapacity: Int {
    @_noLocks @_noAllocation get { 512 }
  }

  /// What becomes of a line that is longer than the buffer.
  public enum Overflow: UInt8, Sendable, Hashable, BitwiseCopyable {
    /// All of it is dropped, and its end tells so.
    case dropsLine
    /// As the original firmware: the byte that does not fit is dropped with those before it and tells so, and what follows it begins a line.
    /// A module's notice is bytes like any others.
    case dropsBeginning
  }

  public enum Outcome: Sendable, Hashable, BitwiseCopyable {
    /// The line goes on.
    case incomplete
    /// The first so many bytes of the buffer are a line, without its end; 1….
    case line(count: Int)
    /// The first so many bytes of the buffer are a line that has lost its end: a module's notice came; 1….
    case cut(count: Int)
    /// The first so many bytes of the buffer are what stands behind a cut line and a notice, up to the line's end; 1…. It is no whole line:
    /// nothing is to be started by it.
    case rest(count: Int)
    /// A line of so many bytes did not fit.
    case dropped(count: Int)
  }

  private let overflow: Overflow
  /// Bytes of the line so far, those that did not fit too.
  private var count = 0
  /// The line's last eight bytes, the newest in the lowest place.
  private var recent: UInt64 = 0
  /// Whether what is in the buffer follows a module's notice.
  private var followsNotice = false
  /// Whether a notice stood in the middle of this line.
  private var isCut = false
  /// Lines that did not fit.
  public private(set) var dropped: Int64 = 0

  @_noLocks @_noAllocation
  public init(overflow: Overflow = .dropsLine) { self.overflow = overflow }

  @_noLocks @_noAllocation
  public mutating func take(_ byte: UInt8, into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
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
    // A line may never end.
    if count < Int(Int32.max) { count &+= 1 }
    recent = recent &<< 8 | UInt64(byte)
    guard case .dropsLine = overflow, PumpModuleNotice.ends(recent) else { return .incomplete }
    return cut(buffer)
  }

  /// A notice has come: its bytes are the last of the line.
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

  /// Moves the first `count` bytes of the buffer to where what a notice ended with stood; returns how many are left.
  @_noLocks @_noAllocation
  private func withoutRestOfNotice(_ count: Int, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard followsNotice else { return count }
    let rest = PumpModuleNotice.restLength(buffer, count)
    guard rest > 0 else { return count }
    for place in rest..<count { buffer[place &- rest] = buffer[place] }
    return count &- rest
  }

  /// Forgets a line that has begun: its end was lost with the connection.
  @_noLocks @_noAllocation
  public mutating func reset() {
    count = 0
    recent = 0
    followsNotice = false
    isCut = false
  }
}
