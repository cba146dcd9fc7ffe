import CTactus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The time of day, for log lines and files people read. Nothing is decided by it: it can jump. What goes by the time of day goes by
/// `WatchedWallClock`.
public enum WallClock {
  /// Microseconds since 1970, UTC.
  public static var microseconds: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
  }

  /// Whether the kernel says that something such as NTP keeps this clock right; `false`, too, if it does not say. One system call.
  public static var isSynchronised: Bool { tactus_clock_is_synchronised() > 0 }

  /// By how much this clock is ahead of the runtime's: what is taken off a stamp that the kernel has made by this clock, such
  /// as that of a datagram. A clock that is set between the stamp and this call falsifies the result by as much.
  public static var leadOverMonotonic: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(tactus_realtime_lead()) }
  }

  /// UTC in RFC 3339 with microseconds: `2026-02-03T04:05:06.123456Z`. Allocates; not for ticks.
  public static var text: String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var parts = tm()
    var seconds = now.tv_sec
    gmtime_r(&seconds, &parts)
    func pad(_ number: some BinaryInteger, _ digits: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    let day = "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1, 2))-\(pad(parts.tm_mday, 2))"
    let time = "\(pad(parts.tm_hour, 2)):\(pad(parts.tm_min, 2)):\(pad(parts.tm_sec, 2))"
    return "\(day)T\(time).\(pad(now.tv_nsec / 1000, 6))Z"
  }
}
