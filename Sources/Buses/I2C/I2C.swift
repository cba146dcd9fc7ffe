import Tactus

/// A 7-bit I2C address, 0x08…0x77.
public struct I2CAddress: Sendable, Hashable, BitwiseCopyable {
  /// The address without the read bit, 0x08…0x77.
  public let value: UInt8

  /// Creates an address from a number. The result is `nil` for a number that the I2C specification reserves.
  @_noLocks @_noAllocation
  public init?(_ value: UInt8) {
    guard (0x08...0x77).contains(value) else { return nil }
    self.value = value
  }
}

/// A sequence of up to 32 bytes by value, as one SMBus block transfer carries them.
public struct I2CBytes: Sendable, BitwiseCopyable {
  /// The greatest number of bytes in one transfer.
  public static let capacity = 32
  /// All 32 bytes. Those from `count` on have no meaning.
  public private(set) var storage: [32 of UInt8]
  /// The number of bytes in use, 0…32.
  public private(set) var count: Int

  /// Creates an empty sequence of bytes.
  @_noLocks @_noAllocation
  public init() {
    storage = .init(repeating: 0)
    count = 0
  }

  /// Creates `count` zero bytes, 0…32, as room for a reply.
  @_noLocks @_noAllocation
  public init(zeros count: Int) {
    precondition((0...Self.capacity).contains(count), "an SMBus block carries at most 32 bytes")
    storage = .init(repeating: 0)
    self.count = count
  }

  /// Appends a byte. A 33rd byte traps.
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

/// A transfer on a bus.
public struct I2CTransfer: Sendable, BitwiseCopyable {
  /// The kind of transfer.
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// SMBus "write byte data": address, register and one byte.
    case writeByte
    /// SMBus "I2C block write": address, register and 1…32 bytes.
    case writeBlock
    /// SMBus "I2C block read": address, register, repeated start and `bytes.count` bytes, which are read into `bytes`.
    case readBlock
    /// A plain write without a register (I2C_RDWR).
    case plainWrite
    /// A plain read without a register (I2C_RDWR).
    case plainRead
  }
  /// The address of the chip.
  public var address: I2CAddress
  /// The kind of transfer.
  public var operation: Operation
  /// The register. It has no meaning for plain operations.
  public var register: UInt8
  /// The bytes to be written, or the bytes that were read.
  public var bytes: I2CBytes
  /// The instant of the tick that made the transfer, used by simulated chips and recordings.
  public var at: TickInstant
}

/// The reason why a transfer failed.
public enum I2CError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The chip did not acknowledge: EREMOTEIO on a Raspberry Pi, ENXIO or ENODEV on other controllers.
  case noAcknowledge(address: I2CAddress, register: UInt8)
  /// Another controller won the bus (EAGAIN).
  case arbitrationLost(address: I2CAddress, register: UInt8)
  /// The bus did not finish within its timeout because a chip holds SCL or SDA low (ETIMEDOUT).
  case timedOut(address: I2CAddress, register: UInt8)
  /// The kernel reported another error.
  case system(errno: Int32, address: I2CAddress, register: UInt8)
}

/// An I2C bus as a driver uses it: a context and the one C function that makes a transfer.
///
/// The type is not copyable: one loop owns the bus. Drivers are small values that take the bus as an argument of each call. A
/// function pointer is used instead of a protocol, because a tick may call only functions that the compiler can see, and generic
/// code is not among them. Timing: a transfer blocks at most for `attempts ×` the timeout of the bus below (10 ms on Linux); a
/// transfer that timed out is never repeated. It allocates nothing.
public struct I2CBus: ~Copyable {
  /// Carries out the `I2CTransfer` to which the second pointer points, and fills its `bytes` if it is a read. Returns 0 or −errno.
  public typealias Transfer = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

