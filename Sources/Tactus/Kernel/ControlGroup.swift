import CTactus

/// The limits that control groups set on this process. If several groups between the process's own and the root set a
/// limit, the tightest one counts.
///
/// Containers and services have such limits and do not report them otherwise. Both versions of the kernel's interface are read, at
/// the places where systemd and Docker mount them.
public struct ControlGroup: Sendable, Hashable {
  /// A quota of processor time: at most `runtime` in every `period`, for all threads of the group together.
  public struct Share: Sendable, Hashable, CustomStringConvertible {
    /// The processor time in µs that the group may use in each period; 0 forbids it.
    public var runtime: Int64
    /// The length of a period in µs, more than 0. The group may use `runtime` anew in each period.
    public var period: Int64

    public var description: String { "\(runtime) µs of every \(period) µs" }
  }

  /// The quota of `cpu.max`, which holds for threads with ordinary scheduling and not for real-time threads. `nil` if there is no limit.
  public var share: Share?
  /// The quota of `cpu.rt_runtime_us` for real-time threads; a runtime of 0 forbids them. `nil` if the kernel has no such limit for groups.
  public var realTimeShare: Share?
  /// The CPUs of `cpuset.cpus.effective`, on which the group's threads may run, or `nil` if the kernel does not report them.
  public var cpus: CPUSet?
  /// The limit of `memory.max` in bytes, which includes locked memory, or `nil` if there is no limit.
  public var memory: Int64?

  /// Creates limits that allow everything.
  public init() {}

  /// Reads the limits with a function that returns the texts of the kernel's files.
  ///
  /// - Parameter read: returns the text of the file at a path from the root, or `nil` if the file cannot be read.
  public init(read: (String) -> String?) {
    for line in (read("/proc/self/cgroup") ?? "").split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let controllers = fields[1].split(separator: ",").map(String.init)
      // Version 2 has one tree; of version 1 each controller has its own, or shares it under a joined name.
      let mounts =
        controllers.isEmpty
        ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        : Set(controllers + [String(fields[1])]).sorted().map { "/sys/fs/cgroup/\($0)" }
      for mount in mounts {
        for folder in Self.folders(String(fields[2])) { addLimits(of: mount + folder) { read($0)?.trimmed } }
      }
    }
  }

  /// Reads the limits of this process from the files under `root`, which is empty except in tests.
  init(root: String) {
    self.init { path in Self.read(root + path) }
  }

  /// Returns the folders of a group and of all its parents: for `/a/b` these are `/a/b`, `/a` and the root. Inside a container only
  /// the root is visible.
  private static func folders(_ path: String) -> [String] {
    let names = path.split(separator: "/")
    return (0...names.count).reversed().map { count in names.prefix(count).map { "/" + $0 }.joined() }
  }

  private mutating func addLimits(of folder: String, _ read: (String) -> String?) {
    if let words = read("\(folder)/cpu.max")?.split(separator: " "), words.count == 2 {
      tighten(&share, Int64(words[0]), Int64(words[1]))
    }
    if let quota = read("\(folder)/cpu.cfs_quota_us").flatMap({ Int64($0) }), quota >= 0 {
      tighten(&share, quota, read("\(folder)/cpu.cfs_period_us").flatMap { Int64($0) })
    }
    if let runtime = read("\(folder)/cpu.rt_runtime_us").flatMap({ Int64($0) }), runtime >= 0 {
      tighten(&realTimeShare, runtime, read("\(folder)/cpu.rt_period_us").flatMap { Int64($0) })
    }
    for name in ["cpuset.cpus.effective", "cpuset.effective_cpus"] where cpus == nil {
      cpus = read("\(folder)/\(name)").flatMap { CPUSet($0) }
    }
    for name in ["memory.max", "memory.limit_in_bytes"] {
      // Version 1 of control groups has no word for "unlimited": it shows a number near 2⁶³.
      guard let bytes = read("\(folder)/\(name)").flatMap({ Int64($0) }), bytes < 1 << 60 else { continue }
      memory = min(memory ?? bytes, bytes)
    }
  }

  private func tighten(_ share: inout Share?, _ runtime: Int64?, _ period: Int64?) {
    guard let runtime, let period, period > 0 else { return }
    if let present = share, Double(present.runtime) / Double(present.period) <= Double(runtime) / Double(period) {
      return
    }
    share = Share(runtime: runtime, period: period)
  }

  private static func read(_ path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: 4096)
    let length = tactus_read_file(path, &bytes, Int32(bytes.count))
    guard length >= 0 else { return nil }
    return String(decoding: bytes.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension String {
  fileprivate var trimmed: String { last == "\n" ? String(dropLast()) : self }
}
