import Sprinkler
import Testing
import WallTime
import Wire

@testable import Service
@testable import SprinklerDaemon

@Suite("Schedules as the original app sees and sends them")
struct LegacyScheduleTests {
  private static let zones = zip(1..., [17, 27, 22]).map { Zone(id: ZoneID($0)!, name: "zone \($0)", gpioPin: $1) }

  /// Everything that the app knows nothing of.
  private static let ours = Program(
    id: 4, name: "Beds", days: .weekdays(0b000_0101),
    season: Season(from: MonthDay(month: 4, day: 15), to: MonthDay(month: 10, day: 1)),
    starts: [.clock(minute: 390), .clock(minute: 1_200)],
    steps: [.init(zone: ZoneID(2)!, seconds: 30), .init(zone: ZoneID(3)!, seconds: 600)],
    cycleAndSoak: .init(cycleSeconds: 120, soakSeconds: 600), followsSeason: false, skipsInRain: false, priority: 7)

  /// The sun rises a minute earlier every day.
  private static func clock(_ start: StartTime, day: Int = 0) -> String {
    if case .clock = start { ScheduleWords.text(start) } else { ScheduleWords.text(.clock(minute: 372 - day)) }
  }

  private static func shown(_ program: Program) -> LegacySchedule {
    LegacySchedule(program, zones: zones) { clock($0) }
  }

  private func changed(_ present: Program?, _ json: String) throws -> Program {
    let body = try JSONReader.read(LegacyScheduleBody.self, from: try JSONParser.parse(Array(json.utf8)), field: "")
    return try body.program(present, zones: Self.zones) { Self.clock($0, day: $1) }
  }

  /// As the app sends a schedule that it was shown, with some members changed or left out (null).
  private func sent(_ program: Program, _ changes: [String: JSONValue] = [:]) throws -> String {
    guard case .object(let members) = try JSONParser.parse(encodeJSON(Self.shown(program))) else { return "" }
    let own = members.filter { $0.name != "sequence" && changes[$0.name] == nil }
    let other = changes.filter { $0.value != .null }.map { JSONValue.Member(name: $0.key, value: $0.value) }
    return String(decoding: JSONValue.object(own + other).bytes, as: UTF8.self)
  }

  @Test("shown: whole minutes of at least one, the first start by the clock, weekdays only where it goes by them")
  func shown() {
    let beds = Self.shown(Self.ours)
    #expect(beds.id == "4" && beds.startTime == "06:30" && beds.days == ["Mon", "Wed"])
    #expect(beds.sequence == [.init(pin: 27, duration: 1), .init(pin: 22, duration: 10)] && beds.duration == 11)
    var other = Self.ours
    other.alias = "7F3A"
    other.days = .odd
    other.starts = [.sunrise(offsetMinutes: -20), .clock(minute: 400)]
    #expect(Self.shown(other).id == "7F3A" && Self.shown(other).days == [] && Self.shown(other).startTime == "06:40")
    other.starts = [.sunrise(offsetMinutes: -20)]
    #expect(Self.shown(other).startTime == "06:12")
  }

  @Test("sent back as shown: nothing changes, whatever kind of schedule it is")
  func unchanged() throws {
    for days in [
      DayRule.weekdays(5), .weekdays(0), .interval(days: 3, from: LocalDate(year: 2026, month: 5, day: 1)), .odd,
    ] {
      for starts in [Self.ours.starts, [.sunset(offsetMinutes: 5)], [.sunrise(offsetMinutes: 0), .clock(minute: 1)]] {
        var program = Self.ours
        (program.days, program.starts) = (days, starts)
        #expect(try changed(program, sent(program)) == program)
        // Without weekdays the app sends none, or its own choice of all seven.
        #expect(try changed(program, sent(program, ["days": .null])) == program)
        if case .weekdays = days { continue }
        let all = JSONValue.list(ScheduleWords.weekdays.map { .text($0) })
        #expect(try changed(program, sent(program, ["days": all])) == program)
      }
    }
  }

