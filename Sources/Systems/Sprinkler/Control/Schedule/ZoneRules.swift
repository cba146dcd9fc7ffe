import WallTime

/// The offsets from UTC of one IANA time zone: local time ⇄ UTC without a library, for the years it was made for.
///
/// Before the first year and after the last one the nearest offset holds.
public struct ZoneRules: Sendable, Hashable {
  /// From that instant on, that offset.
  public struct Transition: Sendable, Hashable {
    public var at: WallInstant
    /// East positive, s.
    public var offsetSeconds: Int

    public init(at: WallInstant, offsetSeconds: Int) {
      self.at = at
      self.offsetSeconds = offsetSeconds
    }
  }

  /// `Europe/Berlin`.
  public let identifier: String
  /// Before the first transition.
  public let firstOffsetSeconds: Int
  /// By instant, each to another offset than the one before.
  public let transitions: [Transition]

  /// - Parameter transitions: by instant; anything else is our bug.
  public init(identifier: String, firstOffsetSeconds: Int, transitions: [Transition]) {
    precondition(zip(transitions, transitions.dropFirst()).allSatisfy { $0.at < $1.at }, "transitions are sorted")
    self.identifier = identifier
    self.firstOffsetSeconds = firstOffsetSeconds
    self.transitions = transitions
  }

  public static var utc: Self { Self(identifier: "UTC", firstOffsetSeconds: 0, transitions: []) }

  /// East positive, s.
  public func offsetSeconds(at instant: WallInstant) -> Int {
    var low = 0
    var high = transitions.count
    while low < high {
      let middle = (low + high) / 2
      if transitions[middle].at <= instant { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? firstOffsetSeconds : transitions[low - 1].offsetSeconds
  }

  /// The local date and second of the day, 0…86,399.
  public func local(_ instant: WallInstant) -> (date: LocalDate, second: Int) {
    let seconds = instant.secondsSince1970 + Int64(offsetSeconds(at: instant))
    let day = seconds.flooredQuotient(86_400)
    return (LocalDate(daysSince1970: Int(day)), Int(seconds - day * 86_400))
  }

  /// When a clock on the wall first shows that local time; in a spring gap, the first instant after the gap.
  ///
  /// In the repeated hour of autumn it is the first pass. A date that a zone skipped altogether is a gap like any other.
  /// - Parameter second: of the day; 0…86,399.
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
