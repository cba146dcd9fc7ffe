import Sprinkler

/// A schedule in the form of the original app: one start, whole minutes, weekdays.
struct LegacySchedule: Encodable {
  struct Step: Encodable, Equatable {
    let pin: Int
    /// The duration in minutes, from 1 up.
    let duration: Int
  }

  /// The schedule's alias or, if it has none, its number.
  let id: String
  let name: String
  /// The total duration of all steps in minutes.
  let duration: Int
  /// The local time of the start as `HH:MM`.
  let startTime: String
  /// The weekdays, or an empty list if the schedule follows another rule.
  let days: [String]
  let isEnabled: Bool
  let sequence: [Step]

  private enum CodingKeys: String, CodingKey {
    case id, name, duration, days, sequence
    case startTime = "start_time"
    case isEnabled = "is_enabled"
  }

  /// Converts a program.
  ///
  /// - Parameter clock: returns the local time of a start today as `HH:MM`.
  init(_ program: Program, zones: [Zone], clock: (StartTime) -> String) {
    id = program.alias ?? String(program.id)
    name = program.name
    startTime = clock(program.starts[Self.shownStart(program)])
    if case .weekdays(let bits) = program.days { days = ScheduleWords.weekdayNames(bits) } else { days = [] }
    isEnabled = program.isEnabled
    sequence = program.steps.map { step in
      Step(pin: zones.first { $0.id == step.zone }?.gpioPin ?? 0, duration: Self.minutes(step.seconds))
    }
    duration = sequence.reduce(0) { $0 + $1.duration }
  }

  /// Returns the duration in whole minutes, as the app requires, and at least 1, as the app treats 0 as missing.
  private static func minutes(_ seconds: Int) -> Int { max(1, (seconds + 30) / 60) }

  /// Returns the index of the one start that the app sees: the first at a time of day or, if there is none, the first by the sun.
  static func shownStart(_ program: Program) -> Int {
    program.starts.firstIndex { if case .clock = $0 { true } else { false } } ?? 0
  }
}
