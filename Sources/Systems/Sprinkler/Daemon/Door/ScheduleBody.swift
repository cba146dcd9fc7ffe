@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import WallTime

/// The body of `POST` and `PUT /api/schedules`. Members that a `PUT` lacks leave the schedule's property unchanged.
struct ScheduleBody: JSONReadable {
  /// The schedule's id; in an import, the id that the schedule had where it was exported.
  let id: Int?
  private let name: String?
  private let isEnabled: Bool?
  private let days: DayRule?
  private let starts: [StartTime]?
  private let steps: [Program.Step]?
  private let skipsInRain: Bool?
  private let season: Season??
  private let cycleAndSoak: Program.CycleAndSoak??
  private let followsSeason: Bool?
  /// The rule that decides in place of the minutes. `.some(nil)` stands for no rule, and `nil` leaves the rule unchanged.
  private let adjustment: Program.Adjustment??
  private let priority: Int?
  private let alias: String??

  init(_ body: inout JSONReader) throws(APIError) {
    id = try body.optional("id", .integer(1...Int(Int32.max)))
    name = try body.optional("name", .name(1...60))
    isEnabled = try body.optional("isEnabled", .boolean)
    days = try Self.days(&body)
    let starts = try body.optional("startTimes", .list(of: .startTime, 1...8))
    if let starts, Set(starts).count < starts.count {
      throw body.refusal("startTimes", expected: "each start once", got: "one of them twice")
    }
    self.starts = starts
    steps = try body.optional("zones", .list(of: .object(StepBody.self), 1...64))?.map(\.step)
    skipsInRain = try body.optional("skipIfRain", .boolean)
    let givesSeason = body.has("season")
    let season = try body.optional("season", .object(SeasonBody.self))?.season
    self.season = givesSeason ? .some(season) : nil
    let givesSoak = body.has("cycleAndSoak")
    let soak = try body.optional("cycleAndSoak", .object(CycleBody.self))?.value
    cycleAndSoak = givesSoak ? .some(soak) : nil
    followsSeason = try body.optional("followsSeason", .boolean)
    let givesAdjustment = body.has("adjustment")
    let adjustment = try body.optional("adjustment", .choice(["deficit"])).flatMap { Program.Adjustment(rawValue: $0) }
    self.adjustment = givesAdjustment ? .some(adjustment) : nil
    priority = try body.optional("priority", .integer(-100...100))
    let givesAlias = body.has("alias")
    let alias = try body.optional("alias", .name(1...64))
    self.alias = givesAlias ? .some(alias) : nil
    for name in ["ok", "nextStartISO"] { body.ignore(name) }
  }

  /// Returns the rule given by `days`, by `intervalDays` with `intervalFrom`, or by `dayParity`; `nil` if none of them is given.
  private static func days(_ body: inout JSONReader) throws(APIError) -> DayRule? {
    let weekdays = try body.optional("days", .list(of: .weekday, 0...7))
    let interval = try body.optional("intervalDays", .integer(1...365))
    let from = try body.optional("intervalFrom", .localDate)
    let parity = try body.optional("dayParity", .choice(["odd", "even"]))
    guard [weekdays != nil, interval != nil, parity != nil].count(where: { $0 }) <= 1 else {
      throw body.refusal("days", expected: "one of days, intervalDays and dayParity", got: "more than one")
    }
    if (interval == nil) != (from == nil) {
      throw body.refusal(
        interval == nil ? "intervalDays" : "intervalFrom", expected: "intervalDays with intervalFrom", got: "nothing")
    }
    if let weekdays { return .weekdays(weekdays.reduce(0) { $0 | 1 << $1 }) }
    if let interval, let from { return .interval(days: interval, from: from) }
    return parity.map { $0 == "odd" ? .odd : .even }
  }

