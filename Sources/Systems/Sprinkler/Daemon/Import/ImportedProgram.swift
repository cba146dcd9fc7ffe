import Sprinkler
import WallTime

/// A program of another controller whose parts are known to be possible here.
struct ImportedProgram {
  /// The program's path in the file, such as `programs.pd[2]`.
  let path: String
  let name: String
  let isEnabled: Bool
  let days: DayRule
  let season: Season?
  let followsSeason: Bool
  let steps: [Program.Step]
  /// The starts on its days; each at most once.
  private(set) var starts: [StartTime] = []
  /// The starts after midnight, on the days after its days; each at most once.
  private(set) var startsOfNextDay: [StartTime] = []

  /// The greatest number of starts of a program on a day, which become six schedules.
  static let mostStarts = 48
  private static let startsOfSchedule = 8

  init(
    path: String, name: String, isEnabled: Bool, days: DayRule, season: Season? = nil, followsSeason: Bool,
    steps: [Program.Step]
  ) {
    (self.path, self.isEnabled, self.days, self.season) = (path, isEnabled, days, season)
    (self.followsSeason, self.steps) = (followsSeason, steps)
    self.name = ImportedSchedules.plain(name, longest: 50)
  }

  /// Adds a start.
  ///
  /// - Parameter minute: minutes after midnight of one of the program's days, 0…2,879.
  mutating func start(atMinute minute: Int) {
    if minute < 1_440 { add(.clock(minute: minute), to: \.starts) }
    if (1_440..<2_880).contains(minute) { add(.clock(minute: minute - 1_440), to: \.startsOfNextDay) }
  }

  /// Adds a start by the sun.
  mutating func start(at start: StartTime) { add(start, to: \.starts) }

  private mutating func add(_ start: StartTime, to list: WritableKeyPath<ImportedProgram, [StartTime]>) {
    if !self[keyPath: list].contains(start) { self[keyPath: list].append(start) }
  }

  /// Refuses a program that would never start or that starts more often than a day has room for.
  func checkStarts() throws(NotImported) {
    guard !starts.isEmpty || !startsOfNextDay.isEmpty else { throw NotImported("it has no start that is on") }
    guard starts.count + startsOfNextDay.count <= Self.mostStarts else {
      throw NotImported("it starts more than \(Self.mostStarts) times a day")
    }
  }

  /// Returns the schedules. Starts after midnight are reported as not imported if no rule can express their days.
  func schedules(_ result: inout ImportedSchedules) -> [Program] {
    var parts = pieces(starts).map { (days, $0) }
    if !startsOfNextDay.isEmpty {
      if let nextDays {
        parts += pieces(startsOfNextDay).map { (nextDays, $0) }
      } else {
        result.leave(
          path,
          "\(startsOfNextDay.count) of its starts are after midnight of an odd or even day: schedules have no such days"
        )
      }
    }
    return parts.enumerated().map { place, part in
      Program(
        id: 0, name: place == 0 ? name : "\(name) (\(place + 1))", isEnabled: isEnabled, days: part.0, season: season,
        starts: part.1, steps: steps, followsSeason: followsSeason)
    }
  }

  private func pieces(_ starts: [StartTime]) -> [[StartTime]] {
    stride(from: 0, to: starts.count, by: Self.startsOfSchedule).map {
      Array(starts[$0..<min($0 + Self.startsOfSchedule, starts.count)])
    }
  }

  /// The rule for the days that follow the program's days, or `nil` if no rule can express them.
  private var nextDays: DayRule? {
    switch days {
    case .weekdays(let bits): .weekdays((bits << 1 | bits >> 6) & 0x7F)
    case .interval(let every, let from):
      .interval(days: every, from: LocalDate(daysSince1970: from.daysSince1970 + 1))
    case .odd, .even: nil
    }
  }
}
