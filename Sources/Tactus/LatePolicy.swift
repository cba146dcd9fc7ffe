/// What happens to periodic releases that have come due before the loop could run them.
///
/// Whatever the policy, release instants stay `start + phase + k × period`: no policy shifts the phase.
public enum LatePolicy: Sendable, Hashable, BitwiseCopyable {
  /// Run once for the newest release that is due, give up the older ones. For control: only the present counts.
  case skip
  /// Run up to `limit` missed releases late and in order before the newest, give up the older ones. For work that is
  /// counted, such as integration steps. `limit` is 0 or more.
  case catchUp(limit: Int64)
  /// Run the oldest release that is due, late, then give up all that have come due by its end: the loop rests until its
  /// next release in phase, so that a loop that is too slow does not take the whole lane.
  case runLate
}

/// How often a loop is released.
public struct Rate: Sendable, Hashable, BitwiseCopyable {
  public let period: Nanoseconds

  /// Every `period`, 1 µs…10⁹ s.
  public static func period(_ period: Nanoseconds) -> Rate {
    precondition(
      (.microseconds(1)...Nanoseconds.seconds(1_000_000_000)).contains(period), "a period is 1 µs…10⁹ s")
    return Rate(period: period)
  }

  /// So many releases a second, 10⁻⁶…10⁶; the period is rounded to the nearest nanosecond.
  public static func hertz(_ frequency: Double) -> Rate {
    precondition((1e-6...1e6).contains(frequency), "a rate is 10⁻⁶…10⁶ Hz")
    return Rate(period: Nanoseconds(Int64((1e9 / frequency).rounded())))
  }

  public var hertz: Double { 1e9 / Double(period.count) }
}
