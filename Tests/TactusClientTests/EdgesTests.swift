import Foundation
import Testing

@testable import TactusClient

/// The events have the members that Tests/Service/recorded lists for them.
@Suite("Events that say a part of a state")
@MainActor
struct EdgesTests {
  private func connected(_ system: String, _ state: some Encodable, cache: (any StateCache)? = nil) async -> Bench {
    let bench = Bench(cache: cache)
    await bench.connect([system: json(state)])
    return bench
  }

  private static let driving = #"""
    {"state":"driving","reason":"driving by local client 9","wayOut":null,"speedsPercent":{"left":10,"right":10},
     "targetPercent":{"left":10,"right":10},"scaledTo":null,"forwardStop":null,"holder":{"source":"local client 9","ageMs":0},
     "emergencyStopped":false,"fault":null,"stopConfirmed":null,"ahead":null,"attitude":null,"balancing":null,
     "batteryPercent":null,"buzzing":null,"heightMm":null,"line":null,"panTilt":null}
    """#

  @Test("of the robot: what it says is shown at once, and what it does not say stays")
  func robot() async throws {
    let bench = await connected("robot", SampleStates.robot)
    await eventually("a robot") { bench.model.robot != nil }
    let robot = try #require(bench.model.robot)
    bench.say("robot", Self.driving, type: "robot")
    await eventually("it drives") { robot.state.state == .driving }
    #expect(robot.state.holder?.source == "local client 9" && robot.state.speedsPercent.left == 10)
    #expect(robot.state.stopConfirmed == nil && robot.state.settings == SampleStates.robot.settings)
    #expect(bench.model.problem == nil)
  }

  private func leg(_ index: Int, _ state: String) -> String {
    #"""
    {"index":\#(index),"name":"leg \#(index)","state":"\#(state)","reason":"now \#(state)","fault":null,"wayOut":null,"pulseUs":null,
     "targetUs":null,"positionless":true,"offConfirmed":true}
    """#
  }

  @Test("of a leg: that leg alone changes, and the worst of all is that of the legs")
  func legs() async throws {
    var two = SampleStates.legs
    two.legs.append(two.legs[0])
    two.legs[1].index = 1
    two.legs[1].name = "leg 1"
    let bench = await connected("leg", two)
    await eventually("legs") { bench.model.legs != nil }
    let legs = try #require(bench.model.legs)
    bench.say("leg", leg(1, "armed"), type: "leg")
    await eventually("armed") { legs.state.legs[1].state == .armed }
    #expect(legs.state.legs[0] == two.legs[0] && legs.state.state == .armed)
    #expect(legs.state.legs[1].reason == "now armed" && legs.state.legs[1].settings == two.legs[1].settings)
    bench.say("leg", leg(0, "fault"), type: "leg")
    await eventually("fault") { legs.state.legs[0].state == .fault }
    #expect(legs.state.legs[1].state == .armed && legs.state.state == .fault && bench.model.problem == nil)
  }

  @Test("of the pump, and of its connection, whose reason is not the pump's")
  func pump() async throws {
    let bench = await connected("pump", SampleStates.pump)
    await eventually("a pump") { bench.model.pump != nil }
    let pump = try #require(bench.model.pump)
    let off =
      #"{"state":"off","reason":"off (off not yet confirmed)","fault":null,"wayOut":"wait","offConfirmed":false,"source":"device"}"#
    bench.say("pump", off, type: "pump")
    await eventually("off") { pump.state.state == .off }
    #expect(pump.state.source == "device" && pump.state.waterCelsius == SampleStates.pump.waterCelsius && !pump.isOn)
    bench.say("pump", #"{"contact":"silent","reason":"connected, no longer heard"}"#, type: "pump.contact")
    await eventually("silent") { pump.state.contact == .silent }
    #expect(pump.state.reason == "off (off not yet confirmed)" && bench.model.problem == nil)
  }

  @Test("of the sprinkler: a zone, its own state and the rain, none of which undoes another")
  func sprinkler() async throws {
    let bench = await connected("sprinkler", SampleStates.sprinklerIdle)
    await eventually("a sprinkler") { bench.model.sprinkler != nil }
    let sprinkler = try #require(bench.model.sprinkler)
    bench.say("sprinkler", #"{"id":3,"isOn":true,"remainingSec":60}"#, type: "zone")
    bench.say("sprinkler", #"{"state":"watering","reason":"watering","wayOut":null}"#, type: "sprinkler.state")
    let rain = #"{"active":true,"until":"2026-11-30T20:01:00Z","reason":"manual","detail":null}"#
    bench.say("sprinkler", rain, type: "rain")
    await eventually("rain") { sprinkler.state.rainDelay.active }
    #expect(sprinkler.state.state == .watering && sprinkler.state.reason == "watering")
    #expect(sprinkler.state.zones.map(\.isOn) == [false, false, true] && sprinkler.state.zones[2].remainingSec == 60)
    #expect(sprinkler.state.rainDelay.reason == "manual" && sprinkler.state.zones[2].name == "Roses")
    bench.say("sprinkler", #"{"id":3,"isOn":false,"remainingSec":0}"#, type: "zone")
    let stopped = #"{"state":"emergencyStopped","reason":"emergency stop","wayOut":"reset"}"#
    bench.say("sprinkler", stopped, type: "sprinkler.state")
    await eventually("stopped") { sprinkler.state.state == .emergencyStopped }
    #expect(sprinkler.state.wayOut == "reset" && sprinkler.state.zones[2].remainingSec == nil && !sprinkler.isOn(3))
    #expect(sprinkler.state.rainDelay.active && bench.model.problem == nil)
  }

  @Test("of the camera; events of a system that say nothing of its state change nothing")
  func video() async throws {
    let bench = await connected("video", SampleStates.video)
    await eventually("a camera") { bench.model.video != nil }
    let video = try #require(bench.model.video)
    bench.say("video", #"{"detections":[]}"#, type: "detections")
    bench.say("video", #"{"state":"failed","reason":"no camera","wayOut":"plug it in"}"#, type: "video")
    await eventually("failed") { video.state.state == .failed }
    #expect(video.state.wayOut == "plug it in" && video.state.picture == SampleStates.video.picture)
    #expect(bench.model.problem == nil)
  }

  @Test("of a stranger's system: fields of its state, and nothing else")
  func declared() async throws {
    let bench = Bench()
    bench.daemon.answer("/api/systems", DeclaredTests.oven)
    await bench.connect(["oven": #"{"state":"off","celsius":21}"#])
    await eventually("an oven") { bench.model.declared.first != nil }
    let oven = try #require(bench.model.declared.first)
    bench.say("oven", #"{"state":"burnt"}"#, type: "oven.notice")
    bench.say("oven", #"{"celsius":90,"smell":"of bread"}"#, type: "oven")
    await eventually("hot") { oven["celsius"] == .number(90) }
    #expect(oven.values == ["state": .string("off"), "celsius": .number(90)])
  }

  @Test("what changes is asked for, and applies to what the second before said, not to what an event said since")
  func changes() async throws {
    let bench = await connected("robot", SampleStates.robot)
    await eventually("a robot") { bench.model.robot != nil }
    let robot = try #require(bench.model.robot)
    await eventually("asked for") { bench.daemon.socket?.texts == [#"{"type":"changes"}"#] }
    bench.say("robot", Self.driving, type: "robot")
    await eventually("it drives") { robot.state.state == .driving }
    bench.say("robot", #"{"changes":{"speedsPercent":{"left":5}}}"#, type: "changes")
    await eventually("the second") { robot.state.state == .stopped }
    #expect(robot.state.speedsPercent == RobotState.WheelSpeeds(left: 5, right: 0) && robot.state.holder == nil)
    #expect(bench.model.problem == nil)
  }

  @Test("of a list the items that have changed come by their index, and a list of another length whole")
  func lists() async throws {
    let bench = await connected("sprinkler", SampleStates.sprinkler)
    await eventually("a sprinkler") { bench.model.sprinkler != nil }
    let sprinkler = try #require(bench.model.sprinkler)
    let changes =
      #"{"changes":{"zones":{"1":{"isOn":true,"remainingSec":9},"7":{"isOn":true}},"queue":[],"queueCount":0}}"#
    bench.say("sprinkler", changes, type: "changes")
    await eventually("zone 2") { sprinkler.state.zones[1].isOn }
    #expect(sprinkler.state.zones.count == 3 && sprinkler.state.zones[1].name == "Back lawn")
    #expect(sprinkler.state.zones[0] == SampleStates.sprinkler.zones[0] && sprinkler.state.queue.isEmpty)
  }

  @Test("changes of a state that was not understood apply to that state, and not to the one that is shown")
  func wrong() async throws {
    let bench = await connected("pump", SampleStates.pump)
    await eventually("a pump") { bench.model.pump != nil }
    let pump = try #require(bench.model.pump)
    var other = SampleStates.pump
    other.source = "manual"
    let text = json(other).replacingOccurrences(of: #""speedPercent":70"#, with: #""speedPercent":"fast""#)
    bench.say("pump", text)
    await eventually("not understood") { bench.model.problem != nil }
    #expect(pump.state == SampleStates.pump)
    bench.say("pump", #"{"changes":{"speedPercent":40}}"#, type: "changes")
    await eventually("understood") { pump.state.speedPercent == 40 }
    #expect(pump.state.source == "manual")
  }

  @Test("a complete state is kept for the next start, also after an event, and none that was not understood")
  func kept() async throws {
    let cache = MemoryCache()
    let before = await connected("robot", SampleStates.robot, cache: cache)
    before.say("robot", Self.driving, type: "robot")
    await eventually("it drives") { before.model.robot?.state.state == .driving }
    before.say("pump", #"{"state":"off"}"#)
    await eventually("not understood") { before.model.problem != nil }
    before.model.stop()
    let after = Bench(cache: cache)
    after.model.start()
    #expect(after.model.robot?.state.state == .driving && after.model.pump == nil)
    #expect(after.model.robot?.state.settings == SampleStates.robot.settings)
    after.model.stop()
  }
}

/// A cache in memory.
private final class MemoryCache: StateCache, @unchecked Sendable {
  // `@unchecked Sendable`: `kept` is behind `lock`.
  private let lock = NSLock()
  private var kept: [String: Data] = [:]

  func load(_ endpoint: Endpoint) -> Data? { lock.withLock { kept[endpoint.keptAs] } }
  func save(_ data: Data, _ endpoint: Endpoint) { lock.withLock { kept[endpoint.keptAs] = data } }
}
