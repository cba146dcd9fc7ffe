import Foundation
import TactusClient

/// What a scenario found to be otherwise than expected.
struct Unexpected: Error, LocalizedError {
  var errorDescription: String?
  init(_ text: String) { errorDescription = text }
}

/// Writes a line at once: who runs this program reads it while it runs.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// One run of the client against a daemon.
@MainActor
struct Scenario {
  static let all: [String: @MainActor @Sendable (Scenario) async throws -> Void] = [
    "shapes": { try await $0.shapes() }, "drive": { try await $0.drive() }, "leg": { try await $0.leg() },
    "water": { try await $0.water() }, "schedule": { try await $0.schedule() }, "pump": { try await $0.pump() },
    "plant": { try await $0.plant() }, "watch": { try await $0.watch() }, "refused": { try await $0.refused() },
    "declared": { try await $0.declared() }, "hold": { try await $0.hold() },
    "look": { try await $0.lookOnly() }, "swallowed": { try await $0.swallowed() },
    "everything": { try await $0.everything() }, "ticket": { try await $0.ticket() },
  ]

  let model: DaemonModel
  let endpoint: Endpoint
  let token: String?
  let rest: [String]

  init(_ endpoint: Endpoint, token: String?, rest: [String]) {
    self.endpoint = endpoint
    self.token = token
    self.rest = rest
    model = DaemonModel(endpoint, token: token)
  }

