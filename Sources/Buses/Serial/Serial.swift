import Tactus

/// Why bytes did not go out of, or come in from, a serial line.
public enum SerialError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The line took only `written` of `count` bytes: its buffer is full because the peer does not read, or flow control holds it.
  case full(written: Int, count: Int)
  /// The device is gone (EIO, ENXIO, end of file).
  case gone
  /// Anything else the kernel says.
  case system(errno: Int32)
}

/// A serial line as a driver sees it: never blocks, allocates nothing. Not copyable: one line, one owning loop.
public struct SerialPort: ~Copyable {
  /// Writes `count` bytes from, or reads up to `count` bytes into, the second pointer. Returns the number of bytes, 0
  /// when a read finds nothing, or −errno.
  public typealias Transfer = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int, Int64) -> Int

  let context: UnsafeMutableRawPointer
  let writeFunction: Transfer
  let readFunction: Transfer
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero

  /// `context` must stay valid as long as the port; its maker owns it. The functions' last argument is `now` in
  /// nanoseconds, for simulated devices.
  public init(context: UnsafeMutableRawPointer, write: @escaping Transfer, read: @escaping Transfer) {
    self.context = context
    writeFunction = write
    readFunction = read
    throwOnce()
  }

  /// All of `bytes` or an error.
  @_noLocks @_noAllocation
  public mutating func write(_ bytes: UnsafeRawBufferPointer) throws(SerialError) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return }
    let result = callSerial(
      writeFunction, context, UnsafeMutableRawPointer(mutating: base), bytes.count, now.nanoseconds)
    if result < 0 { throw SerialError(errno: Int32(-result)) }
    if result < bytes.count { throw .full(written: result, count: bytes.count) }
  }

  /// What has arrived, at most `bytes.count`; 0 when nothing has.
  @_noLocks @_noAllocation
  public mutating func read(into bytes: UnsafeMutableRawBufferPointer) throws(SerialError) -> Int {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return 0 }
    let result = callSerial(readFunction, context, base, bytes.count, now.nanoseconds)
    if result < 0 { throw SerialError(errno: Int32(-result)) }
    return result
  }

  /// Writes one byte, or throws.
  @_noLocks @_noAllocation
  public mutating func write(_ byte: UInt8) throws(SerialError) {
    var byte = byte
    try write(from: &byte)
  }

  /// Takes the oldest byte that has arrived, or returns `nil` when no byte is waiting.
  @_noLocks @_noAllocation
  public mutating func read() throws(SerialError) -> UInt8? {
    var byte: UInt8 = 0
    return try read(into: &byte) == 1 ? byte : nil
  }

  @_noLocks @_noAllocation
  private mutating func write(from byte: UnsafePointer<UInt8>) throws(SerialError) {
    try write(UnsafeRawBufferPointer(start: byte, count: 1))
  }

  @_noLocks @_noAllocation
  private mutating func read(into byte: UnsafeMutablePointer<UInt8>) throws(SerialError) -> Int {
    try read(into: UnsafeMutableRawBufferPointer(start: byte, count: 1))
  }
}

@_semantics("no_performance_analysis") @inline(never)
func callSerial(
  _ transfer: SerialPort.Transfer, _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  transfer(context, bytes, count, now)
}

extension SerialError {
  @_noLocks @_noAllocation
  init(errno: Int32) {
    switch errno {
    case 5, 6, 19: self = .gone  // EIO, ENXIO, ENODEV
    default: self = .system(errno: errno)
    }
  }
}

extension SerialError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full(let written, let count): "serial line full: took \(written) of \(count) bytes"
    case .gone: "serial device is gone"
    case .system(let errno): "errno \(errno)"
    }
  }
}

/// The first error of a type that a module throws makes the type's witness table, which allocates: one is thrown here, before
/// any tick. Found by RealtimeSanitizer; the compiler's proof does not see it.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(SerialError) { throw .gone } catch {}
}
