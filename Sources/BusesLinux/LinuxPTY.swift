import Buses
import CBusesLinux
import Tactus

/// A pseudo-terminal whose far end is ours: a simulated serial device that any program can open by `path`.
///
/// Keeps the near end open too, so that the device outlives the programs that come and go on it.
public final class LinuxPTY: Sendable {
  /// What a program opens: `/dev/pts/N`.
  public let path: String
  /// The device's end; polls readable when the program has written.
  public let descriptor: Int32
  private let near: Int32
  private let context: SerialContext

  /// A new pseudo-terminal, raw.
  ///
  /// - Throws: `.system` when the kernel has none left.
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

  /// The device's end for its one owner.
  public func port() -> SerialPort { context.port() }
}
