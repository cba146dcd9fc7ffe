import Foundation
import Robot
import ServiceSupport
import Tactus
import TestSupport
import Testing

@testable import RobotDaemon
@testable import Service
@testable import TactusDaemon

@Suite("the robot behind the door", .ownThread)
struct RobotDoorTests {
  private let drive = #"{"left":60,"right":-60}"#

  @Test("drive: the motors run in the release that the request brings, and only then is it answered")
  func driving() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 13)
    _ = bench.writes()
    let request = try await bench.post("drive", drive)
    bench.takeAnswers()
    #expect(bench.writes().isEmpty && bench.robot.holder == nil)
    bench.run(until: 14)
    #expect(bench.writes() == ["run 153 -153"])
    let response = try await request.value
    let body = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    #expect(body["ok"] as? Bool == true && body["verdict"] as? String == "accepted")
    #expect(body["state"] as? String == "driving" && body["monotonicNs"] as? Int == 13_000_000)
    #expect(response.logValue == "left=60 right=-60")
  }

  @Test("drive with the client's own time: an older one and the same one again are refused, and do not move the motors")
  func timestamps() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    var codes: [String?] = []
    for (step, (speed, time)) in [(60, 1000.2), (10, 1000.1), (20, 1000.2), (60, 1000.3)].enumerated() {
      let request = try await bench.post("drive", #"{"left":\#(speed),"right":0,"timestamp":\#(time)}"#)
      bench.run(until: 20 + Int64(step) * 10)
      codes.append(await request.refusal?.code)
    }
    #expect(codes == [nil, "OLDER", "DUPLICATE", nil])
    #expect(Set(bench.writes()).subtracting(["stop", "run 0 0"]) == ["run 153 0"])
  }

  @Test("lane stalled: NOT_TAKEN at the first beat a second later, and the stale drive never moves the motors")
  func notTaken() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    bench.stall(milliseconds: 3_000)
    bench.run(until: 60)
    _ = bench.writes()
    let request = try await bench.post("drive", drive)
    bench.run(until: 1_059)
    #expect(bench.door.requests.waitingCount == 1)
    bench.run(until: 1_060)
    #expect(bench.door.requests.waitingCount == 0)
    let error = try #require(await request.refusal)
    #expect(error.status == .serviceUnavailable && error.code == "NOT_TAKEN")
    bench.run(until: 6_000)
    #expect(bench.robot.at.nanoseconds > 5_900_000_000, "the lane is back")
    #expect(!bench.writes().contains { $0 != "stop" && $0 != "run 0 0" })
    #expect(bench.robot.counters.ignored(.stale) == 1)
  }

  @Test("lane stalled for less than a second: the drive that waited is refused as stale, a stop is obeyed")
  func stale() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    bench.stall(milliseconds: 400)
    bench.run(until: 60)
    let request = try await bench.post("drive", drive)
    let stop = try await bench.post("stop", from: .two)
    bench.run(until: 500)
    let error = try #require(await request.refusal)
    #expect(error.status == .conflict && error.code == "STALE")
    #expect(await stop.refusal == nil)
  }

  @Test("a stop overtakes a drive that had arrived before it: by HTTP at the door, by datagram in the loop")
  func overtaken() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 100)
    let at = { (milliseconds: Int64) in TickInstant(nanoseconds: milliseconds * 1_000_000) }
    let stop = try await bench.post("stop", from: .two.with(arrival: at(95)))
    bench.run(until: 110)
    #expect(await stop.refusal == nil)
    let handler = try bench.handler("drive")
    await #expect {
      try await handler(APIRequest(caller: .one.with(arrival: at(94)), body: Array(drive.utf8)))
    } throws: {
      ($0 as? APIError)?.code == "OVERTAKEN"
    }
    bench.udp(#"{"command":"stop"}"#)
    bench.run(until: 120)
    let late = try await bench.post("drive", drive, from: .one.with(arrival: at(100)))
    bench.run(until: 130)
    #expect(await late.refusal?.code == "STALE")
    #expect(!bench.writes().contains { $0 != "stop" && $0 != "run 0 0" })
    let new = try await bench.post("drive", drive, from: .one.with(arrival: at(125)))
    bench.run(until: 140)
    #expect(await new.refusal == nil)
  }

  @Test("lane stalled while a client goes on driving: BUSY, and the last places are for an emergency stop")
  func full() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    bench.stall(milliseconds: 600)
    bench.run(until: 60)
    let outcomes = Outcomes()
    for _ in 0..<60 {
      #expect(bench.door.receive(frame: Array(drive.utf8), from: .one) { outcomes.append($0) })
    }
    #expect(outcomes.words == Array(repeating: "BUSY", count: 12))
    for _ in 0..<48 { await bench.rung() }
    let emergency = Outcomes()
    let stop = Array(#"{"command":"estop","echo":1}"#.utf8)
    #expect(bench.door.receive(frame: stop, from: .two) { emergency.append($0) })
    bench.run(until: 800)
    #expect(emergency.words == [#"{"echo":1,"state":"estop","left":0,"right":0,"age_ms":null,"reason":null}"#])
    await bench.rung()
    #expect(bench.robot.isEmergencyStopped)
    let again = await bench.frame(drive)
    bench.run(until: 810)
    #expect(again.words == ["EMERGENCY_STOPPED"], "taken again")
  }

  @Test(
    "a hung loop's emergency stop counts from when it is asked for, whatever its client was told, until the loop goes on; a reset ends it"
  )
  func stopOfAHungLoop() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    bench.stall(milliseconds: 3_000)
    bench.run(until: 60)
    let stop = try await bench.post("e-stop")
    #expect(bench.door.isEmergencyStopped)
    bench.run(until: 1_500)
    #expect(await stop.refusal?.code == "NOT_TAKEN")
    #expect(bench.door.isEmergencyStopped && !bench.robot.isEmergencyStopped, "the loop hangs")
    bench.run(until: 4_000)
    #expect(bench.door.isEmergencyStopped && bench.robot.isEmergencyStopped)
    // For two seconds after a standstill a reset may be one that lay in a socket meanwhile.
    let early = try await bench.post("reset")
    bench.run(until: 4_100)
    #expect(await early.refusal?.code == "STALE" && bench.door.isEmergencyStopped)
    bench.run(until: 5_200)
    let reset = try await bench.post("reset")
    bench.run(until: 5_300)
    #expect(await reset.refusal == nil)
    #expect(!bench.door.isEmergencyStopped)
  }

  @Test("two clients fight: the first keeps control, the second is told so; after its silence the second drives")
  func fight() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 0)
    let first = try await bench.post("drive", drive, from: .one)
    bench.run(until: 20)
    let second = try await bench.post("drive", #"{"left":10,"right":10}"#, from: .two)
    bench.run(until: 30)
    #expect(await first.refusal == nil)
    let error = try #require(await second.refusal)
    #expect(error.status == .conflict && error.code == "NOT_IN_CONTROL")
    #expect(bench.robot.holder?.source == .local(1))
    bench.run(until: 1_100)
    let third = try await bench.post("drive", #"{"left":10,"right":10}"#, from: .two)
    bench.run(until: 1_110)
    #expect(await third.refusal == nil)
    #expect(bench.robot.holder?.source == .local(2))
  }

  @Test("a WebSocket client goes: the robot that it drove stops at once; another's drives on")
  func leaves() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 0)
    _ = await bench.frame(drive)
    bench.run(until: 10)
    _ = bench.writes()
    bench.door.clientLeft(.two)
    await bench.rung()
    bench.run(until: 20)
    #expect(bench.writes().isEmpty && bench.robot.holder?.source == .local(1))
    // Its last command is still under way.
    _ = await bench.frame(drive)
    bench.door.clientLeft(.one)
    await bench.rung()
    bench.run(until: 30)
    #expect(bench.writes() == ["stop", "run 0 0"])
  }

  enum Interface: CaseIterable { case rest, webSocketText, webSocketBinary, udp }

  @Test(
    "emergency stop from every interface: at once, latched against every other, until a reset",
    arguments: Interface.allCases)
  func emergencyStop(interface: Interface) async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 0)
    _ = await bench.frame(drive)
    bench.run(until: 10)
    _ = bench.writes()
    let door = bench.door
    switch interface {
    case .rest: _ = try await bench.post("e-stop", from: .two)
    case .webSocketText:
      Task { try await door.emergencyStop(.two) }
      await bench.rung()
    case .webSocketBinary: _ = await bench.frame(#"{"command":"estop"}"#, from: .two)
    case .udp: bench.udp(#"{"command":"estop"}"#)
    }
    bench.run(until: 15)
    #expect(bench.writes() == ["stop", "run 0 0"])
    #expect(bench.robot.isEmergencyStopped)

    let byREST = try await bench.post("drive", drive)
    let byFrame = await bench.frame(drive)
    bench.udp(drive)
    bench.run(until: 30)
    #expect(await byREST.refusal?.code == "EMERGENCY_STOPPED")
    #expect(byFrame.words == ["EMERGENCY_STOPPED"])
    #expect(!bench.writes().contains { $0 != "stop" && $0 != "run 0 0" })

    let early = try await bench.post("reset")
    bench.run(until: 60)
    #expect(await early.refusal?.code == "STICK_NOT_AT_ZERO")
    bench.run(until: 1_100)
    let reset = Task { try await door.reset(.one) }
    await bench.rung()
    bench.run(until: 1_110)
    try await reset.value
    #expect(bench.robot.state.description == "stopped: reset by local client 1")
    let again = Task { try await door.reset(.one) }
    await bench.rung()
    bench.run(until: 1_120)
    try await again.value
    let refused = try await bench.post("reset")
    bench.run(until: 1_130)
    #expect(await refused.refusal?.code == "NOTHING_TO_RESET")
  }

  @Test("frames: a reply for an echo as on UDP; a refusal without one is told; garbage is refused with its reason")
  func frames() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 0)
    let driven = await bench.frame(#"{"left":50,"right":3,"echo":7}"#)
    let refused = await bench.frame(#"{"left":10,"right":10,"echo":8}"#, from: .two)
    let silent = await bench.frame("30,30")
    let query = await bench.frame(#"{"command":"query","echo":9}"#, from: .two)
    bench.run(until: 1)
    let state = #""state":"driving","left":30,"right":30,"age_ms":0,"reason":"#
    #expect(driven.words == [#"{"echo":7,\#(state)null}"#])
    #expect(refused.words == [#"{"echo":8,\#(state)"not-controller"}"#])
    #expect(silent.words.isEmpty)
    #expect(query.words == [#"{"echo":9,\#(state)null}"#])
    let outcomes = Outcomes()
    for text in ["", "{", String(repeating: " ", count: 1025)] {
      #expect(bench.door.receive(frame: Array(text.utf8), from: .one) { outcomes.append($0) })
    }
    #expect(outcomes.words == ["BAD_DATAGRAM", "BAD_DATAGRAM", "BAD_DATAGRAM"])
    for frame: [UInt8] in [[1, 2, 3], [0x81, 1, 1, 0, 0]] {
      #expect(!bench.door.receive(frame: frame, from: .one) { _ in Issue.record("a leg frame is not the robot's") })
    }
  }

  @Test(
    "drive: a body that is none, a speed that is missing, too much or no number, is refused with its field",
    arguments: [
      ("", "BODY_MISSING", nil), ("{", "BAD_JSON", nil), ("[]", "VALIDATION", "body"),
      (#"{"left":1}"#, "VALIDATION", "right"), (#"{"left":101,"right":0}"#, "VALIDATION", "left"),
      (#"{"left":1,"right":true}"#, "VALIDATION", "right"), (#"{"left":"1","right":1}"#, "VALIDATION", "left"),
      (#"{"left":1,"right":1,"timestamp":"now"}"#, "VALIDATION", "timestamp"),
      (#"{"left":1,"right":1,"speed":1}"#, "VALIDATION", "speed"),
    ] as [(String, String, String?)])
  func badBodies(body: String, code: String, field: String?) async throws {
    let handler = try RobotDoorBench().handler("drive")
    let error = await #expect(throws: APIError.self) {
      try await handler(APIRequest(caller: .one, body: Array(body.utf8)))
    }
    #expect(error?.code == code && error?.field == field)
  }

  @Test("state: what drives, who controls it and since when, units in the names, unknown as null")
  func state() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 0)
    let before = bench.door.version
    _ = await bench.frame(drive)
    bench.run(until: 50)
    #expect(bench.door.version > before)
    let document = try bench.document()
    #expect(document["ok"] as? Bool == true && document["state"] as? String == "driving")
    #expect(document["monotonicNs"] as? Int == 50_000_000)
    #expect(document["speedsPercent"] as? [String: Double] == ["left": 60, "right": -60])
    #expect(document["targetPercent"] as? [String: Double] == ["left": 60, "right": -60])
    let holder = try #require(document["holder"] as? [String: Any])
    #expect(holder["source"] as? String == "local client 1" && holder["ageMs"] as? Double == 50)
    for key in ["wayOut", "fault", "stopConfirmed", "lastFailure", "lastMalformed"] {
      #expect(document[key] is NSNull, "\(key)")
    }
    #expect((document["settings"] as? [String: Any])?["failsafeTimeoutMs"] as? Double == 1000)
    let counters = try #require(document["counters"] as? [String: Any])
    #expect(counters["accepted"] as? Int == 1)
    #expect((counters["ignoredByReason"] as? [String: Int])?.count == 22)
    let state = try #require(try JSONSerialization.jsonObject(with: Data(bench.door.state)) as? [String: Any])
    #expect(state["ok"] == nil && state["state"] as? String == "driving")
  }

  @Test("events: the state at full seconds, telemetry between, changes as edges; none has a member of the envelope")
  func events() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 0)
    bench.bus.inject(.stuck)
    bench.run(until: 60)
    var events = bench.door.events(at: bench.now, second: true) + bench.door.events(at: bench.now, second: false)
    #expect(events.map(\.kind) == [.state, .telemetry])
    while let notice = bench.notices.pop() { events += [bench.door.edge(notice)].compactMap(\.self) }
    #expect(events.contains { $0.kind == .edge && $0.type == "robot" })
    #expect(events.contains { $0.kind == .edge && $0.type == "robot.motors" })
    for event in events {
      #expect(event.system == "robot")
      let body = try #require(try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
      for name in ["type", "system", "seq", "monotonicNs"] { #expect(body[name] == nil, "\(event.type): \(name)") }
    }
  }
}
