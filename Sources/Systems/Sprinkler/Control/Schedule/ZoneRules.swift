@_spi(FromOutside) import Conversions
import WallTime

/// The offsets from UTC of one IANA time zone. Converts between local time and UTC without a library, for the years read.
///
/// Before the first year and after the last one the nearest known offset applies.
public struct ZoneRules: Sendable, Hashable {
  /// An instant from which a new offset applies.
  public struct Transition: Sendable, Hashable {
    public var at: WallInstant
    /// The offset from UTC, s; east positive.
    public var offsetSeconds: Int

    public init(at: WallInstant, offsetSeconds: Int) {
      self.at = at
      self.offsetSeconds = offsetSeconds
    }
  }

  /// The IANA name, such as `Europe/Berlin`.
  public let identifier: String
  /// The offset from UTC before the first transition, s; east positive.
  public let firstOffsetSeconds: Int
  /// The transitions in ascending order, each to an offset that differs from the one before.
  public let transitions: [Transition]

  /// Creates the rules of a time zone from its transitions.
  ///
  /// - Parameter transitions: in ascending order; any other order is a programming error.
  public init(identifier: String, firstOffsetSeconds: Int, transitions: [Transition]) {
    precondition(zip(transitions, transitions.dropFirst()).allSatisfy { $0.at < $1.at }, "transitions are sorted")
    self.identifier = identifier
    self.firstOffsetSeconds = firstOffsetSeconds
    self.transitions = transitions
  }

  public static var utc: Self { Self(identifier: "UTC", firstOffsetSeconds: 0, transitions: []) }

  /// Returns the offset from UTC at an instant, s; east positive.
  public func offsetSeconds(at instant: WallInstant) -> Int {
    var low = 0
    var high = transitions.count
    while low < high {
      let middle = (low + high) / 2
      if transitions[middle].at <= instant { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? firstOffsetSeconds : transitions[low - 1].offsetSeconds
  }

  /// Returns the local date and the second of the day, 0…86,399.
  public func local(_ instant: WallInstant) -> (date: LocalDate, second: Int) {
    let seconds = instant.secondsSince1970 + Int64(offsetSeconds(at: instant))
    let day = seconds.flooredQuotient(86_400)
    return (LocalDate(daysSince1970: Int(day)), Int(seconds - day * 86_400))
  }

  /// Returns the instant at which a wall clock first shows a local time; in the gap of spring, the first instant after the gap.
  ///
  /// In the repeated hour of autumn that is the first pass. A date that the zone skipped altogether is treated as a gap.
  /// - Parameter second: the second of the day, 0…86,399.
  public func instant(of date: LocalDate, second: Int) -> WallInstant {
    let local = Int64(date.daysSince1970) * 86_400 + Int64(second)
    // Every offset in force within a day and a half of it is a candidate; the earliest instant that shows the time wins.
    let from = WallInstant(secondsSince1970: local - 129_600)
    let to = WallInstant(secondsSince1970: local + 129_600)
    var start = from
    var offset = offsetSeconds(at: from)
    var place = transitions.partitioningIndex { from < $0.at }
    while true {
      let end = place < transitions.count && transitions[place].at <= to ? transitions[place].at : to
      let candidate = WallInstant(secondsSince1970: local - Int64(offset))
      if candidate < start { return start }
      if candidate < end || end == to { return candidate }
      start = end
      offset = transitions[place].offsetSeconds
      place += 1
    }
  }
}
