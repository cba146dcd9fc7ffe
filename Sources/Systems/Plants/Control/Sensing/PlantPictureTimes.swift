@_spi(FromOutside) import Conversions
import Tactus

/// The schedule of the daily picture. A picture is due once a day, at the first opportunity from a certain minute on.
///
/// A picture that cannot be taken is tried again for the rest of the day: after ten seconds, then after twice as long each time, up to ten minutes. A wall clock that jumps causes at most one picture an
/// hour, whatever days it shows.
public struct PlantPictureTimes: Sendable {
  /// The pauses after a picture that could not be taken: the first and the longest.
  public static let retryPeriods = Nanoseconds.seconds(10)...Nanoseconds.seconds(600)
  /// The shortest pause after a picture that was taken.
  public static let shortestGap = Nanoseconds.seconds(3_600)

  /// 31 December 9999, the last day that documents can name.
  private static let lastDayOfAll: Int64 = 2_932_896

  /// The minute of the local day, 0…1,439, from which on the picture is due.
  public let minute: Int
  private var next = TickInstant.zero
  private var lastDay: Int?
  private var retryPeriod = Self.retryPeriods.lowerBound

  /// Creates the times of a minute of the day, 0…1,439.
  public init(minute: Int) { self.minute = minute }

  /// Returns the day whose picture is due, or `nil` if none is. Until `took` is called, the day is due again after a time.
  ///
  /// - Parameters:
  ///   - localSeconds: the local wall clock, in seconds since 1970 of that clock; any value.
  ///   - isThere: returns whether a day has a picture already.
  public mutating func due(
    localSeconds: Int64, at now: TickInstant, unless isThere: (_ day: Int) -> Bool
  ) -> Int? {
    let secondOfDay = localSeconds - localSeconds / 86_400 * 86_400
    let day = localSeconds / 86_400
    guard localSeconds >= 0, day <= Self.lastDayOfAll, secondOfDay >= Int64(minute) * 60, now >= next,
      let day = Int(exactly: day), day != lastDay
    else { return nil }
    if isThere(day) {
      lastDay = day
      return nil
    }
    next = now + retryPeriod
    retryPeriod = min(retryPeriod + retryPeriod, Self.retryPeriods.upperBound)
    return day
  }

  /// Notes that the picture of a day has been taken.
  public mutating func took(_ day: Int, at now: TickInstant) {
    lastDay = day
    retryPeriod = Self.retryPeriods.lowerBound
    next = now + Self.shortestGap
  }
}
