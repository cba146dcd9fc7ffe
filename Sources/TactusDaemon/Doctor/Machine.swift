import CDaemon
import CTactus
import Confinement
import Glibc

/// What `doctor` looks at: the files the kernel shows and a few limits. A value, so that tests can make up a machine.
public struct Machine: Sendable {
  /// The text of a file, without the newline at its end; nil when it cannot be read.
  public var read: @Sendable (String) -> String?
  /// The names in a folder, sorted; empty when there is none.
  public var list: @Sendable (String) -> [String]
  /// I2C_FUNC_* bits of an adapter; nil when it cannot be opened.
  var i2cFunctions: @Sendable (String) -> UInt64?
  /// Whether a chip acknowledges its address on an adapter; nil when that cannot be asked.
  public var i2cAnswers: @Sendable (_ path: String, _ address: UInt8) -> Bool? = { _, _ in nil }
  /// The GPIO chips; nil when there are some and none can be opened.
  var gpioChips: @Sendable () -> [GPIOChipReport]? = { [] }
  /// The processes that have one of the paths open, by number and name, as far as that may be seen.
  var holders: @Sendable ([String]) -> [String] = { _ in [] }
  /// The machine we run on, where programs can be asked; otherwise only files can be read.
  public var isThisOne = false
  /// The version of the kernel's Landlock, 0 if it has none, or `nil` if that cannot be asked.
  var landlockVersion: Int?
  var kernelRelease: String
  var kernelVersion: String
  var isRoot: Bool
  /// CAP_SYS_NICE and CAP_IPC_LOCK.
  var maySetPriority: Bool
  var mayLockMemory: Bool
  /// RLIMIT_RTPRIO and RLIMIT_MEMLOCK in bytes, or `nil` if unlimited.
  var priorityLimit: Int?
  var memoryLimit: Int?
  /// Whether the wall clock is synchronised, or `nil` if the kernel does not say.
  var timeIsSynchronized: Bool?
  /// The process's groups by number.
  var groups: Set<Int>

  /// The machine we run on.
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
      holders: currentHolders, isThisOne: true, landlockVersion: Confinement.landlockVersion,
      kernelRelease: text(release), kernelVersion: text(version),
      isRoot: geteuid() == 0,
      maySetPriority: daemon_has_capability(23) == 1, mayLockMemory: daemon_has_capability(14) == 1,
      priorityLimit: priority < 0 ? nil : priority, memoryLimit: memory < 0 ? nil : memory,
      timeIsSynchronized: synchronized < 0 ? nil : synchronized == 1,
      groups: processGroups())
  }

  /// The machine whose files lie below a folder. What only a running kernel knows is taken as well as the files say it, as for root,
  /// who may do everything.
  static func at(root: String) -> Machine {
    @Sendable func read(_ path: String) -> String? {
      YAMLFile.contents(of: root + path).map { $0.last == "\n" ? String($0.dropLast()) : $0 }
    }
    return Machine(
      read: read, list: { names(in: root + $0) }, i2cFunctions: { _ in UInt64.max },
      kernelRelease: read("/proc/sys/kernel/osrelease") ?? "unknown",
      kernelVersion: read("/proc/sys/kernel/version") ?? "unknown", isRoot: true, maySetPriority: true,
      mayLockMemory: true, priorityLimit: nil, memoryLimit: nil, timeIsSynchronized: nil, groups: [0])
  }

  private static func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
