import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A serial line of the kernel (a UART, a USB adapter or a pseudo-terminal) in raw mode with 8 data bits, no parity, 1 stop bit and
/// no flow control. It never blocks.
///
/// The object owns the descriptor and closes it when released, so it must be kept as long as its port.
public final class LinuxSerialPort: Sendable {
  /// The path of the line, as it was given.
  public let path: String
  /// The descriptor, which polls readable when bytes have arrived.
  public let descriptor: Int32
  private let baudRate: Int
  private let exclusive: Bool
  private let context: SerialContext
  /// The writing end of a pipe that replaces a device that is gone, or −1 while the device is present.
  private let standIn = Mutex<Int32>(-1)

  /// Opens `path` at `baudRate` bit/s and discards bytes that wait on the line.
  ///
  /// An `exclusive` line refuses later openers (root excepted) and is refused when another program has locked it. The
  /// guard process opens the line first and not exclusively, so that the daemon can claim it.
  public init(path: String, baudRate: Int, exclusive: Bool = true) throws(BusOpenError) {
    let supported = Self.baudRates
    guard supported.contains(baudRate) else {
      throw .unsupportedBaudRate(path: path, asked: baudRate, supported: supported)
    }
    guard tactus_serial_is_console(path) == 0 else { throw .lineBusy(path: path, holder: .kernelConsole) }
    descriptor = try Self.open(path: path, baudRate: baudRate, exclusive: exclusive)
    self.path = path
    self.baudRate = baudRate
    self.exclusive = exclusive
    context = SerialContext(descriptor)
  }

  /// Opens and closes a line, ignoring errors, so that the opener of `LinuxDevices` knows the line.
  package static func declare(_ path: String) {
    let descriptor = tactus_serial_open(path)
    if descriptor >= 0 { tactus_close(descriptor) }
  }

  deinit {
    if exclusive { tactus_serial_release(descriptor) }
    tactus_close(descriptor)
    standIn.withLock { if $0 >= 0 { tactus_close($0) } }
  }

  /// Detaches a device that is gone from the descriptor, which would otherwise poll readable without end. Until `reopen` no bytes
  /// arrive, and writes are refused. The loop that owns the port may run meanwhile.
  public func detach() throws(BusOpenError) {
    let end = tactus_serial_detach(descriptor)
    guard end >= 0 else { throw .system(what: "\(path): stand-in", errno: -end) }
    keep(standIn: end)
  }

  /// Opens `path` again behind the same descriptor, for a device that was plugged in again. The loop that owns the port may run meanwhile.
  public func reopen() throws(BusOpenError) {
    tactus_serial_replace(descriptor, try Self.open(path: path, baudRate: baudRate, exclusive: exclusive))
    keep(standIn: -1)
  }

  private func keep(standIn end: Int32) {
    standIn.withLock { old in
      if old >= 0 { tactus_close(old) }
      old = end
    }
  }

  /// The baud rates that can be requested, in bit/s, ascending. The driver may refuse one.
  public static var baudRates: [Int] {
    var rates: [Int] = []
    while case let rate = tactus_serial_rate(Int32(clamping: rates.count)), rate > 0 { rates.append(Int(rate)) }
    return rates
  }

  /// Returns the line for the one loop that owns it.
  public func port() -> SerialPort { context.port() }

  private static func open(path: String, baudRate: Int, exclusive: Bool) throws(BusOpenError) -> Int32 {
    let descriptor = tactus_serial_open(path)
    guard descriptor >= 0 else { throw BusOpenError.Device.serialLine.openError(path: path, errno: -descriptor) }
    do throws(BusOpenError) {
      try prepare(descriptor, path: path, baudRate: baudRate, exclusive: exclusive)
    } catch {
      tactus_close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func prepare(
    _ descriptor: Int32, path: String, baudRate: Int, exclusive: Bool
  ) throws(BusOpenError) {
    // The line is claimed before its settings are changed, so that those of another owner's line stay as they are.
    if exclusive {
      let result = tactus_serial_claim(descriptor)
      guard result >= 0 else { throw BusOpenError.Device.serialLine.openError(path: path, errno: -result) }
    }
    let result = tactus_serial_configure(descriptor, Int32(clamping: baudRate))
    switch -result {
    case 0: return
    case 22:  // EINVAL
      throw .system(what: "\(path): the driver does not take \(baudRate) bit/s, 8N1", errno: -result)
    case let errno: throw BusOpenError.Device.serialLine.openError(path: path, errno: errno)
    }
  }
}

/// The context of a port's C functions: a descriptor at a fixed place. The value is valid as long as its owner exists.
final class SerialContext: @unchecked Sendable {
  // Safe to send: written once, here.
  private let descriptor: UnsafeMutablePointer<Int32>

  init(_ descriptor: Int32) {
    self.descriptor = .allocate(capacity: 1)
    self.descriptor.initialize(to: descriptor)
  }

  deinit { descriptor.deallocate() }

  func port() -> SerialPort { SerialPort(context: descriptor, write: write, read: read) }
}

@_noLocks @_noAllocation
private func write(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  tactus_serial_write(context.load(as: Int32.self), bytes, count)
}

@_noLocks @_noAllocation
private func read(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  tactus_serial_read(context.load(as: Int32.self), bytes, count)
}
