import Tactus

/// The reason why bytes could not be written to or read from a serial line.
public enum SerialError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The line accepted only `written` of `count` bytes, because its buffer is full: the peer does not read, or flow control holds it.
  case full(written: Int, count: Int)
  /// The device is gone (EIO, ENXIO or end of file).
  case gone
  /// The kernel reported another error.
  case system(errno: Int32)
}

/// A serial line as a driver uses it. It never blocks and allocates nothing. The type is not copyable: one loop owns the line.
public struct SerialPort: ~Copyable {
  /// Writes `count` bytes from, or reads up to `count` bytes into, the second pointer. Returns the number of bytes, which is 0 if a
  /// read finds none, or −errno.
  public typealias Transfer = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int, Int64) -> Int

  let context: UnsafeMutableRawPointer
  let writeFunction: Transfer
  let readFunction: Transfer
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates a port. `context` must stay valid as long as the port; its creator owns it. The functions' last argument is `now` in
  /// nanoseconds, for simulated devices.
  public init(context: UnsafeMutableRawPointer, write: @escaping Transfer, read: @escaping Transfer) {
    self.context = context
    writeFunction = write
    readFunction = read
    throwOnce()
  }

  /// Writes all of `bytes`, or throws an error.
  @_noLocks @_noAllocation
  public mutating func write(_ bytes: UnsafeRawBufferPointer) throws(SerialError) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return }
    let result = carryOut(base, bytes.count)
    if result < 0 { throw SerialError(errno: Int32(-result)) }
    if result < bytes.count { throw .full(written: result, count: bytes.count) }
  }

  /// Reads the bytes that have arrived, at most `bytes.count`. Returns their number, which is 0 if none has arrived.
  @_noLocks @_noAllocation
  public mutating func read(into bytes: UnsafeMutableRawBufferPointer) throws(SerialError) -> Int {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return 0 }
    let result = readOrReplay(base, bytes.count)
    if result < 0 { throw SerialError(errno: Int32(-result)) }
    return result
  }

  /// Writes one byte, or throws an error.
  @_noLocks @_noAllocation
  public mutating func write(_ byte: UInt8) throws(SerialError) {
    var byte = byte
    try write(from: &byte)
  }

  /// Reads the oldest byte that has arrived. Returns `nil` if no byte is waiting.
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

extension SerialPort {
  /// Writes and records bytes, or in a replay compares them with the recorded ones.
  @_noLocks @_noAllocation
  private func carryOut(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let bytes = UnsafeMutableRawPointer(mutating: bytes)
    guard let tape = TickTape.current else {
      return callSerial(writeFunction, context, bytes, count, now.nanoseconds)
    }
    tape.sends(.serialSent, bytes, count)
    var result = 0
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = callSerial(writeFunction, context, bytes, count, now.nanoseconds)
      TickTape.resume(paused)
    }
    tape.gets(.serialGot, &result, 8)
    return result
  }

  /// Reads and records bytes, or in a replay returns the recorded ones.
  @_noLocks @_noAllocation
  private func readOrReplay(_ bytes: UnsafeMutableRawPointer, _ limit: Int) -> Int {
    guard let tape = TickTape.current else { return callSerial(readFunction, context, bytes, limit, now.nanoseconds) }
    var result = 0
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = callSerial(readFunction, context, bytes, limit, now.nanoseconds)
      TickTape.resume(paused)
    }
    tape.gets(.serialGot, &result, 8)
    if result > 0 { tape.gets(.serialGot, bytes, result < limit ? result : limit) }
    return result
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

/// Throws one error before any tick, because the first error of a type that a module throws makes the type's witness table, which
/// allocates. This was found by RealtimeSanitizer; the compiler's proof does not detect it.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(SerialError) { throw .gone } catch {}
}
