import Tactus

/// The controller's timestamps, ms: which of them may be news. Where the machine's rule is subtle it allows more: what it takes for the newest
/// is never newer than what the machine does.
struct RobotStamps {
  enum Verdict: Hashable {
    case news, perhaps, old
  }

  private var newest: (stamp: Int64, at: TickInstant)?
  /// Whether `newest` is of a clock that the machine may not follow.
  private var isGuess = false
  /// The newest of those that were too far ahead.
  private var ahead = Int64.min
  /// Those since the last one in place, all of them older.
  private var olderCount = 0
  private var olderSince = TickInstant.zero

  /// Whether a command with this stamp counts.
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