  /// Returns the schedule with the members of this body applied.
  ///
  /// - Parameters:
  ///   - present: the schedule to change, or `nil` for a new one.
  ///   - path: the path of the body for error messages, such as `schedules[2]` in an import.
  func applied(to present: Program?, path: String = "") throws(APIError) -> Program {
    func missing(_ name: String, _ expected: String) -> APIError {
      .validation(path.isEmpty ? name : "\(path).\(name)", expected: expected, got: "nothing")
    }
    guard let name = name ?? present?.name else { throw missing("name", "text of 1…60 characters") }
    guard let days = days ?? present?.days else {
      throw missing("days", "days, or intervalDays with intervalFrom, or dayParity")
    }
    guard let starts = starts ?? present?.starts else { throw missing("startTimes", "a list of 1…8 starts") }
    guard let steps = steps ?? present?.steps else { throw missing("zones", "a list of 1…64 zones with their minutes") }
    return Program(
      id: present?.id ?? 0, name: name, isEnabled: isEnabled ?? present?.isEnabled ?? true, days: days,
      season: season ?? present?.season, starts: starts, steps: steps,
      cycleAndSoak: cycleAndSoak ?? present?.cycleAndSoak,
      followsSeason: followsSeason ?? present?.followsSeason ?? true,
      skipsInRain: skipsInRain ?? present?.skipsInRain ?? true, adjustment: adjustment ?? present?.adjustment,
      priority: priority ?? present?.priority ?? 0,
      alias: alias ?? present?.alias)
  }
}

/// The body of one step of a schedule: `{"zoneId":1,"minutes":10}`, or `{"zoneId":1,"litres":20}` with or without minutes as its longest time.
struct StepBody: JSONReadable {
  let step: Program.Step

  init(_ body: inout JSONReader) throws(APIError) {
    let zone = try body.required("zoneId", .zoneID)
    let litres = try body.optional("litres", .litres)
    // With litres alone the zone's longest run is the limit.
    guard let seconds = try WateringTime.read(&body) ?? litres.map({ _ in WateringTime.longestSeconds }) else {
      throw body.refusal("minutes", expected: "minutes, seconds or litres", got: "nothing")
    }
    step = Program.Step(zone: zone, seconds: seconds, litres: litres)
  }
}

/// The body of a season: `{"from":"04-15","to":"10-01"}`.
private struct SeasonBody: JSONReadable {
  let season: Season

  init(_ body: inout JSONReader) throws(APIError) {
    season = Season(from: try body.required("from", .monthDay), to: try body.required("to", .monthDay))
  }
}

/// The body of a division into cycles: `{"cycleMinutes":5,"soakMinutes":20}`.
private struct CycleBody: JSONReadable {
  let value: Program.CycleAndSoak

  init(_ body: inout JSONReader) throws(APIError) {
    value = Program.CycleAndSoak(
      cycleSeconds: Int(saturating: (try body.required("cycleMinutes", .number(1...1440)) * 60).rounded()),
      soakSeconds: Int(saturating: (try body.required("soakMinutes", .number(0...1440)) * 60).rounded()))
  }
}

extension JSONKind where Value == StartTime {
  static var startTime: JSONKind {
    JSONKind("\"HH:MM\", \"sunrise\" or \"sunset\", those with an offset of at most 720 minutes: \"sunrise-20\"") {
      if case .text(let text) = $0 { ScheduleWords.start(text) } else { nil }
    }
  }
}

extension JSONKind where Value == Int {
  /// The kind of a weekday: 0 is Monday, 6 is Sunday.
  static var weekday: JSONKind {
    JSONKind("one of \(ScheduleWords.weekdays.joined(separator: ", "))") {
      if case .text(let text) = $0 { ScheduleWords.weekday(text) } else { nil }
    }
  }
}

extension JSONKind where Value == LocalDate {
  static var localDate: JSONKind {
    JSONKind("a date YYYY-MM-DD") { if case .text(let text) = $0 { ScheduleWords.date(text) } else { nil } }
  }
}

extension JSONKind where Value == MonthDay {
  static var monthDay: JSONKind {
    JSONKind("a day of the year MM-DD") { if case .text(let text) = $0 { ScheduleWords.monthDay(text) } else { nil } }
  }
}

extension JSONKind where Value == ZoneID {
  static var zoneID: JSONKind {
    JSONKind(JSONKind<Int>.integer(1...ZoneID.maximum).expected) { $0.wholeNumber.flatMap { ZoneID($0) } }
  }
}