  let context: UnsafeMutableRawPointer
  let transfer: Transfer
  /// The greatest number of attempts, 1 or more, for a transfer that was not acknowledged or lost arbitration. Both are common on a Pi's bus.
  public var attempts: Int
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero
  /// The number of transfers since the start that succeeded only after a retry.
  public private(set) var retries: Int64 = 0

  /// Creates a bus. `context` must stay valid as long as the bus; its creator owns it.
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

  /// Writes 1…32 bytes to consecutive registers, beginning with `register`.
  ///
  /// - Throws: the error of the last attempt. A transfer is tried up to `attempts` times if another attempt may succeed.
  @_noLocks @_noAllocation
  public mutating func writeBlock(_ bytes: I2CBytes, to address: I2CAddress, register: UInt8) throws(I2CError) {
    _ = try perform(.writeBlock, address, register, bytes)
  }

  /// Reads 1…32 bytes from consecutive registers, beginning with `register`. Returns exactly `count` bytes; more than 32 trap.
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

  /// Reads 1…32 bytes without a register, for chips that SMBus cannot express. Returns exactly `count` bytes; more than 32 trap.
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
      let result = carryOut(&request)
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

extension I2CBus {
  /// Makes one attempt and records it, or in a replay returns the recorded result.
  @_noLocks @_noAllocation
  private func carryOut(_ request: UnsafeMutablePointer<I2CTransfer>) -> Int32 {
    guard let tape = TickTape.current else { return callTransfer(transfer, context, request) }
    var sent = I2CSent(head: request.pointee.head)
    tape.sends(.i2cSent, &sent, MemoryLayout<I2CSent>.size)
    var got = I2CResult(result: 0, bytes: request.pointee.bytes)
    if !tape.isReplaying {
      let paused = TickTape.pause()
      got.result = Int(callTransfer(transfer, context, request))
      TickTape.resume(paused)
      got.bytes = request.pointee.bytes
    }
    tape.gets(.i2cGot, &got, MemoryLayout<I2CResult>.size)
    request.pointee.bytes = got.bytes
    return Int32(truncatingIfNeeded: got.result)
  }
}

/// The sent part of a transfer in a recording. It is a structure, since Swift 6.2 cannot pass the address of an inline
/// array.
private struct I2CSent: BitwiseCopyable {
  var head: [40 of UInt8]
}

/// The result of a transfer in a recording, without padding between its fields.
private struct I2CResult: BitwiseCopyable {
  var result: Int
  var bytes: I2CBytes
}

extension I2CTransfer {
  /// The sent bytes of a transfer in a recording, without unused bytes and without padding.
  fileprivate var head: [40 of UInt8] {
    @_noLocks @_noAllocation get {
      var head = [40 of UInt8](repeating: 0)
      head[0] = address.value
      head[1] = operationNumber
      head[2] = register
      head[3] = UInt8(truncatingIfNeeded: bytes.count)
      var index = 0
      while index < bytes.count {
        head[4 &+ index] = bytes[index]
        index &+= 1
      }
      return head
    }
  }

  private var operationNumber: UInt8 {
    @_noLocks @_noAllocation get {
      switch operation {
      case .writeByte: 0
      case .writeBlock: 1
      case .readBlock: 2
      case .plainWrite: 3
      case .plainRead: 4
      }
    }
  }
}

/// Calls the function, which the compiler cannot follow. Every function passed as `I2CBus.Transfer` carries the annotations itself.
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

  /// Whether another attempt may succeed. A timeout is not worth a retry, which on a stuck bus only costs the tick the same time again.
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

/// Returns a byte as two lower-case hexadecimal digits.
public func hex(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count == 1 ? "0" + digits : digits
}

/// Throws one error before any tick, because the first error of a type that a module throws makes the type's witness table, which
/// allocates. This was found by RealtimeSanitizer; the compiler's proof does not detect it.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(I2CError) { throw .system(errno: 0, address: I2CAddress(0x08)!, register: 0) } catch {}
}
