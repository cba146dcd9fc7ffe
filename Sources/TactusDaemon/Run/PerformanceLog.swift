@_spi(FromOutside) import Conversions
import Glibc
import Logging
import Tactus

/// The resource use of the loops and the process, which is logged once a minute (`performance.enable_monitoring`).
///
/// Used by the main thread.
struct PerformanceLog {
  static let period = Nanoseconds.seconds(60)

  private var since: TickInstant
  private var counters: [String: LoopCounters] = [:]
  private var processorTime = Self.processorTime

  init(at now: TickInstant) { since = now }

  /// Returns the metadata of the next log line, or `nil` if the minute is not over.
  ///
  /// - Parameter loops: returns the statistics of the loops; called only if the line is due.
  mutating func beat(_ loops: () -> [LoopStatistics], at now: TickInstant) -> Logger.Metadata? {
    guard now - since >= Self.period else { return nil }
    let used = Self.processorTime
    let percent = (used - processorTime) / (Double((now - since).count) / 1e9) * 100
    (since, processorTime) = (now, used)
    var metadata: Logger.Metadata = ["cpu_percent": .stringConvertible((percent * 10).rounded() / 10)]
    if let bytes = Self.residentBytes { metadata["resident_mb"] = .stringConvertible(bytes / 1_000_000) }
    var lines: Logger.Metadata = [:]
    for loop in loops() {
      lines[loop.name] = .dictionary(members(of: loop))
      counters[loop.name] = loop.counters
    }
    metadata["loops"] = .dictionary(lines)
    return metadata
  }

  /// Returns the members for a loop. Counts cover the time since the last line; the longest latency and execution cover
  /// the time since the start.
  private func members(of loop: LoopStatistics) -> Logger.Metadata {
    let (now, before) = (loop.counters, counters[loop.name])
    func count(_ path: KeyPath<LoopCounters, Int64>) -> Logger.MetadataValue {
      .stringConvertible(now[keyPath: path] - (before?[keyPath: path] ?? 0))
    }
    func microseconds(_ time: Nanoseconds?) -> Logger.MetadataValue { .stringConvertible((time?.count ?? 0) / 1000) }
    return [
      "ran": count(\.ran), "skipped": count(\.skipped), "deadline_misses": count(\.deadlineMisses),
      "longest_latency_us": microseconds(loop.latency.maximum),
      "longest_execution_us": microseconds(loop.execution.maximum),
    ]
  }

  /// The user and system time of the process since its start, in seconds.
  private static var processorTime: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(truncatingIfNeeded: RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// The resident memory of the process in bytes, or `nil` if it cannot be read. Source: proc(5), the second number of
  /// statm, in pages.
  private static var residentBytes: Int? {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = read(file, &bytes, bytes.count)
    let numbers = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
    return numbers.count > 1 ? Int(numbers[1]).map { $0 * sysconf(Int32(truncatingIfNeeded: _SC_PAGESIZE)) } : nil
  }
}
