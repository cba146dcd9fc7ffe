/// Puts lines together from whatever pieces they come in: notifications of 20 bytes, single bytes of a UART.
///
/// A line ends with `\r`, `\n` or both; empty lines are nothing. What is longer than the buffer is dropped and counted. The buffer is the
/// caller's, the same at every call. Timing: constant; no allocation, no lock.
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
    case dropsBeginning
  }

  public enum Outcome: Sendable, Hashable, BitwiseCopyable {
    /// The line goes on.
    case incomplete
    /// The first so many bytes of the buffer are a line, without its end; 1….
    case line(count: Int)
    /// A line of so many bytes did not fit.
    case dropped(count: Int)
  }

  private let overflow: Overflow
  /// Bytes of the line so far, those that did not fit too.
  private var count = 0
  /// Lines that did not fit.
  public private(set) var dropped: Int64 = 0

  @_noLocks @_noAllocation
  public init(overflow: Overflow = .dropsLine) { self.overflow = overflow }

  @_noLocks @_noAllocation
  public mutating func take(_ byte: UInt8, into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    guard byte == 0x0A || byte == 0x0D else {
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
      return .incomplete
    }
    let ended = count
    count = 0
    guard ended > buffer.count else { return ended == 0 ? .incomplete : .line(count: ended) }
    dropped &+= 1
    return .dropped(count: ended)
  }

  /// Forgets a line that has begun: its end was lost with the connection.
  @_noLocks @_noAllocation
  public mutating func reset() { count = 0 }
}
