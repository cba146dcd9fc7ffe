import Sprinkler
import Testing
import WallTime

@testable import SprinklerDaemon

@Suite("schedules of other controllers")
struct ImportTests {
  private static let today = LocalDate(year: 2026, month: 7, day: 10)
  /// 1 July 2026, 12:00, in the controller's local time, as seconds.
  private static let devt = LocalDate(year: 2026, month: 7, day: 1).daysSince1970 * 86_400 + 43_200

  private func read(_ files: String...) throws -> ImportedSchedules {
    try ImportedSchedules(try files.map { try ImportedFile.decode(Array($0.utf8)) }, today: Self.today)
  }

  private func openSprinkler(
    _ programs: String, options: String = "{}", stations: String = "{}", settings: String = #"{"devt":\#(devt)}"#
  ) throws -> ImportedSchedules {
    try read(
      #"{"settings":\#(settings),"programs":{"nprogs":1,"pd":[\#(programs)]},"options":\#(options),"stations":\#(stations)}"#
    )
  }

  private func left(_ imported: ImportedSchedules) -> [String: String] {
    imported.lines.reduce(into: [:]) { if case .left(let path, let reason) = $1 { $0[path] = reason } }
  }

  private func steps(_ seconds: [Int: Int]) -> [Program.Step] {
    seconds.sorted { $0.key < $1.key }.map { Program.Step(zone: ZoneID($0.key)!, seconds: $0.value) }
  }

