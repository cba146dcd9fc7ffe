import Foundation

/// The kernel's accounting of this process, under the names that every Prometheus client library uses.
///
/// Read from /proc; a value that is missing there is left out. Source: proc(5).
public struct ProcessMetrics: MetricSource {
  /// Makes the source without reading any file; every scrape reads the files again.
  public init() {}

  public func write(into writer: inout MetricsWriter) {
    let fields = Self.statFields
    func field(_ number: Int) -> Double? { fields.count > number - 3 ? Double(fields[number - 3]) : nil }
    let ticksPerSecond = Double(sysconf(Int32(clamping: _SC_CLK_TCK)))
    let pageSize = Double(sysconf(Int32(clamping: _SC_PAGESIZE)))
    func gauge(_ name: String, _ help: String, _ value: Double?) {
      writer.gauge(name, help, value.map { [.init($0)] } ?? [])
    }
    if let user = field(14), let system = field(15) {
      writer.counter(
        "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
        [.init((user + system) / ticksPerSecond)])
    }
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", field(24).map { $0 * pageSize })
    gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", field(23))
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    // The descriptor of the listing itself does not count.
    gauge("process_open_fds", "Number of open file descriptors.", descriptors.map { Double($0.count - 1) })
    var limit = rlimit()
    let hasLimit = getrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &limit) == 0
    gauge("process_max_fds", "Maximum number of open file descriptors.", hasLimit ? Double(limit.rlim_cur) : nil)
    if let started = field(22), let boot = Self.bootTime {
      gauge(
        "process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        boot + started / ticksPerSecond)
    }
  }

  /// The fields of /proc/self/stat from field 3 on, which follow the program's name; the name may contain spaces and brackets.
  private static var statFields: [Substring] {
    guard let text = read("/proc/self/stat"), let bracket = text.lastIndex(of: ")") else { return [] }
    return text[text.index(after: bracket)...].split(whereSeparator: \.isWhitespace)
  }

  /// The time at which the kernel started, in seconds since 1970, or `nil` if /proc/stat cannot be read.
  private static var bootTime: Double? {
    read("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
  }

  /// Returns the text of a file of /proc, whose size is not known beforehand, or `nil` if it cannot be read.
  private static func read(_ path: String) -> String? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    return (try? file.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
  }
}