  /// Waits until something is shown, and says so.
  func see(_ what: String, _ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while !condition() {
      guard ContinuousClock.now < end else {
        throw Unexpected(
          "never: \(what); the connection is \(model.state), the problem \(String(describing: model.problem))")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    say("seen: \(what)")
  }

  /// Reads until what is read is as expected: what a system writes down comes behind what it does.
  private func read<Answer: Sendable>(
    _ what: String, from look: () async throws -> Answer, until condition: (Answer) -> Bool
  ) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while true {
      let answer = try await look()
      if condition(answer) { return }
      guard ContinuousClock.now < end else { throw Unexpected("never: \(what); got \(answer)") }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The way that news are expected to come by: the first argument, `socket` unless there is one.
  private var way: LinkState { rest.contains("polling") ? .live(.polling) : .live(.socket) }

  private func connect() async throws {
    model.start()
    try await see("connected by \(way == .live(.socket) ? "WebSocket" : "polling")") { model.state == way }
    if let problem = model.problem { throw problem }
  }

  func drive() async throws {
    try await connect()
    try await see("a robot") { model.robot != nil }
    guard let robot = model.robot else { return }
    robot.hold(x: 0, y: 0.5)
    try await see("it has taken the stick") { robot.isDriving }
    try await see("it drives") { robot.state.state == .driving && robot.state.targetPercent?.left == 50 }
    robot.letGo()
    try await see("it stands") { robot.state.state == .stopped }
    try await robot.emergencyStop()
    try await see("it is emergency-stopped") { robot.state.emergencyStopped }
    robot.hold(x: 0, y: 1)
    try await see("the stick is refused") { robot.stick == nil && robot.endOfHold?.contains("emergency") == true }
    robot.letGo()
    try await retrying("STICK_NOT_AT_ZERO", "STOP_NOT_CONFIRMED") { try await robot.reset() }
    try await see("it is reset") { robot.state.state == .stopped }
  }

  /// Holds the stick until somebody ends the program.
  func hold() async throws {
    try await connect()
    try await see("a robot") { model.robot != nil }
    model.robot?.hold(x: 0, y: 0.3)
    try await see("it drives") { model.robot?.state.state == .driving }
    try await Task.sleep(for: .seconds(60))
  }

  func leg() async throws {
    try await connect()
    try await see("legs") { model.legs != nil }
    guard let legs = model.legs else { return }
    try await legs.arm(0)
    try await legs.set(0, pulseUs: 1600)
    try await see("armed, with a pulse") { legs.state.legs[0].state == .armed && legs.state.legs[0].pulseUs == 1600 }
    let deadman = legs.state.legs[0].settings.deadmanMs
    try await Task.sleep(for: .milliseconds(Int(3 * deadman)))
    try await see("still armed after three deadmen") { legs.state.legs[0].state == .armed && legs.fed == [0] }
    try await legs.disarm(0)
    try await see("disarmed") { legs.state.legs[0].state == .disarmed }
  }

  func water() async throws {
    try await connect()
    try await see("a sprinkler") { model.sprinkler != nil }
    guard let sprinkler = model.sprinkler else { return }
    let begin = Date()
    try await sprinkler.water(1, minutes: 1)
    guard sprinkler.isOn(1) else { throw Unexpected("zone 1 is not shown as open at once") }
    try await see("zone 1 is open") { sprinkler.state.zones[0].isOn && sprinkler.state.zones[0].remainingSec ?? 0 > 50 }
    try await sprinkler.enqueue([Schedule.Step(zoneId: 2, minutes: 1)])
    try await see("zone 2 waits") { sprinkler.state.queue.contains { $0.zoneId == 2 } }
    try await sprinkler.toggle(1)
    try await see("zone 1 is closed") { !sprinkler.state.zones[0].isOn }
    try await sprinkler.delayForRain(hours: 24)
    try await see("a rain delay") { sprinkler.state.rainDelay.active && sprinkler.isRainDelayed }
    try await sprinkler.endRainDelay()
    try await see("no rain delay") { !sprinkler.state.rainDelay.active }
    try await sprinkler.pause(minutes: 1)
    try await see("a pause") { sprinkler.state.state == .paused }
    try await sprinkler.resume()
    try await sprinkler.stop()
    try await see("everything is closed") { sprinkler.state.state == .idle && sprinkler.state.queueCount == 0 }
    try await read(
      "the run in the log", from: { try await sprinkler.log(since: begin, zone: 1, limit: 1).runs },
      until: { $0.first?.outcome == .stopped })
    guard try await sprinkler.seasonalLevel().percent == 100 else { throw Unexpected("expected a level of 100 %") }
    guard try await model.health().systems.keys.contains("robot") else { throw Unexpected("expected a robot") }
  }

  func schedule() async throws {
    try await connect()
    try await see("a sprinkler") { model.sprinkler != nil }
    guard let sprinkler = model.sprinkler else { return }
    let made = try await sprinkler.add(
      NewSchedule(
        name: "Probe", startTimes: ["06:00"], days: ["Mon", "Thu"], zones: [Schedule.Step(zoneId: 1, minutes: 5)]))
    try await see("the schedule, and when it starts") {
      sprinkler.schedules.contains { $0.id == made.id } && sprinkler.starts.contains { $0.scheduleId == made.id }
    }
    let starts = try await sprinkler.preview(count: 50).starts
    guard starts.contains(where: { $0.scheduleId == made.id && $0.runs.map(\.zoneId) == [1] }) else {
      throw Unexpected("expected a start of zone 1, got \(starts)")
    }
    let draft = NewSchedule(
      name: "Draft", startTimes: ["07:00"], days: ["Tue"], zones: [Schedule.Step(zoneId: 2, minutes: 5)])
    let looked = try await sprinkler.preview(of: draft, inPlaceOf: made.id, count: 1, onlyDraft: true)
    guard looked.schedule.name == "Draft", looked.starts.map(\.scheduleId) == [made.id], looked.isCut,
      looked.starts[0].runs.map(\.zoneId) == [2]
    else { throw Unexpected("expected a start of the draft, got \(looked)") }
    try await sprinkler.setEnabled(made.id, false)
    try await see("it is off") { sprinkler.schedules.contains { $0.id == made.id && !$0.isEnabled } }
    try await sprinkler.change(made.id, ScheduleChange(name: "Evening", startTimes: ["21:30", "22:00"]))
    try await see("another name") { sprinkler.schedules.contains { $0.id == made.id && $0.name == "Evening" } }
    try await sprinkler.remove(schedule: made.id)
    try await see("it is gone") { !sprinkler.schedules.contains { $0.id == made.id } }
  }

  func pump() async throws {
    try await connect()
    try await see("a pump that answers") { model.pump?.state.contact == .answering }
    guard let pump = model.pump else { return }
    try await pump.turnOn(speedPercent: 70)
    try await see("it pumps") { pump.state.state == .on && pump.state.speedPercent == 70 }
    try await pump.setSpeed(percent: 40)
    try await see("slower") { pump.state.speedPercent == 40 }
    try await pump.turnOff()
    try await see("it is off") { pump.state.state == .off && !pump.isOn }
    guard try await pump.sessions().count == 1 else { throw Unexpected("expected one session of the pump") }
    let history = try await pump.history(points: 10)
    guard history.spanSec % 60 == 0, history.rows.count <= 10 else {
      throw Unexpected("expected ten rows at most, got \(history)")
    }
  }

  func plant() async throws {
    try await connect()
    try await see("plants") { model.plants != nil }
    guard let plants = model.plants else { return }
    let made = try await plants.add(NewPlant(name: "Basil", sensors: ["0x36"], dryPercent: 15))
    try await see("the plant, with its moisture") {
      plants.state.plants.contains { $0.id == made.id && $0.moisturePercent != nil && $0.dryPercent == 15 }
    }
    try await plants.change(made.id, PlantChange(name: "Mint"))
    try await plants.noteWatered(made.id)
    try await see("another name, and watered") {
      plants.state.plants.contains { $0.id == made.id && $0.name == "Mint" && $0.lastWateredISO != nil }
    }
    guard try await plants.history(made.id).plantId == made.id else { throw Unexpected("no history") }
    try await read(
      "the watering", from: { try await plants.alerts(of: made.id).events },
      until: { events in events.contains { $0.kind == "watered" } })
    guard try await plants.pictures(limit: 1).pictures.isEmpty else { throw Unexpected("there is a picture") }
    try await plants.remove(made.id)
    try await see("it is gone") { !plants.state.plants.contains { $0.id == made.id } }
  }

  /// Says how the connection is, until `rest[0]` such lines were said.
  func watch() async throws {
    var last = LinkState.idle
    var lines = Int(rest.first ?? "") ?? 1
    model.start()
    while lines > 0 {
      try await Task.sleep(for: .milliseconds(5))
      if model.state != last, model.state != .connecting {
        // The states come behind the connection.
        if model.state.isLive, model.robot == nil { continue }
        last = model.state
        lines -= 1
        switch last {
        case .live(let way): say("live by \(way), robot \(model.robot?.state.state.rawValue ?? "unknown")")
        case .lost: say("lost, robot \(model.robot?.state.state.rawValue ?? "unknown")")
        case .refused(let refusal): say("refused: \(refusal.code)")
        case .idle, .connecting: break
        }
      }
    }
  }

  /// Errors as the daemon gives them.
  func refused() async throws {
    try await connect()
    try await see("a sprinkler") { model.sprinkler != nil }
    guard let sprinkler = model.sprinkler else { return }
    do {
      try await sprinkler.water(1, minutes: 9999)
      throw Unexpected("9999 minutes were taken")
    } catch let error as ClientError {
      guard case .refused(let refusal) = error else { throw error }
      say("\(refusal.status) \(refusal.code) \(refusal.field ?? "-"): \(refusal.message)")
    }
    guard !sprinkler.isOn(1) else { throw Unexpected("a refused zone is shown as open") }
  }

  /// A token that may only look.
  func lookOnly() async throws {
    try await connect()
    try await see("a sprinkler and a robot") { model.sprinkler != nil && model.robot != nil }
    say("scope \(model.scope ?? "unknown")")
    model.robot?.hold(x: 0, y: 1)
    try await see("the stick is refused") { model.robot?.stick == nil && model.robot?.endOfHold != nil }
    say(model.robot?.endOfHold ?? "")
    do {
      try await model.sprinkler?.water(1)
      throw Unexpected("a token that may only look has opened a zone")
    } catch let error as ClientError {
      say(error.code ?? "\(error)")
    }
  }

  /// Commands that are taken and not answered.
  func swallowed() async throws {
    try await connect()
    try await see("a sprinkler") { model.sprinkler != nil }
    for (name, command) in [
      ("water", { try await model.sprinkler?.water(1, minutes: 1) }),
      ("close", { try await model.sprinkler?.close(1) }),
    ] as [(String, () async throws -> Void)] {
      do {
        try await command()
        throw Unexpected("\(name) was answered")
      } catch ClientError.unreachable {
        say("\(name): not reached")
      }
    }
  }

  /// Logs in by a ticket: `client-probe ticket ADDRESS LINK`. The link is good once.
  func ticket() async throws {
    let issued = try await TicketLink(rest[0]).exchange()
    say("\(issued)")
    model.use(token: issued.token)
    try await connect()
    say("scope \(model.scope ?? "unknown")")
    do {
      _ = try await TicketLink(rest[0]).exchange()
      throw Unexpected("a ticket was exchanged twice")
    } catch let error as ClientError {
      say(error.code ?? "\(error)")
    }
  }

  /// Everything stops, from one button.
  func everything() async throws {
    try await connect()
    try await see("a sprinkler and a robot") { model.sprinkler != nil && model.robot != nil }
    try await model.sprinkler?.water(1, minutes: 1)
    try await model.emergencyStop()
    try await see("everything is stopped") {
      model.sprinkler?.state.state == .emergencyStopped && model.robot?.state.emergencyStopped == true
    }
    try await retrying("STICK_NOT_AT_ZERO", "STOP_NOT_CONFIRMED") { try await model.reset() }
    try await see("everything is reset") {
      model.sprinkler?.state.state == .idle && model.robot?.state.emergencyStopped == false
    }
  }

  /// A machine that needs a moment says so with one of these codes.
  private func retrying(_ codes: String..., body: () async throws -> Void) async throws {
    let end = ContinuousClock.now + .seconds(10)
    while true {
      do {
        return try await body()
      } catch let error as ClientError where codes.contains(error.code ?? "") && ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
