import Tactus

/// Up to 16 bytes by value: what one SPI transfer carries here.
public struct SPIBytes: Sendable, BitwiseCopyable {
  /// The most bytes that one transfer carries.
  public static var capacity: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// All 16 bytes; those from `count` on mean nothing.
  public private(set) var storage: [16 of UInt8]
  /// Bytes in use, 0…16.
  public private(set) var count: Int

  /// An empty sequence of bytes.
  @_noLocks @_noAllocation
  public init() {
    storage = .init(repeating: 0)
    count = 0
  }

  /// Adds a byte at the end. A 17th one traps.
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

/// One transfer as a port sees it: as many bytes in as out, at the same time.
public struct SPITransfer: Sendable, BitwiseCopyable {
  /// Out; replaced by what came in.
  public var bytes: SPIBytes
  /// The tick that asked.
  public var at: TickInstant
}

/// Why a transfer did not happen. SPI knows no acknowledge: a chip that is not there is no error.
public enum SPIError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The device is gone (EIO, ENXIO, ENODEV, ESHUTDOWN).
  case gone
  /// Anything else the kernel says.
  case system(errno: Int32)
}

/// One chip select of an SPI bus as a driver sees it: a context and the one C function that makes a transfer.
///
/// Not copyable: one port, one owning loop. Mode and speed are set where it is opened. Allocates nothing.
public struct SPIPort: ~Copyable {
  /// Makes the `SPITransfer` behind the second pointer. Returns 0 or −errno.
  public typealias Transfer = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

  let context: UnsafeMutableRawPointer
  let transfer: Transfer
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero

  /// `context` must stay valid as long as the port; its maker owns it.
  public init(context: UnsafeMutableRawPointer, transfer: @escaping Transfer) {
    self.context = context
    self.transfer = transfer
    throwOnce()
  }

  /// Sends 1…16 bytes, and returns those that came in at the same time, as many.
  @_noLocks @_noAllocation
  public mutating func exchange(_ bytes: SPIBytes) throws(SPIError) -> SPIBytes {
    var request = SPITransfer(bytes: bytes, at: now)
    let result = callSPI(transfer, context, &request)
    if result < 0 { throw SPIError(errno: -result) }
    return request.bytes
  }
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

/// The first error of a type that a module throws makes the type's witness table, which allocates: one is thrown here, before
/// any tick. Found by RealtimeSanitizer; the compiler's proof does not see it.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(SPIError) { throw .gone } catch {}
}
