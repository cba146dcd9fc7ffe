import Buses
import CBusesLinux
import Tactus

/// One chip select of an SPI bus of the kernel, /dev/spidevB.C.
///
/// The object owns the descriptor and closes it when released, so it must be kept as long as its port. A transfer blocks for the
/// time of its bits at the clock's rate (24 µs for three bytes at 1 MHz) and the kernel's own work.
public final class LinuxSPIPort: Sendable {
  /// The path of the device, /dev/spidevB.C.
  public let path: String
  private let context: UnsafeContext

  /// A pointer to the descriptor, where the transfer function finds it.
  private struct UnsafeContext: @unchecked Sendable {  // safe: written before the port exists, read by its one loop
    let descriptor: UnsafeMutablePointer<Int32>
  }

  /// Opens `path` in `mode`, 0…3, with a clock of `hertz` or the nearest lower rate of the controller.
  public init(path: String, mode: UInt8 = 0, hertz: UInt32 = 1_000_000) throws(BusOpenError) {
    precondition(mode <= 3 && hertz > 0, "SPI has modes 0…3 and a clock")
    let descriptor = tactus_spi_open(path, mode, hertz)
    guard descriptor >= 0 else { throw BusOpenError.Device.spiDevice.openError(path: path, errno: -descriptor) }
    self.path = path
    let place = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    place.initialize(to: descriptor)
    context = UnsafeContext(descriptor: place)
  }

  deinit {
    tactus_close(context.descriptor.pointee)
    context.descriptor.deallocate()
  }

  /// Returns the port for the one loop that owns it.
  public func port() -> SPIPort { SPIPort(context: context.descriptor, transfer: transfer) }
}

@_noLocks @_noAllocation
private func transfer(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let descriptor = context.assumingMemoryBound(to: Int32.self).pointee
  let request = request.assumingMemoryBound(to: SPITransfer.self)
  let count = request.pointee.bytes.count
  var bytes = request.pointee.bytes.storage
  let result = tactus_spi_exchange(descriptor, raw(&bytes), count)
  guard result >= 0 else { return result }
  for index in 0..<count { request.pointee.bytes[index] = bytes[index] }
  return 0
}

/// Returns a raw pointer to a fixed array, which Swift 6.2 does not provide itself.
@_noLocks @_noAllocation
private func raw(_ bytes: UnsafeMutablePointer<[16 of UInt8]>) -> UnsafeMutableRawPointer {
  UnsafeMutableRawPointer(bytes)
}
