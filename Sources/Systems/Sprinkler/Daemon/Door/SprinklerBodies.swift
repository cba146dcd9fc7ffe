@_spi(FromOutside) import Conversions
import Service
import Sprinkler

/// The body of `POST /api/rain-delay`: `{"hours":24}`. The original app sends `{"active":true,"hours":24}` or `{"active":false}`.
struct RainDelayBody: JSONReadable {
  static let hours = JSONKind<Double>.number(0.1...336)
  let isActive: Bool
  /// The duration, or `nil` for the configured one.
  let seconds: Int?

  init() { (isActive, seconds) = (true, nil) }

  init(_ body: inout JSONReader) throws(APIError) {
    isActive = try body.optional("active", .boolean) ?? true
    seconds = try body.optional("hours", Self.hours).map { Int(saturating: ($0 * 3600).rounded()) }
  }
}

/// The body of `POST /api/run-once` and of `POST /api/queue`: zones with their durations, in order.
struct RunOnceBody: JSONReadable {
  let steps: [Program.Step]
  /// Whether the runs go before those that wait already.
  let goesFirst: Bool

  init(_ body: inout JSONReader) throws(APIError) {
    steps = try body.required("zones", .list(of: .object(StepBody.self), 1...64)).map(\.step)
    goesFirst = try body.optional("position", .choice(["append", "insert"])) == "insert"
  }
}

/// The body of `POST /api/pause`: `{"minutes":30}`. Without a body the pause has its greatest length, unless it is resumed before.
struct PauseBody: JSONReadable {
  let seconds: Int?

  init() { seconds = nil }

  init(_ body: inout JSONReader) throws(APIError) { seconds = try WateringTime.read(&body) }
}

/// The body of `POST /api/schedules/reorder`: `{"ids":[3,1,2]}`. The original app sends a list of texts.
struct ReorderBody: JSONReadable {
  let ids: [String]
  /// Whether any of the ids was given as text, as by the original app.
  let isOriginal: Bool

  private enum Name {
    case number(Int)
    case text(String)
  }

  private static let name = JSONKind<Name>("a schedule's id, or text of 1…64 characters") { value in
    switch value {
    case .number: value.wholeNumber.map { .number($0) }
    case .text(let text): (1...64).contains(text.count) ? .text(text) : nil
    default: nil
    }
  }

  init(_ body: inout JSONReader) throws(APIError) {
    let names = try body.required("ids", .list(of: Self.name, 0...1000))
    isOriginal = names.contains { if case .text = $0 { true } else { false } }
    ids = names.map { name in
      switch name {
      case .number(let number): "\(number)"
      case .text(let text): text
      }
    }
  }
}

/// The body of `PUT /api/seasonal`: `{"percent":80}` or `{"monthlyPercent":[0,0,20,50,80,100,120,120,80,40,0,0]}`.
struct SeasonalBody: JSONReadable {
  private let percent: Int?
  private let monthly: [Int]??

  init(_ body: inout JSONReader) throws(APIError) {
    percent = try body.optional("percent", .integer(0...250))
    let givesMonths = body.has("monthlyPercent")
    let months = try body.optional("monthlyPercent", .list(of: .integer(0...250), 0...12))
    if let months, !months.isEmpty, months.count != 12 {
      throw body.refusal("monthlyPercent", expected: "12 numbers, January first, or none", got: "\(months.count)")
    }
    monthly = givesMonths ? .some(months) : nil
    for name in ["ok", "effectivePercent"] { body.ignore(name) }
  }

  func applied(to levels: SprinklerLevels) -> SprinklerLevels {
    var levels = levels
    if let percent { levels.seasonalPercent = percent }
    if let monthly { levels.monthlyPercent = monthly ?? [] }
    return levels
  }
}

/// The body of `POST /api/schedules/import`, which is the answer to `GET /api/schedules/export`.
struct ScheduleImportBody: JSONReadable {
  private let schedules: [ScheduleBody]

  init(_ body: inout JSONReader) throws(APIError) {
    _ = try body.optional("format", .choice([ScheduleExport.format]))
    _ = try body.optional("formatVersion", .integer(1...1))
    schedules = try body.required("schedules", .list(of: .object(ScheduleBody.self), 1...1000))
    body.ignore("ok")
  }

  func programs() throws(APIError) -> [Program] {
    var programs: [Program] = []
    for (index, schedule) in schedules.enumerated() {
      programs.append(try schedule.applied(to: nil, path: "schedules[\(index)]"))
    }
    return programs
  }
}
