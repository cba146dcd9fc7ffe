import Tactus

/// A sequence of up to 16 bytes by value, as one SPI transfer of this module carries them.
public struct SPIBytes: Sendable, BitwiseCopyable {
  /// The greatest number of bytes in one transfer.
  public static var capacity: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// All 16 bytes. Those from `count` on have no meaning.
  public private(set) var storage: [16 of UInt8]
  /// The number of bytes in use, 0…16.
  public private(set) var count: Int

  /// Creates an empty sequence of bytes.
  @_noLocks @_noAllocation
  public init() {
    storage = .init(repeating: 0)
    count = 0
  }

  /// Appends a byte. A 17th byte traps.
  @_noLocks @_noAllocation
  public mutating func append(_ byte: UInt8) {
    precondition(count < Self.capacity, "an SPI transfer carries at most 16 bytes")
    storage[count] = byte
    count += 1
  }

  /// The byte at `index`, 0..<`count`; another index traps.
  @_noLocks @_noAllocation
  public subscript(index: Int) -> UInt8 {
    get {
      precondition(index >= 0 && index < count)
      return storage[index]
    }
    set {
      precondition(index >= 0 && index < count)
      storage[index] = newValue
    }
  }
}

/// A transfer on a port: as many bytes are received as are sent, at the same time.
public struct SPITransfer: Sendable, BitwiseCopyable {
  /// The bytes to be sent, which are replaced by the received ones.
  public var bytes: SPIBytes
  /// The instant of the tick that made the transfer.
  public var at: TickInstant
}

/// The reason why a transfer failed. SPI has no acknowledgement, so a missing chip is no error.
public enum SPIError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The device is gone (EIO, ENXIO, ENODEV, ESHUTDOWN).
  case gone
  /// The kernel reported another error.
  case system(errno: Int32)
}

/// One chip select of an SPI bus as a driver uses it: a context and the one C function that makes a transfer.
///
/// The type is not copyable: one loop owns the port. Mode and speed are set where the port is opened. It allocates nothing.
public struct SPIPort: ~Copyable {
  /// Makes the `SPITransfer` behind the second pointer. Returns 0 or −errno.
  public typealias Transfer = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

  let context: UnsafeMutableRawPointer
  let transfer: Transfer
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates a port. `context` must stay valid as long as the port; its creator owns it.
  public init(context: UnsafeMutableRawPointer, transfer: @escaping Transfer) {
    self.context = context
    self.transfer = transfer
    throwOnce()
  }

  /// Sends 1…16 bytes and returns the same number of bytes, which were received at the same time.
  @_noLocks @_noAllocation
  public mutating func exchange(_ bytes: SPIBytes) throws(SPIError) -> SPIBytes {
    var request = SPITransfer(bytes: bytes, at: now)
    let result = carryOut(&request)
    if result < 0 { throw SPIError(errno: -result) }
    return request.bytes
  }
}

extension SPIPort {
  /// Makes the transfer and records it, or in a replay returns the recorded result.
  @_noLocks @_noAllocation
  private func carryOut(_ request: UnsafeMutablePointer<SPITransfer>) -> Int32 {
    guard let tape = TickTape.current else { return callSPI(transfer, context, request) }
    tape.sends(.spiSent, request, MemoryLayout<SPIBytes>.size)
    var got = SPIResult(result: 0, bytes: request.pointee.bytes)
    if !tape.isReplaying {
      let paused = TickTape.pause()
      got.result = Int(callSPI(transfer, context, request))
      TickTape.resume(paused)
      got.bytes = request.pointee.bytes
    }
    tape.gets(.spiGot, &got, MemoryLayout<SPIResult>.size)
    request.pointee.bytes = got.bytes
    return Int32(truncatingIfNeeded: got.result)
  }
}

/// The result of a transfer in a recording, without padding between its fields.
private struct SPIResult: BitwiseCopyable {
  var result: Int
  var bytes: SPIBytes
}

@_semantics("no_performance_analysis") @inline(never)
func callSPI(
  _ transfer: SPIPort.Transfer, _ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer
) -> Int32 {
  transfer(context, request)
}

extension SPIError {
  @_noLocks @_noAllocation
  init(errno: Int32) {
    switch errno {
    case 5, 6, 19, 108: self = .gone  // EIO, ENXIO, ENODEV, ESHUTDOWN
    default: self = .system(errno: errno)
    }
  }
}

extension SPIError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .gone: "SPI device is gone"
    case .system(let errno): "errno \(errno)"
    }
  }
}

/// Throws one error before any tick, because the first error of a type that a module throws makes the type's witness table, which
/// allocates. This was found by RealtimeSanitizer; the compiler's proof does not detect it.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(SPIError) { throw .gone } catch {}
}
