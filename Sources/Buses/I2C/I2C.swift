import Tactus

/// A 7-bit I2C address, 0x08…0x77.
public struct I2CAddress: Sendable, Hashable, BitwiseCopyable {
  /// The address without the read bit, 0x08…0x77.
  public let value: UInt8

  /// From a number; `nil` for one that the I2C specification reserves.
  @_noLocks @_noAllocation
  public init?(_ value: UInt8) {
    guard (0x08...0x77).contains(value) else { return nil }
    self.value = value
  }
}

/// Up to 32 bytes by value: what one SMBus block transfer carries.
public struct I2CBytes: Sendable, BitwiseCopyable {
  /// The most bytes that one transfer carries.
  public static let capacity = 32
  /// All 32 bytes; those from `count` on mean nothing.
  public private(set) var storage: [32 of UInt8]
  /// Bytes in use, 0…32.
  public private(set) var count: Int

  /// No bytes.
  @_noLocks @_noAllocation
  public init() {
    storage = .init(repeating: 0)
    count = 0
  }

  /// Room for a reply of `count` bytes, 0…32.
  @_noLocks @_noAllocation
  public init(zeros count: Int) {
    precondition((0...Self.capacity).contains(count), "an SMBus block carries at most 32 bytes")
    storage = .init(repeating: 0)
    self.count = count
  }

  /// Adds a byte at the end. A 33rd one traps.
  @_noLocks @_noAllocation
  public mutating func append(_ byte: UInt8) {
    precondition(count < Self.capacity, "an SMBus block carries at most 32 bytes")
    storage[count] = byte
    count += 1
  }

  /// The byte at `index`, 0..<`count`; another index traps.
  @_noLocks @_noAllocation
  public subscript(index: Int) -> UInt8 {
    get {
      precondition(index < count)
      return storage[index]
    }
    set {
      precondition(index < count)
      storage[index] = newValue
    }
  }
}

/// One transfer as a bus sees it.
public struct I2CTransfer: Sendable, BitwiseCopyable {
  /// What is asked of the bus.
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// SMBus "write byte data": address, register, one byte.
    case writeByte
    /// SMBus "I2C block write": address, register, 1…32 bytes.
    case writeBlock
    /// SMBus "I2C block read": address, register, repeated start, `bytes.count` bytes into `bytes`.
    case readBlock
    /// A plain write without a register (I2C_RDWR).
    case plainWrite
    /// A plain read without a register (I2C_RDWR).
    case plainRead
  }
  /// The chip that is meant.
  public var address: I2CAddress
  /// What is asked of the bus.
  public var operation: Operation
  /// The register that is meant. Means nothing for the plain operations.
  public var register: UInt8
  /// What is written, or what has been read.
  public var bytes: I2CBytes
  /// The tick that asked: simulated chips and recordings take their time from here.
  public var at: TickInstant
}

/// Why a transfer did not happen.
public enum I2CError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The chip did not answer: EREMOTEIO on a Raspberry Pi, ENXIO or ENODEV on other controllers.
  case noAcknowledge(address: I2CAddress, register: UInt8)
  /// Another controller won the bus (EAGAIN).
  case arbitrationLost(address: I2CAddress, register: UInt8)
  /// The bus did not finish within its bound: a chip holds SCL or SDA low (ETIMEDOUT).
  case timedOut(address: I2CAddress, register: UInt8)
  /// Anything else the kernel says.
  case system(errno: Int32, address: I2CAddress, register: UInt8)
}

/// An I2C bus as a driver sees it: a context and the one C function that makes a transfer.
///
/// Not copyable: one bus, one owning loop. Drivers are small values that take the bus per call. A table of one function
/// instead of a protocol, because a tick may only call what the compiler can see, and generic code is not that.
/// Timing: a transfer blocks at most `attempts ×` the time-out of the bus below it (10 ms on Linux), except that a
/// time-out is never tried again. Allocates nothing.
public struct I2CBus: ~Copyable {
  /// Makes the `I2CTransfer` behind the second pointer; fills `bytes` of a read. Returns 0 or −errno.
  public typealias Transfer = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

  let context: UnsafeMutableRawPointer
  let transfer: Transfer
  /// How often a transfer that was not acknowledged or lost arbitration is made, 1…: both are common on a Pi's bus.
  public var attempts: Int
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero
  /// Transfers that succeeded only after a retry, since the start.
  public private(set) var retries: Int64 = 0

  /// `context` must stay valid as long as the bus; its maker owns it.
  public init(context: UnsafeMutableRawPointer, attempts: Int = 3, transfer: @escaping Transfer) {
    precondition(attempts >= 1)
    self.context = context
    self.attempts = attempts
    self.transfer = transfer
    throwOnce()
  }

