import Foundation
import Sprinkler
import Tactus
import Testing
import WallTime
import Water

@testable import Service
@testable import SprinklerDaemon

@Suite("the sprinkler behind the door")
struct SprinklerDoorTests {
  @Test("on: the pin is high before the answer, for exactly as long as asked, and low again")
  func on() async throws {
    let bench = try SprinklerDoorBench()
    let response = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":12}"#)
    let answer = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    #expect(answer["ok"] as? Bool == true && answer["isOn"] as? Bool == true && answer["remainingSec"] as? Int == 720)
    #expect(response.logFields == ["zoneId": "1", "minutes": "12", "pin": "17", "pinValue": "1"])
    #expect(bench.isHigh(17) && !bench.isHigh(27))
    bench.run(seconds: 719)
    #expect(bench.isHigh(17))
    bench.run(seconds: 1)
    #expect(!bench.isHigh(17))
    let log = try await bench.json("GET", "/api/log")
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    #expect(run["ranSec"] as? Double == 720 && run["outcome"] as? String == "completed")
    #expect(run["caller"] as? String == "one@10.0.0.7")
  }

  @Test(
    "an off overtakes an on of its zone that had arrived before: the on is void, in the store too; another zone's is not"
  )
  func offOvertakes() async throws {
    let bench = try SprinklerDoorBench()
    let (on, off) = (bench.now, bench.now + .milliseconds(30))
    _ = try await bench.ask("POST", "/api/zone/1/off", arrived: off)
    let refusal = await bench.refusal("POST", "/api/zone/1/on", #"{"minutes":12}"#, arrived: on)
    #expect(refusal?.status == .conflict && refusal?.code == "OVERTAKEN")
    bench.run(seconds: 5)
    #expect(!bench.isHigh(17))
    let pending = try bench.desk.store.records().pending
    #expect(pending.isEmpty)
    _ = try await bench.ask("POST", "/api/zone/2/on", #"{"minutes":12}"#, arrived: on)
    #expect(bench.isHigh(27))
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":12}"#, arrived: off + .milliseconds(1))
    #expect(bench.isHigh(17))
    _ = try await bench.ask("POST", "/api/stop", arrived: off + .milliseconds(9))
    let late = await bench.refusal("POST", "/api/zone/2/on", #"{"minutes":12}"#, arrived: off + .milliseconds(5))
    #expect(late?.code == "OVERTAKEN")
    #expect(!bench.isHigh(27))
  }

  /// Zone 1 is open, and the desk's thread has no turn from now on.
  private func wateringWithBusyDesk() async throws -> SprinklerDoorBench {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":12}"#)
    bench.run(seconds: 3)
    bench.isDeskBusy = true
    return bench
  }

  @Test("off, stop, skip: the run's end is on the disk before the answer, though the desk has not had its turn")
  func offIsKept() async throws {
    for path in ["/api/zone/1/off", "/api/stop", "/api/queue/skip"] {
      let bench = try await wateringWithBusyDesk()
      _ = try await bench.ask("POST", path)
      #expect(!bench.isHigh(17))
      #expect(try bench.desk.store.records().pending.isEmpty, "\(path)")
      let after = try bench.afterPowerCut()
      #expect(!after.isHigh(17), "\(path)")
    }
  }

  @Test("a store that has just begun to refuse: the valve is closed, and the answer says that the end is not kept")
  func offIsNotKept() async throws {
    for path in ["/api/zone/1/off", "/api/stop", "/api/queue/skip"] {
      let bench = try await wateringWithBusyDesk()
      try bench.sql("ALTER TABLE sprinkler_pending RENAME TO elsewhere")
      let done = try await bench.json("POST", path)
      #expect(!bench.isHigh(17))
      #expect((done["warning"] as? String)?.hasPrefix("the valve is closed; the store") == true, "\(path): \(done)")
    }
  }

  @Test("on again: set puts the end that far from now, extend adds; another zone closes the first")
  func setAndExtend() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":12}"#)
    bench.run(seconds: 60)
    let set = try await bench.json("POST", "/api/zone/1/on", #"{"seconds":90}"#)
    #expect(set["remainingSec"] as? Int == 90)
    let extended = try await bench.json("POST", "/api/zone/1/on", #"{"minutes":1,"mode":"extend"}"#)
    #expect(extended["remainingSec"] as? Int == 150)
    _ = try await bench.ask("POST", "/api/zone/2/on", #"{"minutes":1}"#)
    #expect(!bench.isHigh(17) && bench.isHigh(27))
  }

  @Test("extend while the master valve leads: adds to the run that is about to open")
  func extendWhileLeading() async throws {
    let bench = try SprinklerDoorBench(hasEverything: true, leadSeconds: 10)
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":12}"#)
    #expect(bench.isHigh(23) && !bench.isHigh(17))
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":3,"mode":"extend"}"#)
    bench.run(seconds: 11)
    #expect(bench.isHigh(17))
    bench.run(seconds: 890)
    #expect(bench.isHigh(17))
    bench.run(seconds: 9)
    #expect(!bench.isHigh(17))
  }

  @Test("an active-low line: low while the zone is on; /api/pins says the level")
  func activeLow() async throws {
    let bench = try SprinklerDoorBench()
    #expect(bench.isHigh(22))
    _ = try await bench.ask("POST", "/api/zone/3/on")
    #expect(!bench.isHigh(22))
    bench.run(seconds: 1)
    let pins = try #require(
      try JSONSerialization.jsonObject(with: Data(try await bench.ask("GET", "/api/pins").body)) as? [[String: Any]])
    #expect(pins.map { $0["pin"] as? Int } == [17, 27, 22] && pins.map { $0["value"] as? Int } == [0, 0, 0])
    #expect(pins[2]["mode"] as? String == "OUTPUT" && pins[2]["activeLow"] as? Bool == true)
  }

  @Test("a list of zones without one that a schedule waters: refused, with what the list does")
  func zoneLeftOut() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    let error = await bench.refusal("PUT", "/api/zones", #"[{"id":3}]"#)
    #expect(error?.field == "zones")
    let words = "waters, since the list replaces all zones and one that is left out is removed, got none"
    #expect(error?.message.hasSuffix(words) == true, "\(error?.message ?? "")")
    #expect(bench.desk.view.records.zones.count == 3)
  }

  @Test("refusals: 404 unknown, 403 disabled, 422 with its field, nothing written anywhere")
  func refusals() async throws {
    let bench = try SprinklerDoorBench()
    for id in ["0", "4", "x", "-1"] {
      #expect(await bench.refusal("POST", "/api/zone/\(id)/on")?.status == .notFound)
    }
    for (body, field) in [
      (#"{"minutes":0}"#, "minutes"), (#"{"minutes":"5"}"#, "minutes"), (#"{"minutes":121}"#, "minutes"),
      (#"{"minute":5}"#, "minute"), (#"{"minutes":1,"seconds":60}"#, "seconds"), (#"{"mode":"add"}"#, "mode"),
      (#"{"mode":"extend"}"#, "minutes"),
    ] {
      let error = await bench.refusal("POST", "/api/zone/1/on", body)
      #expect(error?.code == "VALIDATION" && error?.field == field, "\(body)")
    }
    let words = "expected at most 120 min (7200 s), the longest run of zone 1 (Front), got 121 min (7260 s)"
    for body in [#"{"minutes":121}"#, #"{"seconds":7260}"#] {
      let message = await bench.refusal("POST", "/api/zone/1/on", body)?.message
      #expect(message?.hasSuffix(words) == true, "\(message ?? "")")
    }
    _ = try await bench.ask("PUT", "/api/zones", #"[{"id":1},{"id":2,"isEnabled":false},{"id":3}]"#)
    let denied = await bench.refusal("POST", "/api/zone/2/on")
    #expect(denied?.status == .forbidden && denied?.code == "ZONE_DENY")
    let log = try await bench.json("GET", "/api/log")
    #expect((log["runs"] as? [Any])?.isEmpty == true && bench.desk.view.records.pending.isEmpty)
  }

  @Test("zones: a pin outside is ZONE_DENY, another zone's GPIO_BUSY, a running zone's GPIO_BUSY; the rest is kept")
  func zones() async throws {
    let bench = try SprinklerDoorBench()
    func put(_ body: String) async -> APIError? { await bench.refusal("PUT", "/api/zones", body) }
    #expect(await put(#"[{"id":1,"gpioPin":2}]"#)?.code == "ZONE_DENY")
    #expect(await put(#"[{"id":1,"gpioPin":5}]"#)?.code == "ZONE_DENY")
    let busy = await put(#"{"zones":[{"id":1,"gpioPin":27},{"id":2}]}"#)
    #expect(busy?.code == "GPIO_BUSY" && busy?.field == "zones[1].gpioPin")
    #expect(await put(#"[{"id":1},{"id":1}]"#)?.field == "zones[1].id")
    #expect(await put(#"[{"id":9}]"#)?.field == "zones[0].gpioPin")
    let wrong = await put(#"[{"id":1,"defaultMinute":3}]"#)
    #expect(wrong?.field == "zones[0].defaultMinute" && wrong?.message.contains("defaultMinutes?") == true)
    _ = try await bench.ask("POST", "/api/zone/1/on")
    #expect(await put(#"[{"id":1,"gpioPin":22},{"id":2},{"id":3,"gpioPin":17}]"#)?.code == "GPIO_BUSY")
    _ = try await bench.ask("POST", "/api/zone/1/off")
    // Two zones swap their pins.
    let swapped = try await bench.json(
      "PUT", "/api/zones",
      #"[{"id":1,"gpioPin":27,"name":"Lawn"},{"id":2,"gpioPin":17},{"id":3,"maxMinutesPerDay":30}]"#)
    let zones = try #require(swapped["zones"] as? [[String: Any]])
    #expect(zones.map { $0["gpioPin"] as? Int } == [27, 17, 22] && zones[0]["name"] as? String == "Lawn")
    #expect(zones[1]["name"] as? String == "Back" && zones[2]["maxMinutesPerDay"] as? Double == 30)
    _ = try await bench.ask("POST", "/api/zone/1/on")
    #expect(bench.isHigh(27) && !bench.isHigh(17))
  }

  @Test("what GET /api/zones gives, PUT takes")
  func roundTrip() async throws {
    let bench = try SprinklerDoorBench()
    let given = try await bench.ask("GET", "/api/zones").body
    _ = try await bench.ask("PUT", "/api/zones", String(decoding: given, as: UTF8.self))
    let taken = try await bench.json("GET", "/api/zones")
    let before = try JSONSerialization.jsonObject(with: Data(given)) as? NSDictionary
    #expect(before == taken as NSDictionary)
  }

  @Test("rain delay: what it suppresses is logged and never made up for; a zone by hand runs with a warning")
  func rain() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    let set = try await bench.json("POST", "/api/rain-delay", #"{"hours":24}"#)
    #expect((set["rainDelay"] as? [String: Any])?["until"] as? String == "2026-05-02T04:00:00Z")
    bench.run(seconds: 200)
    #expect(!bench.isHigh(17) && !bench.isHigh(27))
    let log = try await bench.json("GET", "/api/log")
    #expect((log["runs"] as? [[String: Any]])?.allSatisfy { $0["outcome"] as? String == "rainDelay" } == true)
    #expect((log["runs"] as? [Any])?.count == 2)
    let byHand = try await bench.json("POST", "/api/zone/1/on", #"{"minutes":1}"#)
    #expect((byHand["warning"] as? String)?.contains("rain delay") == true && bench.isHigh(17))
    _ = try await bench.ask("DELETE", "/api/rain-delay")
    bench.run(seconds: 300)
    let after = try await bench.json("GET", "/api/log")
    #expect((after["runs"] as? [Any])?.count == 3, "suppressed runs are not made up for")
  }

  @Test("rain delay, runs by hand denied: 423")
  func rainDenied() async throws {
    let bench = try SprinklerDoorBench(manualInRain: .deny)
    _ = try await bench.ask("POST", "/api/rain-delay")
    let refusal = await bench.refusal("POST", "/api/zone/1/on")
    #expect(refusal?.status.code == 423 && refusal?.code == "RAIN_DELAY" && !bench.isHigh(17))
  }

  @Test("e-stop: every valve closes, latched; on is refused until the reset")
  func emergencyStop() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on")
    _ = try await bench.ask("POST", "/api/sprinkler/e-stop")
    #expect(!bench.isHigh(17))
    #expect(await bench.refusal("POST", "/api/zone/1/on")?.code == "EMERGENCY_STOPPED")
    #expect(bench.desk.view.records.pending.isEmpty)
    _ = try await bench.ask("POST", "/api/sprinkler/reset")
    _ = try await bench.ask("POST", "/api/zone/1/on")
    #expect(bench.isHigh(17))
  }

  @Test(
    "whole numbers with a fraction of zero are taken wherever one is: 1.0 is zone 1; 1.5 is refused everywhere in the same words"
  )
  func wholeNumbers() async throws {
    let routes: [(method: String, path: String, before: String, after: String, field: String)] = [
      ("PUT", "/api/zones", #"[{"id":"#, #","name":"Roses"}]"#, "zones[0].id"),
      ("POST", "/api/run-once", #"{"zones":[{"zoneId":"#, #","minutes":5.0}]}"#, "zones[0].zoneId"),
      ("POST", "/api/queue", #"{"zones":[{"zoneId":"#, #","seconds":60.0}],"position":"insert"}"#, "zones[0].zoneId"),
      (
        "POST", "/api/schedules",
        #"{"name":"M","days":["Mon"],"priority":1.0,"startTimes":["06:00"],"zones":[{"zoneId":"#, #","minutes":5}]}"#,
        "zones[0].zoneId"
      ),
    ]
    for route in routes {
      let bench = try SprinklerDoorBench()
      _ = try await bench.ask(route.method, route.path, route.before + "1.0" + route.after)
      for number in ["1.5", "0.0", "65.0"] {
        let refusal = await bench.refusal(route.method, route.path, route.before + number + route.after)
        #expect(
          refusal?.code == "VALIDATION"
            && refusal?.message.contains(": expected an integer 1…64, got \(number)") == true, "\(route.path)")
        #expect(
          refusal?.field?.hasSuffix(route.field.split(separator: ".").last!) == true, "\(String(describing: refusal))")
      }
    }
  }

  @Test("minutes: 0.02 is a second, less is refused; a second is shown as what may be sent back")
  func fewestMinutes() async throws {
    let bench = try SprinklerDoorBench()
    for minutes in ["0.01", "0.019", "0", "-1"] {
      let refusal = await bench.refusal("POST", "/api/zone/1/on", #"{"minutes":\#(minutes)}"#)
      #expect(refusal?.message == "minutes: expected minutes, 0.02…1440, got \(minutes)")
    }
    let response = try await bench.ask("POST", "/api/zone/1/on", #"{"minutes":0.02}"#)
    #expect(response.logFields["minutes"] == "0.02")
    #expect(1.inMinutes == 0.02 && 0.inMinutes == 0 && 2.inMinutes > 0.03 && WateringTime.text(30) == "0.5")
  }

  @Test("queue: run once, insert, skip, pause, resume, clear")
  func queue() async throws {
    let bench = try SprinklerDoorBench()
    let made = try await bench.json(
      "POST", "/api/run-once", #"{"zones":[{"zoneId":1,"minutes":1},{"zoneId":2,"minutes":1}]}"#)
    #expect((made["runIds"] as? [Any])?.count == 2 && bench.isHigh(17))
    _ = try await bench.ask("POST", "/api/queue", #"{"zones":[{"zoneId":3,"minutes":1}],"position":"insert"}"#)
    let queue = try await bench.json("GET", "/api/queue")
    #expect((queue["queue"] as? [[String: Any]])?.map { $0["zoneId"] as? Int } == [3, 2])
    _ = try await bench.ask("POST", "/api/queue/skip")
    bench.run(seconds: 1)
    #expect(!bench.isHigh(17) && !bench.isHigh(22), "active low: open")
    bench.run(seconds: 19)
    let paused = try await bench.json("POST", "/api/pause", #"{"minutes":5}"#)
    #expect(paused["state"] as? String == "paused" && bench.isHigh(22))
    bench.run(seconds: 100)
    _ = try await bench.ask("POST", "/api/resume")
    bench.run(seconds: 1)
    #expect(!bench.isHigh(22))
    _ = try await bench.ask("DELETE", "/api/queue")
    bench.run(seconds: 120)
    #expect(bench.isHigh(22) && !bench.isHigh(27))
    let log = try await bench.json("GET", "/api/log", query: ["zone": "3"])
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    #expect(run["ranSec"] as? Double == 60 && run["outcome"] as? String == "completed", "pauses do not count")
  }

  @Test("status: the requirement's members at the top, of the requirement's types")
  func statusDocument() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/3/on", #"{"minutes":9}"#)
    let status = try bench.status()
    #expect(status["activeZoneId"] as? Int == 3 && status["activeRemainingSec"] as? Int == 540)
    #expect(status["nextRun"] is NSNull && status["pigpioConnected"] as? Bool == true)
    let rain = try #require(status["rainDelay"] as? [String: Any])
    #expect(rain["active"] as? Bool == false && rain["until"] is NSNull)
    let zone = try #require((status["zones"] as? [[String: Any]])?.last)
    #expect(
      zone["id"] as? Int == 3 && zone["name"] as? String == "Beds" && zone["gpioPin"] as? Int == 22
        && zone["isEnabled"] as? Bool == true && zone["isOn"] as? Bool == true && zone["defaultMinutes"] as? Int == 10)
    #expect(status["latencyMs"] as? Int == 0)
  }

  @Test("what remains is computed when it is asked for, however old the loop's snapshot is")
  func remainingIsNow() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/3/on", #"{"minutes":9}"#)
    _ = try await bench.ask("POST", "/api/queue", #"{"zones":[{"zoneId":1,"minutes":1}]}"#)
    let newest = bench.desk.newest
    func wait() -> Int? { bench.desk.seen().queue.first?.inSec }
    let before = try #require(wait())
    bench.passTime(.milliseconds(3_500))
    #expect(bench.desk.newest.at == newest.at, "the loop has published nothing since")
    let status = try bench.status()
    #expect(status["activeRemainingSec"] as? Int == 537)
    let zone = try #require((status["zones"] as? [[String: Any]])?.last)
    #expect(zone["remainingSec"] as? Int == 537)
    let event = try #require(bench.door.events(at: bench.desk.now, second: true).first { $0.type == "zone" })
    #expect(try object(event)["remainingSec"] as? Int == 537)
    #expect(wait().map { (3...4).contains(before - $0) } == true)
  }

  @Test("one number: whatever time passes while a document is made, it shows every countdown at one instant")
  func oneNumber() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/3/on", #"{"minutes":9}"#)
    bench.passTime(.milliseconds(600))
    // Each look at the clock is 0.4 s later than the last.
    bench.timePassesByLooking(.milliseconds(400))
    for _ in 0..<20 {
      let status = try bench.status()
      let zone = try #require((status["zones"] as? [[String: Any]])?.last)
      #expect(status["activeRemainingSec"] as? Int == zone["remainingSec"] as? Int)
    }
  }

  @Test("a valve that stays on: state and event name its zone by number and name, with the way out")
  func stuckValve() async throws {
    let bench = try SprinklerDoorBench()
    bench.bank.inject(.stuck(line: 22, isHigh: false))
    bench.run(seconds: 3)
    let words = "zone 3 (Beds) is on although told to be off"
    let event = try object(try #require(bench.edges.first { $0.type == "sprinkler.state" }))
    #expect(event["reason"] as? String == "fault: \(words)")
    #expect(event["wayOut"] as? String == "close the main tap, and reset when it is off")
    let state = try await bench.json("GET", "/api/sprinkler")
    #expect(state["fault"] as? String == words && state["reason"] as? String == "fault: \(words)")
    #expect(state["wayOut"] as? String == "close the main tap, and reset when it is off")
    let line = try #require(state["faultLine"] as? [String: Any])
    #expect(line["line"] as? Int == 3 && line["pin"] as? Int == 22 && line["zoneId"] as? Int == 3)
    #expect(line["isOn"] as? Bool == true && line["isMaster"] as? Bool == false)
    #expect((state["linesDiffering"] as? [[String: Any]])?.map { $0["zoneId"] as? Int } == [3])
  }

  @Test("a fault of a line whose level is right again: the state says what was, and the line's numbers stay")
  func valveThatWasStuck() async throws {
    let bench = try SprinklerDoorBench()
    bench.bank.inject(.stuck(line: 22, isHigh: false))
    bench.run(seconds: 3)
    bench.bank.clearFaults()
    bench.run(seconds: 3)
    let state = try await bench.json("GET", "/api/sprinkler")
    #expect(state["fault"] as? String == "zone 3 (Beds) was on although told to be off")
    #expect((state["faultLine"] as? [String: Any])?["zoneId"] as? Int == 3)
    #expect((state["linesDiffering"] as? [Any])?.isEmpty == true && state["wayOut"] as? String == "reset")
  }

  @Test("a flow alarm: state, event and log name its zone by number and name")
  func flowAlarm() async throws {
    var rules = Sprinkler.Rules()
    (rules.noFlow, rules.settleSeconds) = (1, 2)
    let bench = try SprinklerDoorBench(hasEverything: true, rules: rules)
    _ = try await bench.ask("POST", "/api/zone/3/on", #"{"minutes":12}"#)
    bench.run(seconds: 10)
    let words = "zone 3 (Beds) is open and no water flows"
    let state = try await bench.json("GET", "/api/sprinkler")
    #expect(state["fault"] as? String == words && state["reason"] as? String == "fault: \(words)")
    #expect((state["flow"] as? [String: Any])?["alarm"] as? String == words)
    let events = try bench.edges.filter { ["flow", "sprinkler.state"].contains($0.type) }.map { try object($0) }
    #expect(events.contains { $0["alarm"] as? String == words })
    #expect(events.contains { $0["reason"] as? String == "fault: \(words)" })
    let lines = bench.desk.lines
    #expect(StateSeen(.fault(.flow(.noFlow(ZoneID(3)!))), lines).logged == "fault: \(words)")
    #expect(lines.text(of: .highFlow(ZoneID(3)!)) == "zone 3 (Beds) is open and too much water flows")
    #expect(lines.text(of: .highFlow(ZoneID(9)!)) == "zone 9 is open and too much water flows")
  }

  @Test("an emergency stop while a valve stays on says so")
  func stuckInEmergencyStop() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/3/on", #"{"minutes":12}"#)
    bench.bank.inject(.stuck(line: 22, isHigh: false))
    _ = try await bench.ask("POST", "/api/sprinkler/e-stop")
    bench.run(seconds: 1)
    let state = try await bench.json("GET", "/api/sprinkler")
    #expect(state["reason"] as? String == "emergency stop; zone 3 (Beds) is on although told to be off")
    #expect(state["faultLine"] is NSNull)
  }

  @Test("events: a zone's edges, its countdown once a second, the rain delay's edges")
  func events() async throws {
    let bench = try SprinklerDoorBench()
    _ = bench.door.events(at: bench.desk.now, second: false)
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"seconds":10}"#)
    let opened = try object(try #require(bench.edges.first { $0.type == "zone" }))
    #expect(opened["id"] as? Int == 1 && opened["isOn"] as? Bool == true && opened["remainingSec"] as? Int == 10)
    bench.run(seconds: 1)
    let second = bench.door.events(at: bench.desk.now, second: true).filter { $0.type == "zone" }
    let remaining = try object(try #require(second.first))["remainingSec"] as? Int
    #expect(second.count == 1 && (9...10).contains(remaining ?? 0))
    bench.run(seconds: 12)
    let closed = try object(try #require(bench.edges.last { $0.type == "zone" }))
    #expect(closed["isOn"] as? Bool == false && closed["remainingSec"] as? Int == 0)
    #expect(bench.door.events(at: bench.desk.now, second: true).allSatisfy { $0.type != "zone" })
    _ = try await bench.ask("POST", "/api/rain-delay")
    let rain = try #require(bench.door.events(at: bench.desk.now, second: false).first { $0.type == "rain" })
    #expect(try object(rain)["active"] as? Bool == true)
    #expect(bench.door.events(at: bench.desk.now, second: false).allSatisfy { $0.type != "rain" })
  }

  @Test(
    "a countdown: every number once, when it is reached, whether or not the loop has published since and however the beats lie"
  )
  func countdown() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"seconds":5}"#)
    #expect(bench.edges.contains { $0.type == "zone" })
    var told: [Int] = []
    for beat in 0..<56 {
      bench.passTime(.milliseconds(beat % 7 == 0 ? 190 : 85))
      for event in bench.door.events(at: bench.desk.now, second: beat % 10 == 0) where event.type == "zone" {
        told.append(try #require(try object(event)["remainingSec"] as? Int))
      }
    }
    // The last beats are past the end, and the loop, which stands still here, has not closed the valve.
    #expect(told == [4, 3, 2, 1])
  }

  @Test("the power fails while a zone is on: the rest of its time runs after the start, schedules are still there")
  func powerCut() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/schedules", SprinklerDoorBench.mornings)
    _ = try await bench.ask("POST", "/api/zone/3/on", #"{"minutes":10}"#)
    // Half way between two notes, which come every 10 s.
    bench.run(seconds: 65)
    let next = try bench.afterPowerCut(seconds: 30)
    next.run(seconds: 1)
    #expect(!next.isHigh(22), "active low: open again")
    let left = try #require(try next.status()["activeRemainingSec"] as? Int)
    #expect((525...528).contains(left), "60 s were noted, 12 s more are charged, and 1 s has passed: \(left)")
    let schedules = try await next.json("GET", "/api/schedules")
    #expect((schedules["schedules"] as? [Any])?.count == 1)
  }

  @Test("paused, then the power fails: what ran until the pause is charged, and not the pause")
  func powerCutInPause() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("POST", "/api/zone/1/on", #"{"seconds":60}"#)
    bench.run(seconds: 3)
    _ = try await bench.ask("POST", "/api/pause", #"{"minutes":5}"#)
    bench.run(seconds: 1)
    let next = try bench.afterPowerCut(seconds: 5)
    next.run(seconds: 1)
    let left = try #require(try next.status()["activeRemainingSec"] as? Int)
    #expect((55...57).contains(left), "3 s had run, and 1 s has passed: \(left)")
  }

  @Test("the original's routes: its names, its codes")
  func legacy() async throws {
    let bench = try SprinklerDoorBench(manualInRain: .deny, hasLegacyRoutes: true)
    _ = try await bench.ask("POST", "/zone/on/1", #"{"minutes":5}"#)
    #expect(bench.isHigh(17))
    // One that is open gets that time from now.
    #expect(try await bench.json("POST", "/zone/on/1", #"{"minutes":7}"#)["remainingSec"] as? Int == 420)
    #expect(await bench.refusal("POST", "/zone/on/9")?.status == .badRequest)
    #expect(await bench.refusal("POST", "/api/pin/4/on")?.status == .notFound)
    _ = try await bench.ask("POST", "/api/pin/17/off")
    #expect(!bench.isHigh(17))
    _ = try await bench.ask("POST", "/rain-lock", #"{"hours":2}"#)
    #expect(await bench.refusal("POST", "/api/pin/27/on")?.status.code == 423)
    let status = try await bench.json("GET", "/status")
    #expect((status["rain"] as? [String: Any])?["is_active"] as? Bool == true)
    #expect((status["pins"] as? [[String: Any]])?.map { $0["pin"] as? Int } == [17, 27, 22])
    let original =
      #"{"id":"7F3","name":"Lawn","duration":10,"start_time":"06:30","days":["Mon","Sun"],"is_enabled":true,"#
      + #""sequence":[{"pin":27},{"pin":17,"duration":5}]}"#
    let made = try await bench.json("POST", "/api/schedules", original)
    #expect(made["id"] as? Int == 1 && made["startTimes"] as? [String] == ["06:30"])
    #expect((made["zones"] as? [[String: Any]])?.map { $0["zoneId"] as? Int } == [2, 1])
    #expect((made["zones"] as? [[String: Any]])?.map { $0["minutes"] as? Double } == [10, 5])
    let changed = try await bench.json(
      "PUT", "/api/schedules/1", original.replacing("Lawn", with: "Beds").replacing("true", with: "false"))
    #expect(changed["name"] as? String == "Beds" && changed["isEnabled"] as? Bool == false)
    let shown = try #require((try await bench.json("GET", "/status")["schedules"] as? [[String: Any]])?.first)
    #expect(shown["start_time"] as? String == "06:30" && shown["duration"] as? Int == 15)
    let wrong = await bench.refusal("POST", "/api/schedules", original.replacing("\"pin\":17", with: "\"pin\":4"))
    #expect(wrong?.field == "sequence[1].pin")
    #expect(try await SprinklerDoorBench().refusal("POST", "/api/schedules", original)?.field == "startTimes")
    #expect(try SprinklerDoorBench().door.routes.allSatisfy { !$0.path.hasPrefix("/zone") && $0.path != "/status" })
  }

  @Test("the seasonal level: shown and set; monthly ones go before it")
  func seasonal() async throws {
    let bench = try SprinklerDoorBench()
    _ = try await bench.ask("PUT", "/api/seasonal", #"{"percent":50}"#)
    #expect(try await bench.json("GET", "/api/seasonal")["effectivePercent"] as? Int == 50)
    let months = (1...12).map(String.init).joined(separator: ",")
    let set = try await bench.json("PUT", "/api/seasonal", #"{"monthlyPercent":[\#(months)]}"#)
    #expect(set["effectivePercent"] as? Int == 5 && set["percent"] as? Int == 50)
    #expect(await bench.refusal("PUT", "/api/seasonal", #"{"monthlyPercent":[1,2]}"#)?.field == "monthlyPercent")
  }

  @Test("the log: pages follow one another, and CSV comes in pieces")
  func log() async throws {
    let bench = try SprinklerDoorBench()
    for _ in 0..<3 {
      _ = try await bench.ask("POST", "/api/zone/1/on", #"{"seconds":1}"#)
      bench.run(seconds: 2)
    }
    let first = try await bench.json("GET", "/api/log", query: ["limit": "2"])
    let next = try #require(first["next"] as? String)
    let second = try await bench.json("GET", "/api/log", query: ["limit": "2", "after": next])
    #expect((second["runs"] as? [Any])?.count == 1 && second["next"] is NSNull)
    #expect(await bench.refusal("GET", "/api/log", query: ["after": "x"])?.field == "after")
    #expect(await bench.refusal("GET", "/api/log", query: ["since": "yesterday"])?.field == "since")
    let csv = try await bench.ask("GET", "/api/log.csv")
    var text = ""
    while let piece = try await csv.pieces?() { text += String(decoding: piece, as: UTF8.self) }
    #expect(text.split(separator: "\r\n").count == 4 && text.contains("+02:00"))
  }

  private func object(_ event: Event) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
  }
}
