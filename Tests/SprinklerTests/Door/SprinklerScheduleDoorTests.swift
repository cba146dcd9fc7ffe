import Foundation
import ServiceSupport
import Sprinkler
import Tactus
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon

@Suite("the sprinkler's schedules behind the door")
struct SprinklerScheduleDoorTests {
  @Test("a schedule: runs at its local time, one zone after the other, once; nextRun and preview say so before")
  func schedule() async throws {
    let bench = try SprinklerDoorBench()
    let made = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    #expect(made.status == .created)
    // On unless asked otherwise, and the answer says when it runs.
    let document = try made.object()
    #expect(document["isEnabled"] as? Bool == true && document["nextStartISO"] as? String == "2026-05-01T04:02:00Z")
    let next = try #require(try bench.status()["nextRun"] as? [String: Any])
    #expect(next["zoneId"] as? Int == 1 && next["startISO"] as? String == "2026-05-01T04:02:00Z")
    let preview = try await bench.json("GET", "/api/schedules/preview", query: ["count": "3"])
    let starts = try #require(preview["starts"] as? [[String: Any]])
    #expect(
      starts.map { $0["startLocal"] as? String } == [
        "2026-05-01T06:02:00+02:00", "2026-05-04T06:02:00+02:00", "2026-05-08T06:02:00+02:00",
      ])
    #expect(preview["isCut"] as? Bool == true)
    bench.run(seconds: 121)
    #expect(bench.isHigh(17) && !bench.isHigh(27))
    #expect(try bench.status()["activeZoneId"] as? Int == 1)
    bench.run(seconds: 61)
    #expect(!bench.isHigh(17) && bench.isHigh(27))
    bench.run(seconds: 600)
    #expect(!bench.isHigh(27))
    let log = try await bench.json("GET", "/api/log", query: ["order": "oldest"])
    let runs = try #require(log["runs"] as? [[String: Any]])
    #expect(runs.map { $0["zoneId"] as? Int } == [1, 2] && runs.map { $0["ranSec"] as? Double } == [60, 30])
    #expect(runs.allSatisfy { $0["isScheduled"] as? Bool == true && $0["scheduleName"] as? String == "Mornings" })
  }

  @Test(
    "a name with a letter that is not seen, or of more bytes than its characters may have: 422 that says what it is")
  func names() async throws {
    let bench = try SprinklerDoorBench()
    let marks = String(repeating: "a" + String(repeating: "\u{301}", count: 1_050), count: 20)
    for (name, flaw) in [("Mor\u{202E}nings", "U+202E"), ("\u{FEFF}Mornings", "U+FEFF"), (marks, "42020 bytes")] {
      let body = SprinklerDoorBench.mornings.replacingOccurrences(of: "Mornings", with: name)
      let error = await #expect(throws: APIError.self) { _ = try await bench.ask("POST", "/api/schedules", body) }
      #expect(error?.field == "name" && error?.message.hasSuffix("got \(flaw)") == true)
    }
    let gardener = SprinklerDoorBench.mornings.replacingOccurrences(of: "Mornings", with: "👩🏽‍🌾")
    #expect(try await bench.ask("POST", "/api/schedules", gardener).status == .created)
    let copy = try await bench.json("POST", "/api/schedules/1/duplicate")
    #expect(copy["name"] as? String == "👩🏽‍🌾 copy")
  }

  @Test("an alias that is not given stays, and null takes it away")
  func alias() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    let changes: [(String, String?)] = [
      (#"{"alias": "lawn"}"#, "lawn"), (#"{"priority": 2}"#, "lawn"), (#"{"alias": null}"#, nil),
    ]
    for (body, alias) in changes {
      let changed = try await bench.json("PUT", "/api/schedules/1", body)
      #expect(changed["alias"] as? String == alias)
    }
  }

  @Test(
    "the calendar: an event a start with a UID that stays, zones and times in it, cancelled in a rain delay; no line over 75 bytes"
  )
  func calendar() async throws {
    let bench = try SprinklerDoorBench()
    func calendar() async throws -> [String] {
      let answer = try await bench.ask("GET", "/api/sprinkler.ics", query: ["count": "2"])
      #expect(answer.contentType == "text/calendar; charset=utf-8")
      let text = String(decoding: answer.body, as: UTF8.self)
      let lines = text.components(separatedBy: "\r\n")
      #expect(lines.allSatisfy { $0.utf8.count <= 75 && !$0.contains("\n") } && lines.last == "")
      return text.replacingOccurrences(of: "\r\n ", with: "").components(separatedBy: "\r\n")
    }
    #expect(try await calendar().filter { $0.hasPrefix("BEGIN") } == ["BEGIN:VCALENDAR"])
    let name = "Beete; Hecke, \\ und was sonst noch wächst, äöüäöüäöü"
    let body = SprinklerDoorBench.mornings.replacingOccurrences(
      of: "Mornings", with: name.replacingOccurrences(of: "\\", with: #"\\"#))
    #expect(try await bench.ask("POST", "/api/schedules", body).status == .created)
    var lines = try await calendar()
    #expect(lines.filter { $0.hasPrefix("DTSTART") } == ["DTSTART:20260501T040200Z", "DTSTART:20260504T040200Z"])
    #expect(lines.filter { $0.hasPrefix("DTEND") } == ["DTEND:20260501T040330Z", "DTEND:20260504T040330Z"])
    let uids = lines.filter { $0.hasPrefix("UID") }
    #expect(uids == ["20260501T040200Z", "20260504T040200Z"].map { "UID:1-\($0)@\(HostRules.machineName)" })
    #expect(
      lines.contains(#"SUMMARY:Watering: Beete\; Hecke\, \\ und was sonst noch wächst\, äöüäöüäöü"#))
    #expect(lines.contains(#"DESCRIPTION:Front: 1:00 min\nBack: 0:30 min"#), "\(lines)")
    #expect(lines.filter { $0.hasPrefix("STATUS") } == ["STATUS:CONFIRMED", "STATUS:CONFIRMED"])
    _ = try await bench.ask("POST", "/api/rain-delay", #"{"hours":24}"#)
    lines = try await calendar()
    #expect(lines.filter { $0.hasPrefix("STATUS") } == ["STATUS:CANCELLED", "STATUS:CONFIRMED"])
    #expect(lines.filter { $0.hasPrefix("UID") } == uids)
  }

  @Test(
    "when a schedule next starts: beyond a rain delay that it heeds, later once it has started; never if it is off or has no zone"
  )
  func nextStart() async throws {
    let bench = try SprinklerDoorBench(hasLegacyRoutes: true)
    func next(_ id: Int) async throws -> String? {
      try await bench.json("GET", "/api/schedules/\(id)")["nextStartISO"] as? String
    }
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    _ = try await bench.ask("POST", "/api/rain-delay", #"{"hours":24}"#)
    #expect(try await next(1) == "2026-05-04T04:02:00Z")
    let wet = try await bench.json("PUT", "/api/schedules/1", #"{"skipIfRain":false}"#)
    #expect(wet["nextStartISO"] as? String == "2026-05-01T04:02:00Z")
    _ = try await bench.ask("DELETE", "/api/rain-delay")
    bench.run(seconds: 130)
    #expect(try await next(1) == "2026-05-04T04:02:00Z")
    let off = try await bench.json("PUT", "/api/schedules/1", #"{"isEnabled":false}"#)
    #expect(off["nextStartISO"] is NSNull)
    // Of the original's app, and from a file: on unless they say otherwise.
    let app = try await bench.json(
      "POST", "/api/schedules", #"{"id":"7F3A-1","duration":5,"start_time":"07:00","days":["Sat"]}"#)
    #expect(app["isEnabled"] as? Bool == true && app["nextStartISO"] as? String == "2026-05-02T05:00:00Z")
    let file = #"{"schedules":[\#(SprinklerDoorBench.mornings)]}"#
    let taken = try #require(
      try await bench.json("POST", "/api/schedules/import", file)["schedules"] as? [[String: Any]])
    #expect(
      taken.map { $0["isEnabled"] as? Bool } == [true] && taken[0]["nextStartISO"] as? String == "2026-05-04T04:02:00Z")
    _ = try await bench.ask("PUT", "/api/zones", #"[{"id":1,"isEnabled":false},{"id":2,"isEnabled":false},{"id":3}]"#)
    #expect(try await next(3) == nil, "no zone of its can open")
  }

  @Test("schedules: changed, copied, reordered, exported, imported, removed")
  func scheduleChanges() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    let changed = try await bench.json("PUT", "/api/schedules/1", #"{"isEnabled":false,"priority":3}"#)
    #expect(changed["isEnabled"] as? Bool == false && changed["name"] as? String == "Mornings")
    let copy = try await bench.json("POST", "/api/schedules/1/duplicate")
    #expect(copy["id"] as? Int == 2 && copy["name"] as? String == "Mornings copy" && copy["priority"] as? Int == 3)
    let ordered = try await bench.json("POST", "/api/schedules/reorder", #"{"ids":[2,1]}"#)
    #expect((ordered["schedules"] as? [[String: Any]])?.map { $0["id"] as? Int } == [2, 1])
    #expect(await bench.refusal("POST", "/api/schedules/reorder", "[1]")?.field == "ids")
    let export = try await bench.ask("GET", "/api/schedules/export").body
    let imported = try await bench.json(
      "POST", "/api/schedules/import", String(decoding: export, as: UTF8.self))
    #expect((imported["schedules"] as? [[String: Any]])?.map { $0["id"] as? Int } == [3, 4])
    _ = try await bench.ask("DELETE", "/api/schedules/1")
    #expect(await bench.refusal("GET", "/api/schedules/1")?.status == .notFound)
    #expect(await bench.refusal("PUT", "/api/schedules/2", #"{"id":3}"#)?.field == "id")
  }

  @Test(
    "a wrong schedule: the field, what was expected, what came",
    arguments: [
      (#"{"days":["Mon"],"startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#, "name"),
      (#"{"name":"x","startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#, "days"),
      (#"{"name":"x","days":["Mo"],"startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#, "days[0]"),
      (#"{"name":"x","days":["Mon"],"startTimes":["24:00"],"zones":[{"zoneId":1,"minutes":1}]}"#, "startTimes[0]"),
      (#"{"name":"x","days":["Mon"],"startTimes":[],"zones":[{"zoneId":1,"minutes":1}]}"#, "startTimes"),
      (#"{"name":"x","days":["Mon"],"startTimes":["6:00","06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#, "startTimes"),
      (#"{"name":"x","days":["Mon"],"startTimes":["06:00"],"zones":[{"zoneId":1}]}"#, "zones[0].minutes"),
      (#"{"name":"x","days":["Mon"],"startTimes":["06:00"],"zones":[{"zone":1,"minutes":1}]}"#, "zones[0].zoneId"),
      (
        #"{"name":"x","days":["Mon"],"dayParity":"odd","startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#,
        "days"
      ),
      (#"{"name":"x","intervalDays":2,"startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#, "intervalFrom"),
      (
        #"{"name":"x","intervalDays":2,"intervalFrom":"2200-01-01","startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":1}]}"#,
        "intervalFrom"
      ),
      (#"{"name":"x","days":["Mon"],"startTimes":["06:00"],"zones":[{"zoneId":9,"minutes":1}]}"#, "zones[0].zoneId"),
      (
        #"{"name":"x","days":["Mon"],"startTimes":["06:00"],"zones":[{"zoneId":1,"minutes":257}],"#
          + #""cycleAndSoak":{"cycleMinutes":1,"soakMinutes":0}}"#, "cycleAndSoak"
      ),
      (#"{"name":"x","days":["Mon"],"startTimes":["sunset"],"zones":[{"zoneId":1,"minutes":1}]}"#, "startTimes[0]"),
    ])
  func wrongSchedule(body: String, field: String) async throws {
    let bench = try SprinklerDoorBench()
    let error = await bench.refusal("POST", "/api/schedules", body)
    #expect(error?.status == .unprocessableContent && error?.field == field, "\(String(describing: error))")
    // A draft is refused in the same words.
    let ofDraft = await bench.refusal("POST", "/api/schedules/preview", body)
    #expect(ofDraft?.status == .unprocessableContent && ofDraft?.field == field)
    #expect(ofDraft?.message == error?.message)
  }

  @Test(
    "a draft beside the saved schedules or in the place of one: starts with level, rain and what they wait for; nothing is saved"
  )
  func draft() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    _ = try await bench.ask("PUT", "/api/seasonal", #"{"percent":50}"#)
    _ = try await bench.ask("POST", "/api/rain-delay", #"{"hours":24}"#)
    let before = bench.desk.view.records
    let beds = #"{"name":"Beds","days":["Fri","Mon"],"startTimes":["06:02"],"zones":[{"zoneId":3,"minutes":2}]}"#
    func look(_ body: String, _ query: [String: String]) async throws -> (
      answer: [String: Any], schedule: [String: Any], starts: [[String: Any]]
    ) {
      let answer = try await bench.json("POST", "/api/schedules/preview", body, query: query)
      return (
        answer, try #require(answer["schedule"] as? [String: Any]), try #require(answer["starts"] as? [[String: Any]])
      )
    }
    var found = try await look(beds, ["count": "4"])
    #expect(found.starts.map { $0["scheduleId"] as? Int } == [1, 2, 1, 2] && found.answer["isCut"] as? Bool == true)
    #expect(found.starts.map { $0["inRainDelay"] as? Bool } == [true, true, false, false])
    #expect(found.schedule["id"] as? Int == 2 && found.schedule["name"] as? String == "Beds")
    #expect(found.schedule["nextStartISO"] as? String == "2026-05-04T04:02:00Z")
    // Half of the minutes, after the 45 seconds of the schedule that starts with it.
    found = try await look(beds, ["count": "2", "only": "draft"])
    #expect(found.starts.map { $0["scheduleId"] as? Int } == [2, 2])
    let runs = found.starts.compactMap { ($0["runs"] as? [[String: Any]])?.first }
    #expect(runs.map { $0["skipped"] as? String } == ["rainDelay", nil])
    #expect(runs.last?["startISO"] as? String == "2026-05-04T04:02:45Z" && runs.last?["seconds"] as? Int == 60)
    let evenings =
      #"{"id":1,"name":"Evenings","dayParity":"even","startTimes":["20:00"],"zones":[{"zoneId":1,"minutes":1}]}"#
    found = try await look(evenings, ["count": "2"])
    #expect(
      found.starts.map { $0["startLocal"] as? String } == ["2026-05-02T20:00:00+02:00", "2026-05-04T20:00:00+02:00"])
    #expect(found.schedule["id"] as? Int == 1 && found.schedule["name"] as? String == "Evenings")
    #expect(bench.desk.view.records == before)
    let list = try #require(try await bench.json("GET", "/api/schedules")["schedules"] as? [[String: Any]])
    #expect(list.map { $0["name"] as? String } == ["Mornings"])
    let path = "/api/schedules/preview"
    let stranger = evenings.replacingOccurrences(of: #""id":1,"#, with: #""id":9,"#)
    #expect(await bench.refusal("POST", path, stranger)?.status == .notFound)
    #expect(await bench.refusal("POST", path, beds, query: ["only": "saved"])?.field == "only")
    let route = try #require(bench.door.routes.first { $0.path == path && $0.method.rawValue == "POST" })
    #expect(route.scope == .read && route.action == nil && route.onlyLooks)
  }

  @Test("64 zones, and no more: a list of 65 is refused as a whole")
  func manyZones() async throws {
    let bench = try SprinklerDoorBench()
    let before = bench.desk.view.records.zones
    let list = (1...65).map { #"{"id":\#($0),"name":"Zone \#($0)","gpioPin":\#(99 + $0)}"# }.joined(separator: ",")
    let refusal = await bench.refusal("PUT", "/api/zones", #"{"zones":[\#(list)]}"#)
    #expect(refusal?.field == "zones" && refusal?.message.contains("1…64") == true)
    #expect(bench.desk.view.records.zones == before)
  }

  @Test("256 schedules, and no more: the next is refused, an import that would exceed them is as a whole")
  func manySchedules() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    let list = "[" + Array(repeating: SprinklerDoorBench.mornings, count: 255).joined(separator: ",") + "]"
    _ = try await bench.ask("POST", "/api/schedules/import", list)
    let refusal = await bench.refusal("POST", "/api/schedules", SprinklerDoorBench.mornings)
    #expect(refusal?.message == "schedules: expected at most 256 in all, got 257")
    let ofDraft = await bench.refusal("POST", "/api/schedules/preview", SprinklerDoorBench.mornings)
    #expect(ofDraft?.message == refusal?.message)
    #expect(await bench.refusal("POST", "/api/schedules/import", list)?.field == "schedules")
    #expect(bench.desk.view.records.programs.map(\.id) == Array(1...256))
  }
}
