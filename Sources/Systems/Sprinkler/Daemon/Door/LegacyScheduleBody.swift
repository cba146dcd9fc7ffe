@_spi(FromOutside) import Conversions
import Service
import Sprinkler

/// A schedule in the notation of the API or of the original Python backend.
enum EitherScheduleBody: JSONReadable {
  case own(ScheduleBody)
  case original(LegacyScheduleBody)

  init(_ body: inout JSONReader) throws(APIError) {
    if ["start_time", "sequence", "is_enabled"].contains(where: { body.has($0) }) {
      self = .original(try LegacyScheduleBody(&body))
    } else {
      self = .own(try ScheduleBody(&body))
    }
  }
}

/// The body of a schedule in the notation of the original backend:
/// `{"id":"7F3A…","name":"Lawn","duration":10,"start_time":"06:30","days":["Mon"],"is_enabled":true}`. The duration is in minutes, of all zones.
///
/// The app makes the id, omits an empty name and empty days, and never sends a sequence. Other clients of the original backend may send
/// `"sequence":[{"pin":17,"duration":10}]`, where a step without a duration has that of the schedule.
struct LegacyScheduleBody: JSONReadable {
  /// The client's name for the schedule, or `nil` if it is missing or a number, since numbers are assigned by the daemon.
  let alias: String?
  /// The id as the client gave it, even if it is a number, or `nil` if it is missing.
  let id: String?
  private let name: String?
  private let start: StartTime
  private let weekdays: UInt8?
  private let isEnabled: Bool?
  private let minutes: Int?
  private let sequence: [Step]

  private struct Step: JSONReadable {
    let pin: Int
    let minutes: Int?

    init(_ body: inout JSONReader) throws(APIError) {
      pin = try body.required("pin", .integer(0...1023))
      minutes = try body.optional("duration", .integer(1...720))
    }
  }

  init(_ body: inout JSONReader) throws(APIError) {
    id = try body.optional("id", .name(1...64))
    alias = id.flatMap { Int($0) == nil ? $0 : nil }
    name = try body.optional("name", .name(0...60)).flatMap { $0.isEmpty ? nil : $0 }
    start = try body.required("start_time", .startTime)
    weekdays = try body.optional("days", .list(of: .weekday, 0...7))?.reduce(0) { $0 | 1 << UInt8(clamping: $1) }
    isEnabled = try body.optional("is_enabled", .boolean)
    minutes = try body.optional("duration", .integer(1...720))
    sequence = try body.optional("sequence", .list(of: .object(Step.self), 0...64)) ?? []
  }

  /// Returns the schedule that the client means. Properties unknown to the app, and values that it returns as they were shown, stay unchanged.
  ///
  /// - Parameters:
  ///   - present: the schedule to change, or `nil` for a new one.
  ///   - zones: the present zones.
  ///   - clock: returns the local time of a start as `HH:MM`, on the day that many days from today.
  func program(
    _ present: Program?, zones: [Zone], clock: (StartTime, _ day: Int) -> String
  ) throws(APIError) -> Program {
    let shown = present.map { LegacySchedule($0, zones: zones) { clock($0, 0) } }
    let steps = try steps(present, shown, zones)
    var program =
      present
      ?? Program(
        id: 0, name: "Schedule \(ScheduleWords.text(start))", days: .weekdays(0), starts: [start], steps: steps)
    program.steps = steps
    if let name { program.name = name }
    if let isEnabled { program.isEnabled = isEnabled }
    if let weekdays { program.days = days(weekdays, of: program.days) }
    if program.alias == nil { program.alias = alias }
    setStart(of: &program, clock)
    return program
  }

  private func steps(
    _ present: Program?, _ shown: LegacySchedule?, _ zones: [Zone]
  ) throws(APIError) -> [Program.Step] {
    if !sequence.isEmpty { return try givenSteps(present, shown, zones) }
    if let present, let shown {
      guard let minutes, minutes != shown.duration else { return present.steps }
      return Self.stretched(present.steps, to: minutes * 60)
    }
    // As in the original backend, the first pin is watered.
    guard let zone = zones.first(where: \.isEnabled) ?? zones.first else {
      throw .validation("sequence", expected: "a zone to water", got: "none, and there is no zone at all")
    }
    guard let minutes else {
      throw .validation("duration", expected: "minutes 1…720, or a sequence", got: "nothing")
    }
    return [Program.Step(zone: zone.id, seconds: minutes * 60)]
  }

  private func givenSteps(
    _ present: Program?, _ shown: LegacySchedule?, _ zones: [Zone]
  ) throws(APIError) -> [Program.Step] {
    var steps: [Program.Step] = []
    var given: [LegacySchedule.Step] = []
    for (place, step) in sequence.enumerated() {
      guard let zone = zones.first(where: { $0.gpioPin == step.pin }) else {
        throw .validation("sequence[\(place)].pin", expected: "a zone's pin", got: "\(step.pin)")
      }
      guard let minutes = step.minutes ?? minutes else {
        throw .validation("sequence[\(place)].duration", expected: "minutes, here or for all", got: "nothing")
      }
      steps.append(Program.Step(zone: zone.id, seconds: minutes * 60))
      given.append(.init(pin: step.pin, duration: minutes))
    }
    if let present, given == shown?.sequence { return present.steps }
    return steps
  }

  /// Returns the same steps with their durations scaled to another total.
  private static func stretched(_ steps: [Program.Step], to seconds: Int) -> [Program.Step] {
    let total = steps.reduce(0) { $0 + $1.seconds }
    var (before, spent) = (0, 0)
    return steps.map { step in
      before += step.seconds
      // Rounded at the borders between steps, so that the sum is the total.
      let border = (seconds * before + total / 2) / total
      defer { spent = border }
      return Program.Step(zone: step.zone, seconds: max(1, border - spent))
    }
  }

  /// Returns the new rule of the days. A rule that the app cannot show is kept unless days are chosen; for such a schedule the app sends no day or
  /// all seven.
  private func days(_ weekdays: UInt8, of present: DayRule) -> DayRule {
    if case .weekdays = present { return .weekdays(weekdays) }
    return weekdays == 0 || weekdays == 127 ? present : .weekdays(weekdays)
  }

  /// Changes the one start that the app knows; the other starts stay. A start by the sun, which the app sees as a time of day, stays if the app
  /// returns the time of today, yesterday or tomorrow.
  private func setStart(of program: inout Program, _ clock: (StartTime, _ day: Int) -> String) {
    let place = LegacySchedule.shownStart(program)
    let (present, text) = (program.starts[place], ScheduleWords.text(start))
    guard !(-1...1).contains(where: { clock(present, $0) == text }) else { return }
    program.starts[place] = start
    if let other = program.starts.indices.first(where: { $0 != place && program.starts[$0] == start }) {
      program.starts.remove(at: other)
    }
  }
}
