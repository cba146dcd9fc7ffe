import Buses
import CBusesLinux
import Tactus

/// A pseudo-terminal that serves as a simulated serial device, which any program can open by `path`.
///
/// The object also keeps the program's end open, so that the device outlives the programs that open and close it.
public final class LinuxPTY: Sendable {
  /// The path that a program opens, `/dev/pts/N`.
  public let path: String
  /// The descriptor of the device's end, which polls readable when the program has written.
  public let descriptor: Int32
  private let near: Int32
  private let context: SerialContext

  /// Creates a pseudo-terminal in raw mode.
  ///
  /// - Throws: `.system` if the kernel has no pseudo-terminal left.
  public init() throws(BusOpenError) {
    var master: Int32 = -1
    var slave: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    let result = tactus_pty_open(&master, &slave, &name, name.count)
    guard result >= 0 else { throw .system(what: "pseudo-terminal", errno: -result) }
    path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    descriptor = master
    near = slave
    context = SerialContext(master)
  }

  deinit {
    tactus_close(near)
    tactus_close(descriptor)
  }

  /// Returns the device's end for its one owner.
  public func port() -> SerialPort { context.port() }
}
