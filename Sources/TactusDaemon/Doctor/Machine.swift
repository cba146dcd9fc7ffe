import Buses
import BusesLinux
import CDaemon
import CTactus
import Confinement
@_spi(FromOutside) import Conversions
import Glibc

/// The host as `doctor` sees it: the files of the kernel and a few limits. This is a value, so that tests can supply another host.
public struct Machine: Sendable {
  /// Returns the text of a file without the newline at its end, or `nil` if the file cannot be read.
  public var read: @Sendable (String) -> String?
  /// Returns the names in a folder, sorted; empty if the folder does not exist.
  public var list: @Sendable (String) -> [String]
  /// Returns the I2C_FUNC_* bits of an adapter, or `nil` if it cannot be opened.
  var i2cFunctions: @Sendable (String) -> UInt64?
  /// Returns whether a chip acknowledges its address on an adapter, or `nil` if the adapter cannot be used for that.
  public var i2cAnswers: @Sendable (_ path: String, _ address: UInt8) -> Bool? = { _, _ in nil }
  /// Returns the GPIO chips, or `nil` if there are some and none can be opened.
  var gpioChips: @Sendable () -> [GPIOChipReport]? = { [] }
  /// Returns the processes that have one of the paths open, by number and name, as far as this process may see them.
  var holders: @Sendable ([String]) -> [String] = { _ in [] }
  /// Returns the target of a symbolic link, or `nil` if the path is none.
  var link: @Sendable (String) -> String? = { _ in nil }
  /// Whether the machine is the running host, whose programs can be queried. Only the files of another host can be read.
  public var isThisOne = false
  /// The version of the kernel's Landlock, 0 if the kernel has none, or `nil` if it is unknown.
  var landlockVersion: Int?
  var kernelRelease: String
  var kernelVersion: String
  var isRoot: Bool
  /// Whether the process has CAP_SYS_NICE, which real-time priorities need; `mayLockMemory` is the same for
  /// CAP_IPC_LOCK.
  var maySetPriority: Bool
  var mayLockMemory: Bool
  /// The greatest real-time priority (RLIMIT_RTPRIO), or `nil` if it is unlimited; `memoryLimit` is RLIMIT_MEMLOCK in
  /// bytes.
  var priorityLimit: Int?
  var memoryLimit: Int?
  /// Whether the wall clock is synchronised, or `nil` if the kernel does not report it.
  var timeIsSynchronized: Bool?
  /// The numbers of the groups to which the process belongs.
  var groups: Set<Int>

  /// Returns the running host.
  static func current() -> Machine {
    var release = [CChar](repeating: 0, count: 128)
    var version = [CChar](repeating: 0, count: 128)
    daemon_kernel(&release, release.count, &version, version.count)
    let synchronized = tactus_clock_is_synchronised()
    let priority = Int(tactus_limit_rtprio())
    let memory = Int(tactus_limit_memlock())
    return Machine(
      read: { path in YAMLFile.contents(of: path).map { $0.last == "\n" ? String($0.dropLast()) : $0 } },
      list: names(in:),
      i2cFunctions: { path in
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return daemon_i2c_functions(descriptor)
      },
      i2cAnswers: I2CProbe.answers, gpioChips: GPIOChipReport.current,
      holders: currentHolders, link: target(of:), isThisOne: true, landlockVersion: Confinement.landlockVersion,
      kernelRelease: text(release), kernelVersion: text(version),
      isRoot: geteuid() == 0,
      maySetPriority: daemon_has_capability(23) == 1, mayLockMemory: daemon_has_capability(14) == 1,
      priorityLimit: priority < 0 ? nil : priority, memoryLimit: memory < 0 ? nil : memory,
      timeIsSynchronized: synchronized < 0 ? nil : synchronized == 1,
      groups: processGroups())
  }

  /// Returns the host whose files are below a folder. Values that only a running kernel knows are read from the files
  /// as far as possible; the limits are those of root, who has every permission.
  static func at(root: String) -> Machine {
    @Sendable func read(_ path: String) -> String? {
      YAMLFile.contents(of: root + path).map { $0.last == "\n" ? String($0.dropLast()) : $0 }
    }
    return Machine(
      read: read, list: { names(in: root + $0) }, i2cFunctions: { _ in UInt64.max }, link: { target(of: root + $0) },
      kernelRelease: read("/proc/sys/kernel/osrelease") ?? "unknown",
      kernelVersion: read("/proc/sys/kernel/version") ?? "unknown", isRoot: true, maySetPriority: true,
      mayLockMemory: true, priorityLimit: nil, memoryLimit: nil, timeIsSynchronized: nil, groups: [0])
  }

  private static func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func target(of link: String) -> String? {
    var bytes = [CChar](repeating: 0, count: 4096)
    return readlink(link, &bytes, bytes.count - 1) > 0 ? text(bytes) : nil
  }

  static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func processGroups() -> Set<Int> {
    var groups = [gid_t](repeating: 0, count: 256)
    let count = getgroups(Int32(clamping: groups.count), &groups)
    return Set(groups.prefix(Int(max(0, count))).map(Int.init) + [Int(getegid())])
  }
}

/// Finds out whether an I2C chip is present, without changing its state.
enum I2CProbe {
  /// Returns whether a chip acknowledges a read of one byte without a register, which is the access with the least
  /// effect. Returns `nil` if the adapter cannot be opened or does not support this access.
  @Sendable static func answers(path: String, address: UInt8) -> Bool? {
    guard let address = I2CAddress(address),
      let bus = try? LinuxI2CBus(path: path, operations: [.plainRead])
    else { return nil }
    var port = bus.port()
    do throws(I2CError) {
      _ = try port.plainRead(1, from: address)
      return true
    } catch {
      if case .noAcknowledge = error { return false }
      return nil
    }
  }
}
