import Tactus

/// Decides which timestamps of the controlling source, in milliseconds, may count. Where the machine's rule is subtle, more is allowed:
/// the newest timestamp here is never newer than that of the machine.
struct RobotStamps {
  enum Verdict: Hashable {
    case news, perhaps, old
  }

  private var newest: (stamp: Int64, at: TickInstant)?
  /// Whether `newest` may be from a clock that the machine does not follow.
  private var isGuess = false
  /// The newest of the timestamps that were too far ahead.
  private var ahead = Int64.min
  /// The number of timestamps since the last one in place, all of them older than it.
  private var olderCount = 0
  private var olderSince = TickInstant.zero

  /// Returns whether a command with this timestamp counts.
  mutating func judge(_ stamp: Int64?, at now: TickInstant) -> Verdict {
    guard let stamp else {
      olderCount = 0
      return newest == nil ? .news : .perhaps
    }
    guard let last = newest else {
      newest = (stamp, now)
      return .news
    }
    // A clock of whole seconds cannot tell two of its datagrams apart.
    if stamp > last.stamp || stamp == last.stamp && stamp % 1_000 == 0 {
      olderCount = 0
      // A timestamp that is far ahead may be out of place, in which case it sets no clock.
      let lead = stamp - last.stamp - (now - last.at).count / 1_000_000
      guard lead <= 250 else {
        ahead = max(ahead, stamp)
        return .perhaps
      }
      newest = (stamp, now)
      // A machine that has followed the clock that was ahead takes this timestamp for an old one.
      return isGuess || stamp <= ahead ? .perhaps : .news
    }
    if olderCount == 0 { olderSince = now }
    olderCount += 1
    // Three timestamps in a row over 100 ms, whatever their values, may be those of a clock that was set back.
    guard olderCount >= 3, now - olderSince >= .milliseconds(100) else { return .old }
    newest = (stamp, now)
    isGuess = true
    olderCount = 0
    return .perhaps
  }
}
