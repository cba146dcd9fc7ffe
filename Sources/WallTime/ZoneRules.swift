@_spi(FromOutside) import Conversions

/// The offsets from UTC of one time zone. Converts between local time and UTC without a library, for the years read.
///
/// Before the first year and after the last one the nearest known offset applies.
public struct ZoneRules: Sendable, Hashable {
  /// An instant from which a new offset applies.
  public struct Transition: Sendable, Hashable {
    /// The instant from which the new offset applies.
    public var at: WallInstant
    /// The offset from UTC in seconds; east is positive.
    public var offsetSeconds: Int

    /// Creates a transition.
    public init(at: WallInstant, offsetSeconds: Int) {
      self.at = at
      self.offsetSeconds = offsetSeconds
    }
  }

  /// The IANA name, such as `Europe/Berlin`; for a zone without a name its offset, `+05:45`, or its rule, `NZST-12NZDT,M9.5.0,M4.1.0/3`.
  public let identifier: String
  /// Whether `identifier` is an IANA name, which other programs know.
  public let isNamed: Bool
  /// The offset from UTC before the first transition in seconds; east is positive.
  public let firstOffsetSeconds: Int
  /// The transitions in ascending order, each to an offset that differs from the one before.
  public let transitions: [Transition]

  /// Creates the rules of a time zone from its transitions.
  ///
  /// - Parameters:
  ///   - identifier: what `identifier` returns.
  ///   - isNamed: whether that is an IANA name.
  ///   - firstOffsetSeconds: the offset before the first transition in seconds; east is positive.
  ///   - transitions: in ascending order; any other order is a programming error.
  public init(identifier: String, isNamed: Bool = true, firstOffsetSeconds: Int, transitions: [Transition]) {
    precondition(zip(transitions, transitions.dropFirst()).allSatisfy { $0.at < $1.at }, "transitions are sorted")
    self.identifier = identifier
    self.isNamed = isNamed
    self.firstOffsetSeconds = firstOffsetSeconds
    self.transitions = transitions
  }

  /// Coordinated universal time, which has no transition.
  public static var utc: Self { Self(identifier: "UTC", firstOffsetSeconds: 0, transitions: []) }

  /// Returns the offset from UTC at an instant in seconds; east is positive.
  public func offsetSeconds(at instant: WallInstant) -> Int {
    let place = firstIndex(after: instant)
    return place == 0 ? firstOffsetSeconds : transitions[place - 1].offsetSeconds
  }

  /// Returns the first transition after an instant, or `nil` if the offset does not change any more in the years read.
  public func nextTransition(after instant: WallInstant) -> Transition? {
    let place = firstIndex(after: instant)
    return place < transitions.count ? transitions[place] : nil
  }

  /// Returns the index of the first transition after an instant; the number of transitions if there is none.
  private func firstIndex(after instant: WallInstant) -> Int {
    var low = 0
    var high = transitions.count
    while low < high {
      let middle = (low + high) / 2
      if transitions[middle].at <= instant { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the local date and the second of the day, 0…86,399.
  public func local(_ instant: WallInstant) -> (date: LocalDate, second: Int) {
    let seconds = (instant + Int64(offsetSeconds(at: instant))).secondsSince1970
    let day = seconds.flooredQuotient(86_400)
    return (LocalDate(daysSince1970: Int(clamping: day)), Int(clamping: seconds - day * 86_400))
  }

  /// Returns the instant at which a wall clock first shows a local time; in the gap of spring, the first instant after the gap.
  ///
  /// An instant in the repeated hour of autumn is that of the first pass. A date that the zone skipped altogether is treated as a gap.
  /// - Parameter second: the second of the day, 0…86,399.
  public func instant(of date: LocalDate, second: Int) -> WallInstant {
    let local = Int64(date.daysSince1970) * 86_400 + Int64(second)
    // Every offset in force within a day and a half of it is a candidate; the earliest instant that shows the time wins.
    let from = WallInstant(secondsSince1970: local - 129_600)
    let to = WallInstant(secondsSince1970: local + 129_600)
    var start = from
    var offset = offsetSeconds(at: from)
    var place = firstIndex(after: from)
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

extension ZoneRules {
  /// Returns an offset from UTC in text: `+05:45`, `-03:00`, `+00:00`, with seconds if it has any.
  ///
  /// - Parameter seconds: the offset in seconds; east is positive.
  public static func text(ofOffset seconds: Int) -> String {
    let size = Int(clamping: seconds.magnitude)
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let rest = size % 60 == 0 ? "" : ":" + two(size % 60)
    return (seconds < 0 ? "-" : "+") + two(size / 3_600) + ":" + two(size / 60 % 60) + rest
  }

  /// Returns an instant as a clock of this zone shows it, with the offset: `2026-03-29 03:00 +02:00`.
  public func text(_ instant: WallInstant) -> String {
    let (date, second) = local(instant)
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(date) \(two(second / 3_600)):\(two(second / 60 % 60)) \(Self.text(ofOffset: offsetSeconds(at: instant)))"
  }
}
