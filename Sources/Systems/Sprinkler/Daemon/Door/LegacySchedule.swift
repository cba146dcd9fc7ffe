import Sprinkler

/// A schedule as the original app knows one: one start, whole minutes, weekdays.
struct LegacySchedule: Encodable {
  struct Step: Encodable, Equatable {
    let pin: Int
    /// Minutes, 1….
    let duration: Int
  }

  /// What the app calls it, or its number.
  let id: String
  let name: String
  /// Minutes of all steps.
  let duration: Int
  /// `HH:MM`
  let startTime: String
  /// Empty if it goes by another rule than weekdays.
  let days: [String]
  let isEnabled: Bool
  let sequence: [Step]

  private enum CodingKeys: String, CodingKey {
    case id, name, duration, days, sequence
    case startTime = "start_time"
    case isEnabled = "is_enabled"
  }

  /// - Parameter clock: what a clock on the wall shows today at a start.
  init(_ program: Program, zones: [Zone], clock: (StartTime) -> String) {
    id = program.alias ?? String(program.id)
    name = program.name
    startTime = clock(program.starts[Self.shownStart(program)])
    if case .weekdays(let bits) = program.days { days = ScheduleWords.words(bits) } else { days = [] }
    isEnabled = program.isEnabled
    sequence = program.steps.map { step in
      Step(pin: zones.first { $0.id == step.zone }?.gpioPin ?? 0, duration: Self.minutes(step.seconds))
    }
    duration = sequence.reduce(0) { $0 + $1.duration }
  }

  /// The app has whole minutes, and takes 0 for nothing.
  private static func minutes(_ seconds: Int) -> Int { max(1, (seconds + 30) / 60) }

  /// The place of the one start that the app sees: the first by the clock; of one that has none, the first by the sun.
  static func shownStart(_ program: Program) -> Int {
    program.starts.firstIndex { if case .clock = $0 { true } else { false } } ?? 0
  }
}