  @Test("one member changed: all that the app does not know of stays")
  func oneMember() throws {
    var expected = Self.ours
    expected.name = "Roses"
    #expect(try changed(Self.ours, sent(Self.ours, ["name": .text("Roses")])) == expected)
    expected = Self.ours
    expected.isEnabled = false
    #expect(try changed(Self.ours, sent(Self.ours, ["is_enabled": .boolean(false)])) == expected)
    expected = Self.ours
    expected.starts[0] = .clock(minute: 360)
    #expect(try changed(Self.ours, sent(Self.ours, ["start_time": .text("06:00")])) == expected)
    expected = Self.ours
    expected.days = .weekdays(1)
    #expect(try changed(Self.ours, sent(Self.ours, ["days": .list([.text("mon")])])) == expected)
    // Both starts become one.
    expected = Self.ours
    expected.starts = [.clock(minute: 1_200)]
    #expect(try changed(Self.ours, sent(Self.ours, ["start_time": .text("20:00")])) == expected)
    var odd = Self.ours
    odd.days = .odd
    expected.starts = Self.ours.starts
    expected.days = .weekdays(2)
    #expect(try changed(odd, sent(odd, ["days": .list([.text("Tue")])])) == expected, "days were chosen")
  }

  @Test("another duration: each zone its share, and together exactly that long", arguments: [1, 5, 11, 12, 100, 720])
  func duration(minutes: Int) throws {
    let program = try changed(Self.ours, sent(Self.ours, ["duration": .number("\(minutes)")]))
    #expect(program.steps.map(\.zone) == Self.ours.steps.map(\.zone))
    guard minutes != 11 else {
      #expect(program == Self.ours, "as it was shown")
      return
    }
    #expect(program.steps.reduce(0) { $0 + $1.seconds } == minutes * 60 && program.steps.allSatisfy { $0.seconds > 0 })
    #expect(program.priority == 7 && program.season == Self.ours.season && program.starts == Self.ours.starts)
  }

  @Test("a sun that was shown yesterday: the start by the sun stays; another time takes its place")
  func sun() throws {
    var program = Self.ours
    program.starts = [.sunrise(offsetMinutes: 0)]
    for time in ["06:11", "06:12", "06:13"] {
      #expect(try changed(program, sent(program, ["start_time": .text(time)])) == program)
    }
    #expect(
      try changed(program, sent(program, ["start_time": .text("06:20")])).starts == [.clock(minute: 380)])
  }

  @Test("new: the first zone that can run for the duration; without a name it has one, without days it never starts")
  func new() throws {
    let made = try changed(nil, #"{"id":"7F3A","duration":10,"start_time":"06:00","is_enabled":true}"#)
    #expect(made.alias == "7F3A" && made.name == "Schedule 06:00" && made.days == .weekdays(0) && made.isEnabled)
    #expect(made.steps == [.init(zone: ZoneID(1)!, seconds: 600)])
    #expect(try changed(nil, #"{"id":"12","duration":1,"start_time":"6:05"}"#).alias == nil, "a number is ours to give")
    for wrong in [
      #"{"id":"A","start_time":"06:00"}"#, #"{"id":"A","start_time":"06:00","duration":0}"#,
      #"{"id":"A","start_time":"24:00","duration":1}"#, #"{"duration":1}"#,
    ] {
      #expect(throws: APIError.self) { try changed(nil, wrong) }
    }
  }

  @Test("a sequence that is sent back as shown keeps its half minutes; another one takes its place")
  func sequence() throws {
    let same = #"{"start_time":"06:30","sequence":[{"pin":27,"duration":1},{"pin":22,"duration":10}]}"#
    #expect(try changed(Self.ours, same) == Self.ours)
    let other = try changed(
      Self.ours, #"{"start_time":"06:30","duration":3,"sequence":[{"pin":17},{"pin":27,"duration":2}]}"#)
    #expect(other.steps == [.init(zone: ZoneID(1)!, seconds: 180), .init(zone: ZoneID(2)!, seconds: 120)])
    #expect(other.starts == Self.ours.starts && other.cycleAndSoak == Self.ours.cycleAndSoak)
  }
}
