import Sprinkler

/// A schedule in the words of the API or of the original Python backend.
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

/// `{"name":"Lawn","start_time":"06:30","days":["Mon"],"is_enabled":true,"sequence":[{"pin":17,"duration":10}]}`; minutes. A step
/// without a duration of its own has the schedule's.
struct LegacyScheduleBody: JSONReadable {
  private let name: String
  private let start: StartTime
  private let weekdays: [Int]
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
    // It was a text of the app's own making; the store gives numbers.
    body.ignore("id")
    name = try body.required("name", .text(1...60))
    start = try body.required("start_time", .startTime)
    weekdays = try body.required("days", .list(of: .weekday, 1...7))
    isEnabled = try body.optional("is_enabled", .boolean)
    minutes = try body.optional("duration", .integer(1...720))
    sequence = try body.required("sequence", .list(of: .object(Step.self), 1...64))
  }

  /// - Parameter present: the schedule whose place it takes; nil: a new one.
  func program(_ present: Program?, zones: [Zone]) throws(APIError) -> Program {
    var steps: [Program.Step] = []
    for (place, step) in sequence.enumerated() {
      guard let zone = zones.first(where: { $0.gpioPin == step.pin }) else {
        throw .validation("sequence[\(place)].pin", expected: "a zone's pin", got: "\(step.pin)")
      }
      guard let minutes = step.minutes ?? minutes else {
        throw .validation("sequence[\(place)].duration", expected: "minutes, here or for all", got: "nothing")
      }
      steps.append(Program.Step(zone: zone.id, seconds: minutes * 60))
    }
    return Program(
      id: present?.id ?? 0, name: name, isEnabled: isEnabled ?? present?.isEnabled ?? true,
      days: .weekdays(weekdays.reduce(0) { $0 | 1 << $1 }), starts: [start], steps: steps)
  }
}
