import Confinement
import Glibc
import TactusGuard

/// The privileges that the guard keeps: it can write to its devices, reopen them, and log on its open streams.
enum GuardConfinement {
  /// Returns the privileges for these writes. The guard keeps the user under which it was started, because it reopens a
  /// device that has failed, and the devices of a daemon run by root may belong to root. No other privilege of root
  /// remains.
  static func needs(of writes: [SafeStateWrite], watchdog: HardwareWatchdog? = nil) -> Confinement {
    // The guard needs a thread for a radio and a connection to the system's bus. It has no memory limit: it takes no
    // input from strangers, and a lack of memory must not end it.
    var needs = Confinement([.root, .lockedMemory], descriptors: 256, memoryMebibytes: 0)
    needs.devices = Array(Set(writes.flatMap(folders) + (watchdog.map { [folder(of: $0.path)] } ?? []))).sorted()
    return needs
  }

  /// Returns the folders that contain the device. Whole folders are needed, because a USB serial line that is plugged in again is another file.
  private static func folders(of write: SafeStateWrite) -> [String] {
    switch write {
    // A radio is written through the system's bus; only the guards of other programs run programs, and those guards
    // are not confined.
    case .custom, .program: []
    case .i2cByte(let path, _, _, _), .i2cBlock(let path, _, _, _), .i2cPlain(let path, _, _), .serial(let path, _, _),
      .gpio(let path, _, _):
      [folder(of: path)] + (resolved(path).map { [folder(of: $0)] } ?? [])
    // The rule names the output's folder and that of its chip.
    case .pwm(let path): [path, folder(of: resolved(path) ?? path)]
    }
  }

  private static func folder(of path: String) -> String {
    // Links such as /dev/serial/by-id lead to /dev, where all devices are.
    if path.hasPrefix("/dev/"), !path.hasPrefix("/dev/pts/") { return "/dev" }
    let end = path.lastIndex(of: "/") ?? path.startIndex
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  private static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