  /// Writes one byte to a register.
  ///
  /// - Throws: the error of the last attempt. A transfer is tried up to `attempts` times if another attempt may succeed.
  @_noLocks @_noAllocation
  public mutating func writeByte(_ byte: UInt8, to address: I2CAddress, register: UInt8) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(byte)
    _ = try perform(.writeByte, address, register, bytes)
  }

  /// Writes 1…32 bytes, the first of them to the register.
  ///
  /// - Throws: the error of the last attempt. A transfer is tried up to `attempts` times if another attempt may succeed.
  @_noLocks @_noAllocation
  public mutating func writeBlock(_ bytes: I2CBytes, to address: I2CAddress, register: UInt8) throws(I2CError) {
    _ = try perform(.writeBlock, address, register, bytes)
  }

  /// Reads 1…32 bytes, the first of them from the register. Returns exactly `count`; more than 32 trap.
  ///
  /// - Throws: the error of the last attempt. A transfer is tried up to `attempts` times if another attempt may succeed.
  @_noLocks @_noAllocation
  public mutating func readBlock(
    _ count: Int, from address: I2CAddress, register: UInt8
  ) throws(I2CError) -> I2CBytes {
    try perform(.readBlock, address, register, I2CBytes(zeros: count))
  }

  /// Writes 1…32 bytes without a register, for chips that SMBus cannot express.
  ///
  /// - Throws: the error of the last attempt. A transfer is tried up to `attempts` times if another attempt may succeed.
  @_noLocks @_noAllocation
  public mutating func plainWrite(_ bytes: I2CBytes, to address: I2CAddress) throws(I2CError) {
    _ = try perform(.plainWrite, address, 0, bytes)
  }

  /// Reads 1…32 bytes without a register, for chips that SMBus cannot express. Returns exactly `count`; more than 32
  /// trap.
  ///
  /// - Throws: the error of the last attempt. A transfer is tried up to `attempts` times if another attempt may succeed.
  @_noLocks @_noAllocation
  public mutating func plainRead(_ count: Int, from address: I2CAddress) throws(I2CError) -> I2CBytes {
    try perform(.plainRead, address, 0, I2CBytes(zeros: count))
  }

  @_noLocks @_noAllocation
  private mutating func perform(
    _ operation: I2CTransfer.Operation, _ address: I2CAddress, _ register: UInt8, _ bytes: I2CBytes
  ) throws(I2CError) -> I2CBytes {
    var request = I2CTransfer(address: address, operation: operation, register: register, bytes: bytes, at: now)
    var attempt = 1
    while true {
      let result = callTransfer(transfer, context, &request)
      if result >= 0 {
        if attempt > 1 { retries += 1 }
        return request.bytes
      }
      let error = I2CError(errno: -result, address: address, register: register)
      guard error.isWorthRetrying, attempt < attempts else { throw error }
      attempt += 1
    }
  }
}

/// The one call the compiler cannot follow. Every function passed as `I2CBus.Transfer` carries the annotations itself.
@_semantics("no_performance_analysis") @inline(never)
func callTransfer(
  _ transfer: I2CBus.Transfer, _ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer
) -> Int32 {
  transfer(context, request)
}

extension I2CError {
  @_noLocks @_noAllocation
  init(errno: Int32, address: I2CAddress, register: UInt8) {
    switch errno {
    case 121, 6, 19: self = .noAcknowledge(address: address, register: register)  // EREMOTEIO, ENXIO, ENODEV
    case 11: self = .arbitrationLost(address: address, register: register)  // EAGAIN
    case 110: self = .timedOut(address: address, register: register)  // ETIMEDOUT
    default: self = .system(errno: errno, address: address, register: register)
    }
  }

  /// A time-out is not: on a stuck bus a retry only costs the tick the same time again.
  var isWorthRetrying: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .noAcknowledge, .arbitrationLost: true
      case .timedOut, .system: false
      }
    }
  }
}

extension I2CError: CustomStringConvertible {
  public var description: String {
    func place(_ address: I2CAddress, _ register: UInt8) -> String {
      "address 0x\(hex(address.value)), register 0x\(hex(register))"
    }
    return switch self {
    case .noAcknowledge(let address, let register): "no acknowledge (\(place(address, register)))"
    case .arbitrationLost(let address, let register): "arbitration lost (\(place(address, register)))"
    case .timedOut(let address, let register): "timed out, bus stuck (\(place(address, register)))"
    case .system(let errno, let address, let register): "errno \(errno) (\(place(address, register)))"
    }
  }
}

/// Two lower-case hexadecimal digits.
public func hex(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count == 1 ? "0" + digits : digits
}

/// The first error of a type that a module throws makes the type's witness table, which allocates: one is thrown here, before
/// any tick. Found by RealtimeSanitizer; the compiler's proof does not see it.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(I2CError) { throw .system(errno: 0, address: I2CAddress(0x08)!, register: 0) } catch {}
}