  @Test("OpenSprinkler, weekly with fixed starts: days, clock and sun, zones in seconds, weather, dates")
  func weekly() throws {
    // Enabled, uses weather, weekly, fixed starts, dated: 1 + 2 + 64 + 128. Sunset is bit 13, minus bit 12.
    let imported = try openSprinkler(
      #"[195,21,0,[390,\#(1 << 13 | 20),\#(1 << 14 | 1 << 12 | 45),-1],[600,0,90],"Front",[1,\#(4 << 5 | 15),\#(10 << 5 | 1)]]"#
    )
    #expect(
      imported.programs == [
        Program(
          id: 0, name: "Front", days: .weekdays(0b001_0101),
          season: Season(from: MonthDay(month: 4, day: 15), to: MonthDay(month: 10, day: 1)),
          starts: [.clock(minute: 390), .sunset(offsetMinutes: 20), .sunrise(offsetMinutes: -45)],
          steps: steps([1: 600, 3: 90]))
      ])
    #expect(imported.lines == [.taken(path: "programs.pd[0]", 0..<1)])
  }

  @Test("OpenSprinkler, disabled, without weather, odd and even days, in reversed order")
  func parity() throws {
    let imported = try openSprinkler(
      #"[68,127,0,[0,-1,-1,-1],[60,120],"Odd >I"],[72,127,0,[1439,-1,-1,-1],[60],"Even"],[69,3,0,[60,-1,-1,-1],[60],"Both"]"#
    )
    #expect(imported.programs.map(\.days) == [.odd, .even])
    #expect(imported.programs.allSatisfy { !$0.isEnabled && !$0.followsSeason })
    #expect(imported.programs[0].steps == steps([1: 60, 2: 120]).reversed())
    #expect(left(imported)["programs.pd[2]"]?.contains("certain weekdays") == true)
  }

  @Test(
    "OpenSprinkler, interval: its days to the next start count from the export's date, or from today with a word of it")
  func interval() throws {
    let program = #"[113,2,5,[60,-1,-1,-1],[60],"Trees"]"#
    #expect(
      try openSprinkler(program).programs.map(\.days) == [
        .interval(days: 5, from: LocalDate(year: 2026, month: 7, day: 3))
      ])
    let undated = try openSprinkler(program, settings: "{}")
    #expect(undated.programs.map(\.days) == [.interval(days: 5, from: LocalDate(year: 2026, month: 7, day: 12))])
    #expect(left(undated)["programs.pd[0]"]?.contains("settings.devt") == true)
    #expect(left(try openSprinkler(#"[113,0,0,[60,-1,-1,-1],[60],"X"]"#)).keys.sorted() == ["programs.pd[0][2]"])
  }

  @Test("OpenSprinkler, repeated: a schedule for every eight starts, those after midnight on the days after")
  func repeated() throws {
    // 20:00 and 11 times more, every 30 minutes: 8 before midnight, 4 after; Sunday.
    let imported = try openSprinkler(#"[1,64,0,[1200,11,30,0],[60],"Mist"]"#)
    #expect(imported.programs.map(\.name) == ["Mist", "Mist (2)"])
    #expect(imported.programs.map(\.days) == [.weekdays(64), .weekdays(1)])
    #expect(imported.programs[0].starts == (0..<8).map { .clock(minute: 1_200 + 30 * $0) })
    #expect(imported.programs[1].starts == (0..<4).map { .clock(minute: 30 * $0) })
    #expect(imported.lines == [.taken(path: "programs.pd[0]", 0..<2)])
    // Once, as the repetition has no interval.
    #expect(try openSprinkler(#"[1,1,0,[60,9,0,0],[60],"X"]"#).programs.map(\.starts) == [[.clock(minute: 60)]])
    // On odd days nothing says the day after.
    let odd = try openSprinkler(#"[5,127,0,[1430,1,20,0],[60],"X"]"#)
    #expect(odd.programs.map(\.starts) == [[.clock(minute: 1_430)]])
    #expect(left(odd)["programs.pd[0]"]?.contains("after midnight") == true)
    #expect(
      left(try openSprinkler(#"[1,1,0,[0,1000,1,0],[60],"X"]"#))["programs.pd[0]"]?.contains("more than 48 times")
        == true)
  }

  @Test(
    "OpenSprinkler, what no schedule can say is left with its path",
    arguments: [
      (#"[81,73,200,[60,-1,-1,-1],[60],"X"]"#, "programs.pd[0]", "single run"),
      (#"[97,15,0,[60,-1,-1,-1],[60],"X"]"#, "programs.pd[0]", "monthly, on day 15"),
      (#"[97,0,0,[60,-1,-1,-1],[60],"X"]"#, "programs.pd[0]", "the last day"),
      (#"[65,1,0,[-1,-1,-1,-1],[60],"X"]"#, "programs.pd[0]", "no start"),
      (#"[65,1,0,[60,-1,-1,-1],[0,0],"X"]"#, "programs.pd[0]", "no zone"),
      (#"[65,1,0,[1440,-1,-1,-1],[60],"X"]"#, "programs.pd[0][3][0]", "0…1439"),
      (#"[65,1,0,[32767,60,-1,-1],[60],"X"]"#, "programs.pd[0][3][0]", "at most 720"),
      (#"[65,1,0,[60,-1,-1,-1],[65535,60],"X"]"#, "programs.pd[0][4][0]", "sun to sun"),
      (#"[65,1,0,[60,-1,-1,-1],[60,-5],"X"]"#, "programs.pd[0][4][1]", "0…65535, got -5"),
      (#"[193,1,0,[60,-1,-1,-1],[60],"X",[1,33,94]]"#, "programs.pd[0][6][2]", "month"),
      (#"[300,1,0,[60,-1,-1,-1],[60],"X"]"#, "programs.pd[0][0]", "0…255"),
      (#"[1,127,0,360,1080,240,600,255]"#, "programs.pd[0]", "firmware 2.1"),
      (#"17"#, "programs.pd[0]", "got 17"),
    ])
  func impossible(_ program: String, _ path: String, _ reason: String) throws {
    let found = left(try openSprinkler(program))[path]
    #expect(found?.contains(reason) == true, "\(found ?? "nothing")")
  }

  @Test(
    "OpenSprinkler, master valves and disabled stations are left, names are plain and cut, settings are told with what says them here"
  )
  func surroundings() throws {
    let imported = try openSprinkler(
      #"[65,1,0,[60,-1,-1,-1],[60,60,60],"A\u001b[31m\u0000  "]"#, options: #"{"mas":2,"wl":80,"sdt":5,"sn1t":1}"#,
      stations: #"{"snames":["Lawn","",7,"\#(String(repeating: "n", count: 50))"],"stn_dis":[4],"ignore_rain":[1]}"#)
    #expect(imported.programs.map(\.steps) == [steps([1: 60])])
    #expect(imported.programs.map(\.name) == ["A [31m"])
    #expect(imported.zoneNames == [ZoneID(1)!: "Lawn", ZoneID(4)!: String(repeating: "n", count: 40)])
    #expect(
      left(imported).keys.sorted() == [
        "options.mas", "options.sdt", "options.sn1t", "options.wl", "programs.pd[0][4][1]", "programs.pd[0][4][2]",
        "stations.ignore_rain", "stations.snames[2]",
      ])
  }

  private static let sip = #"""
    {"enabled":1,"type":"alldays","day_mask":127,"interval_base_day":0,"start_min":360,"stop_min":1080,"cycle_min":240,
     "duration_sec":[600,300,0],"station_mask":[7],"name":"Beds"}
    """#

  @Test("SIP: starts from start to stop, each station's time or one for all, without the master valve")
  func sip() throws {
    let own = try read("[\(Self.sip)]", #"{"nst":8,"idd":1,"mas":2,"wl":100}"#, #"["S1","S2"]"#)
    #expect(own.programs.map(\.starts) == [[360, 600, 840].map { .clock(minute: $0) }])
    #expect(own.programs.map(\.steps) == [steps([1: 600])])
    #expect(own.programs.map(\.days) == [.weekdays(127)])
    #expect(own.zoneNames == [ZoneID(1)!: "S1", ZoneID(2)!: "S2"])
    let common = try read("[\(Self.sip)]", #"{"nst":8,"idd":0,"mas":0}"#)
    #expect(common.programs.map(\.steps) == [steps([1: 600, 2: 600, 3: 600])])
  }

  @Test("SIP: an interval counts days since 1970, with or without 128; odd and even days; what is impossible is left")
  func sipDays() throws {
    func program(_ members: String) -> String {
      let stop = members.contains("stop_min") ? "" : #""stop_min":61,"#
      let rest = #""cycle_min":0,"duration_sec":[60],"station_mask":[1],\#(members)"#
      return #"{"enabled":true,"start_min":60,\#(stop)\#(rest)}"#
    }
    let imported = try read(
      "["
        + [
          #""type":"interval","day_mask":2,"interval_base_day":3"#,
          #""type":"interval","day_mask":130,"interval_base_day":3"#,
          #""type":"evendays","day_mask":127"#, #""type":"odddays","day_mask":255"#, #""type":"odddays","day_mask":1"#,
          #""type":"interval","day_mask":9,"interval_base_day":3"#,
          #""type":"alldays","day_mask":127,"stop_min":60"#,
        ].map(program).joined(separator: ",") + ",[1,127,0,360,1080,240,600,255]]")
    guard case .interval(3, let from)? = imported.programs.first?.days else {
      Issue.record("\(imported.programs)")
      return
    }
    #expect(from.daysSince1970 % 3 == 2)
    #expect(
      imported.programs.map(\.days) == [.interval(days: 3, from: from), .interval(days: 3, from: from), .even, .odd])
    #expect(
      Set(left(imported).keys) == ["programs[4]", "programs[5].day_mask", "programs[6].stop_min", "programs[7]", "sd"])
  }

  @Test(
    "a file that is none of them says what was expected",
    arguments: [
      ("", "expected JSON"), ("[", "expected JSON"), ("7", "got 7"), (#"{"a":1}"#, "got an object"),
      (#"{"programs":{}}"#, "programs.pd: expected a list of programs, got nothing"), (#"["a"]"#, "programs.json"),
      (#"{"nst":8}"#, "programs.json"), ("[1]", "got a list of 1"),
    ])
  func notAnExport(_ text: String, _ reason: String) throws {
    let failure = #expect(throws: ImportFailure.self) { try read(text) }
    #expect(failure?.description.contains(reason) == true, "\(text): \(String(describing: failure))")
  }

  @Test("bounds: 1 MB, each kind once, 256 programs, 64 zones")
  func bounds() throws {
    let long = #expect(throws: ImportFailure.self) {
      try ImportedFile.decode(Array(repeating: 0x20, count: ImportedFile.longest + 1))
    }
    #expect(long == ImportFailure("expected at most 1 MB, got more"))
    #expect(throws: ImportFailure.self) { try read("[\(Self.sip)]", "[\(Self.sip)]") }
    let many = try read("[" + Array(repeating: Self.sip, count: 300).joined(separator: ",") + "]")
    #expect(many.programs.count == 256 && left(many)["programs"]?.contains("256 of 300") == true)
    let wide = try openSprinkler(
      #"[65,1,0,[60,-1,-1,-1],[\#(Array(repeating: "60", count: 72).joined(separator: ","))],"X"]"#)
    #expect(wide.programs.map(\.steps.count) == [64] && left(wide)["programs.pd[0][4][64]"] != nil)
  }
}
