import Foundation
import Testing

@testable import TactusClient

@Suite("Models of systems")
@MainActor
struct SystemModelTests {
  private func sprinkler() async throws -> (Bench, SprinklerModel) {
    let bench = Bench()
    await bench.connect(["sprinkler": json(SampleStates.sprinkler)])
    await eventually("a sprinkler") { bench.model.sprinkler != nil }
    return (bench, try #require(bench.model.sprinkler))
  }

  @Test("a zone that is opened: shown as open at once, until the daemon says so, and sent once")
  func opened() async throws {
    let (bench, sprinkler) = try await sprinkler()
    let gate = bench.daemon.hold("/api/zone/2/on")
    #expect(!sprinkler.isOn(2))
    let water = Task { try await sprinkler.water(2, minutes: 3) }
    await eventually("asked") { bench.daemon.requests("/api/zone/2/on").count == 1 }
    #expect(sprinkler.isOn(2) && !sprinkler.state.zones[1].isOn)
    // A state from before the command changes nothing that is shown.
    bench.say("sprinkler", json(SampleStates.sprinkler))
    await gate.open()
    try await water.value
    #expect(sprinkler.isOn(2))
    #expect(bench.daemon.requests("/api/zone/2/on").first?.body == Data(#"{"minutes":3}"#.utf8))
    bench.daemon.socket?.say(
      #"{"type":"zone","system":"sprinkler","seq":2,"monotonicNs":1,"id":2,"isOn":true,"remainingSec":180}"#)
    await eventually("the daemon says so") { sprinkler.state.zones[1].isOn }
    bench.daemon.socket?.say(
      #"{"type":"zone","system":"sprinkler","seq":3,"monotonicNs":1,"id":2,"isOn":false,"remainingSec":0}"#)
    await eventually("what was asked for has come true: the daemon is believed again") { !sprinkler.isOn(2) }
    #expect(bench.daemon.requests("/api/zone/2/on").count == 1)
  }

  @Test("a zone that the daemon refuses to open is shown as it is, at once")
  func refused() async throws {
    let (bench, sprinkler) = try await sprinkler()
    bench.daemon.answer("/api/zone/2/on", 423, #"{"ok":false,"code":"RAIN_DELAY","message":"it rains"}"#)
    await #expect(throws: ClientError.refused(Refusal(status: 423, code: "RAIN_DELAY", message: "it rains"))) {
      try await sprinkler.toggle(2)
    }
    #expect(!sprinkler.isOn(2))
  }

  @Test("a zone that was opened and that the daemon never shows as open: closed after 3 s")
  func never() async throws {
    let (bench, sprinkler) = try await sprinkler()
    try await sprinkler.water(2)
    #expect(sprinkler.isOn(2))
    await eventually("the expectation waits") { bench.clock.deadlines.contains(.seconds(3)) }
    bench.clock.jump(by: .seconds(3))
    bench.clock.advanceToNext()
    await eventually("closed") { !sprinkler.isOn(2) }
    #expect(bench.clock.now == .seconds(3))
  }

  @Test(
    "a daemon that does not answer: 3 s after the press the switch shows what is reported, while the request goes on")
  func frozen() async throws {
    let (bench, sprinkler) = try await sprinkler()
    let gate = bench.daemon.hold("/api/zone/1/off")
    let close = Task { try await sprinkler.toggle(1) }
    await eventually("asked") { bench.daemon.requests("/api/zone/1/off").count == 1 }
    #expect(!sprinkler.isOn(1))
    await eventually("the expectation waits") { bench.clock.deadlines.contains(.seconds(3)) }
    bench.clock.jump(by: .seconds(3))
    bench.clock.advanceToNext()
    await eventually("the water may run") { sprinkler.isOn(1) }
    await gate.open()
    try await close.value
    #expect(sprinkler.isOn(1))
  }

  @Test("an open zone is closed by the switch, which is tried again while the daemon is not reached")
  func closed() async throws {
    let (bench, sprinkler) = try await sprinkler()
    bench.daemon.answer("/api/zone/1/off") { _ throws(ClientError) in throw .unreachable("gone") }
    let close = Task { try await sprinkler.toggle(1) }
    await eventually("a wait") { bench.clock.deadlines.contains(.seconds(0.75)) }
    #expect(!sprinkler.isOn(1))
    bench.daemon.answer("/api/zone/1/off", #"{"ok": true}"#)
    bench.clock.advanceToNext()
    try await close.value
    #expect(bench.daemon.requests("/api/zone/1/off").count == 2)
  }

  @Test("a speed that is dragged: one request at a time, and the last has the newest value")
  func dragged() async throws {
    let bench = Bench()
    await bench.connect(["pump": json(SampleStates.pump)])
    await eventually("a pump") { bench.model.pump != nil }
    let pump = try #require(bench.model.pump)
    let gate = bench.daemon.hold("/api/pump/speed")
    let first = Task { try await pump.setSpeed(percent: 10) }
    await eventually("asked") { bench.daemon.requests("/api/pump/speed").count == 1 }
    for percent in [20, 30, 40] { try await pump.setSpeed(percent: percent) }
    #expect(bench.daemon.requests("/api/pump/speed").count == 1 && pump.speedPercent == 10)
    await gate.open()
    try await first.value
    let bodies = bench.daemon.requests("/api/pump/speed").map { String(decoding: $0.body ?? Data(), as: UTF8.self) }
    #expect(bodies == [#"{"speedPercent":10}"#, #"{"speedPercent":40}"#] && pump.speedPercent == 40)
    await #expect(throws: ClientError.invalid(field: "speedPercent", message: "expected 0…100 percent, got 101")) {
      try await pump.setSpeed(percent: 101)
    }
  }

  @Test("a leg that was armed here is fed three times within its deadman, until it is disarmed")
  func fed() async throws {
    let bench = Bench()
    await bench.connect(["leg": json(SampleStates.legs)])
    await eventually("legs") { bench.model.legs != nil }
    let (legs, socket) = (try #require(bench.model.legs), try #require(bench.daemon.socket))
    try await legs.arm(0)
    let ping = Data([0x80, 0x01, 0x04, 0x00, 0x00])
    for count in 1...4 {
      await eventually("ping \(count)") { socket.frames == Array(repeating: ping, count: count) }
      await eventually("the next is due") { bench.clock.deadlines.first == .milliseconds(66 * count) }
      bench.clock.advanceToNext()
    }
    try await legs.set(0, pulseUs: 1500)
    await eventually("the pulse") { socket.frames.contains(Data([0x80, 0x01, 0x03, 0x02, 0x00, 0xDC, 0x05])) }
    await eventually("the beat after it is due") { bench.clock.deadlines.first == .milliseconds(66 * 5) }
    try await legs.disarm(0)
    let count = socket.frames.count
    bench.clock.advanceToNext()
    await eventually("no beat follows") { bench.clock.deadlines.first != .milliseconds(66 * 6) && legs.fed.isEmpty }
    #expect(socket.frames.count == count && bench.daemon.requests("/api/leg/0/disarm").count == 1)
  }

  @Test("a leg with a shorter deadman is armed beside another: it is fed within its own from then on")
  func shorter() async throws {
    let bench = Bench()
    var two = SampleStates.legs
    two.legs[0].settings.deadmanMs = 3000
    two.legs.append(two.legs[0])
    two.legs[1].index = 1
    two.legs[1].settings.deadmanMs = 300
    await bench.connect(["leg": json(two)])
    await eventually("legs") { bench.model.legs?.state.legs.count == 2 }
    let legs = try #require(bench.model.legs)
    try await legs.arm(0)
    await eventually("the next is due after a third of three seconds") {
      bench.clock.deadlines.filter { $0 == .seconds(1) }.count == 2
    }
    try await legs.arm(1)
    await eventually("the next is due after a third of 300 ms") { bench.clock.deadlines.first == .milliseconds(100) }
    await eventually("both were fed") { bench.daemon.socket?.frames.count == 3 }
  }

  @Test("a leg in fault is no longer fed; in the background what was fed is disarmed")
  func released() async throws {
    let bench = Bench()
    await bench.connect(["leg": json(SampleStates.legs)])
    await eventually("legs") { bench.model.legs != nil }
    let legs = try #require(bench.model.legs)
    try await legs.arm(0)
    var fault = SampleStates.legs
    fault.legs[0].state = .fault
    bench.say("leg", json(fault))
    await eventually("not fed") { legs.fed.isEmpty }
    bench.say("leg", json(SampleStates.legs))
    try await legs.arm(0)
    bench.model.sceneBecame(active: false)
    await eventually("disarmed") { bench.daemon.requests("/api/leg/0/disarm").count == 1 }
  }

  @Test("schedules: a switch is shown at once and asked for once; a new one is read back")
  func schedules() async throws {
    let (bench, sprinkler) = try await sprinkler()
    var schedule = SampleStates.schedules[0]
    bench.daemon.answer("/api/schedules", #"{"ok":true,"schedules":[\#(json(schedule))]}"#)
    try await sprinkler.refreshSchedules()
    let gate = bench.daemon.hold("/api/schedules/1")
    let change = Task { try await sprinkler.setEnabled(1, false) }
    await eventually("asked") { bench.daemon.requests("/api/schedules/1").count == 1 }
    #expect(!sprinkler.isEnabled(sprinkler.schedules[0]))
    schedule.isEnabled = false
    bench.daemon.answer("/api/schedules", #"{"ok":true,"schedules":[\#(json(schedule))]}"#)
    await gate.open()
    try await change.value
    #expect(sprinkler.schedules == [schedule])
    let request = try #require(bench.daemon.requests("/api/schedules/1").first)
    #expect(request.method == "PUT" && request.body == Data(#"{"isEnabled":false}"#.utf8))
  }

  @Test("samples for previews: a fault, emergency stops, and systems with nothing to show")
  func samples() throws {
    let model = DaemonModel.preview(
      robot: SampleStates.robotEmergencyStopped, legs: SampleStates.legsEmergencyStopped,
      sprinkler: SampleStates.sprinklerEmergencyStopped, pump: SampleStates.pumpFault, plants: SampleStates.plantsEmpty,
      video: SampleStates.videoFailed)
    #expect(model.robot?.state.emergencyStopped == true && model.legs?.state.state == .emergencyStopped)
    #expect(model.sprinkler?.state.state == .emergencyStopped && model.sprinkler?.isOn(1) == false)
    #expect(model.pump?.state.state == .fault && model.pump?.isOn == false && model.pump?.speedPercent == nil)
    #expect(model.plants?.state.plants.isEmpty == true && model.video?.state.wayOut != nil)
    let idle = SampleStates.sprinklerIdle
    #expect(idle.queue.isEmpty && idle.nextRun == nil && !idle.zones.contains { $0.isOn || $0.remainingSec != nil })
  }

  @Test("the camera's addresses; the token is a header and never in an address")
  func addresses() throws {
    let model = DaemonModel.preview()
    let video = try #require(model.video)
    #expect(video.rtspURL?.absoluteString == "rtsp://preview.local:8554/stream")
    #expect(video.snapshotURL?.absoluteString == "http://preview.local:8000/api/video/snapshot.jpg")
    let link = DaemonLink(Caller(transport: FakeDaemon(), token: "secret", clock: ManualClock(), random: FixedRandom()))
    let own = VideoModel(SampleStates.video, link: link, endpoint: Endpoint(host: "::1", port: 9000))
    #expect(own.authorization?.value == "Bearer secret")
    #expect(own.mjpegURL?.absoluteString == "http://[::1]:9000/api/video/stream.mjpeg")
  }
}
