import CTactus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The time of day, for log lines and files that people read. It is not for decisions, since it can jump: those use `WatchedWallClock`.
public enum WallClock {
  /// The microseconds since 1970, UTC.
  public static var microseconds: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
  }

  /// Whether the kernel reports that a service such as NTP synchronises this clock. The result is `false` also if the kernel does
  /// not report. The call takes one system call.
  public static var isSynchronised: Bool { tactus_clock_is_synchronised() > 0 }

  /// The lead of this clock over the runtime's clock, to be subtracted from a stamp that the kernel has made with this clock, such
  /// as that of a datagram. If the clock is set between the stamp and this call, the result is wrong by the same amount.
  public static var leadOverMonotonic: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(tactus_realtime_lead()) }
  }

  /// The present time in UTC as RFC 3339 with microseconds: `2026-02-03T04:05:06.123456Z`. This allocates and is not for ticks.
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
