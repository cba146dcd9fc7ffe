import Buses
import CBusesLinux
import Tactus

/// An I2C adapter of the kernel, /dev/i2c-N.
///
/// Register transfers are SMBus transfers by libi2c; plain transfers use I2C_RDWR. Retries are made by `I2CBus`, and the kernel's
/// retries are disabled. A transfer ends within 12 ms even on a stuck bus (20 ms on a kernel with 100 timer ticks a second). Both
/// settings belong to the adapter and apply to every program that uses it.
///
/// The object owns the descriptor and closes it when released, so it must be kept as long as its port. Several owners may open one
/// adapter, as the guard process does; the kernel serialises their transfers.
public final class LinuxI2CBus: @unchecked Sendable {
  // Safe to send: the pointer never changes, and what is behind it is used by the port's one owning loop only.
  private let state: UnsafeMutablePointer<tactus_i2c>
  /// The path of the adapter: /dev/i2c-N.
  public let path: String

  /// Opens `path` and checks that the adapter can do `operations`.
  ///
  /// A chip that does not answer is no error here, since it may be switched on later.
  public init(
    path: String, operations: [I2CTransfer.Operation] = [.writeByte, .writeBlock, .readBlock]
  ) throws(BusOpenError) {
    let descriptor = tactus_i2c_open(path)
    guard descriptor >= 0 else { throw BusOpenError.Device.i2cAdapter.openError(path: path, errno: -descriptor) }
    do throws(BusOpenError) {
      try Self.prepare(descriptor, path: path, operations: operations)
    } catch {
      tactus_close(descriptor)
      throw error
    }
    self.path = path
    state = .allocate(capacity: 1)
    state.initialize(to: tactus_i2c(descriptor: descriptor, selected: -1))
  }

  /// Opens `/dev/i2c-NUMBER`, and checks that the adapter can do `operations`.
  public convenience init(
    number: Int, operations: [I2CTransfer.Operation] = [.writeByte, .writeBlock, .readBlock]
  ) throws(BusOpenError) {
    try self.init(path: "/dev/i2c-\(number)", operations: operations)
  }

  deinit {
    tactus_close(state.pointee.descriptor)
    state.deallocate()
  }

  /// Claims the chip at `address` for this owner, until this object is released. Throws if another owner in this or another program
  /// has claimed the chip (by a lock of byte `address` of the device file, which binds only those who claim; the guard does not),
  /// and if a kernel driver holds the chip, in which case every transfer to it would fail with EBUSY. The function must be called
  /// before the port is in use.
  public func claim(_ address: I2CAddress) throws(BusOpenError) {
    let result = tactus_i2c_select(state, address.value)
    switch -result {
    case 0:
      guard !Mechanism.oneOwner.acts || tactus_i2c_claim(state.pointee.descriptor, address.value) == 0 else {
        throw .addressInUse(path: path, address: address)
      }
    case 16: throw .addressClaimedByKernel(path: path, address: address)  // EBUSY
    case let errno: throw .system(what: "\(path), address 0x\(hex(address.value))", errno: errno)
    }
  }

  /// Returns the bus for the one loop that owns it.
  public func port(attempts: Int = 3) -> I2CBus {
    I2CBus(context: state, attempts: attempts, transfer: transfer)
  }

  private static func prepare(
    _ descriptor: Int32, path: String, operations: [I2CTransfer.Operation]
  ) throws(BusOpenError) {
    let functions = tactus_i2c_functions(descriptor)
    guard functions >= 0 else { throw BusOpenError.Device.i2cAdapter.openError(path: path, errno: -functions) }
    let lacking = missing(operations, functions: functions)
    guard lacking.isEmpty else { throw .adapterLacks(path: path, operations: lacking) }
    let result = tactus_i2c_bound(descriptor)
    guard result >= 0 else { throw .system(what: "\(path), transfer time-out", errno: -result) }
  }

  /// Returns the names of those `operations` that are not among the `TACTUS_I2C_…` bits, each once.
  static func missing(_ operations: [I2CTransfer.Operation], functions: Int32) -> [String] {
    var names: [String] = []
    for operation in operations {
      let (bit, name) =
        switch operation {
        case .writeByte: (TACTUS_I2C_WRITE_BYTE, "SMBus write byte data")
        case .writeBlock: (TACTUS_I2C_WRITE_BLOCK, "SMBus I2C block write")
        case .readBlock: (TACTUS_I2C_READ_BLOCK, "SMBus I2C block read")
        case .plainWrite, .plainRead: (TACTUS_I2C_PLAIN, "plain I2C (I2C_RDWR)")
        }
      if functions & Int32(clamping: bit) == 0, !names.contains(name) { names.append(name) }
    }
    return names
  }
}

@_noLocks @_noAllocation
private func transfer(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let bus = context.assumingMemoryBound(to: tactus_i2c.self)
  let request = request.assumingMemoryBound(to: I2CTransfer.self)
  let address = request.pointee.address.value
  let register = request.pointee.register
  let count = request.pointee.bytes.count
  var bytes = request.pointee.bytes.storage
  let result: Int32
  switch request.pointee.operation {
  case .writeByte: result = tactus_i2c_write_byte(bus, address, register, bytes[0])
  case .writeBlock: result = tactus_i2c_write_block(bus, address, register, raw(&bytes), count)
  case .plainWrite: result = tactus_i2c_plain_write(bus, address, raw(&bytes), count)
  case .readBlock:
    result = tactus_i2c_read_block(bus, address, register, raw(&bytes), count)
    for index in 0..<count { request.pointee.bytes[index] = bytes[index] }
  case .plainRead:
    result = tactus_i2c_plain_read(bus, address, raw(&bytes), count)
    for index in 0..<count { request.pointee.bytes[index] = bytes[index] }
  }
  return result
}

/// Returns a raw pointer to a fixed array, which Swift 6.2 does not provide itself.
@_noLocks @_noAllocation
private func raw(_ bytes: UnsafeMutablePointer<[32 of UInt8]>) -> UnsafeMutableRawPointer {
  UnsafeMutableRawPointer(bytes)
}
