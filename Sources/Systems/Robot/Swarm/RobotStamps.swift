import Tactus

/// Decides which timestamps of the controlling source, in milliseconds, may count. Where the machine's rule is subtle, more is allowed:
/// the newest timestamp here is never newer than that of the machine.
struct RobotStamps {
  enum Verdict: Hashable {
    case news, perhaps, old
  }

  private var newest: (stamp: Int64, at: TickInstant)?
  /// Whether `newest` is from a clock that the machine may not follow.
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
      // One that is far ahead may be out of place, and sets no clock then.
      let lead = stamp - last.stamp - (now - last.at).count / 1_000_000
      guard lead <= 250 else {
        ahead = max(ahead, stamp)
        return .perhaps
      }
      newest = (stamp, now)
      // A machine that has followed the clock that was ahead takes this one for old.
      return isGuess || stamp <= ahead ? .perhaps : .news
    }
    if olderCount == 0 { olderSince = now }
    olderCount += 1
    // A clock that was set back: three in a row over 100 ms, whatever they look like.
    guard olderCount >= 3, now - olderSince >= .milliseconds(100) else { return .old }
    newest = (stamp, now)
    isGuess = true
    olderCount = 0
    return .perhaps
  }
}
