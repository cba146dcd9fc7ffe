import Buses
import Devices
import MQTTMosquitto
import Plants
import PlantsDaemon
import Tactus
import TactusDaemon
import TactusSwarm
import Water
import Wire

/// Plants in the swarm: the probes' production loop in simulated soils, the production desk with a store that survives the daemon, the app's
/// participant and the daemon's states on a simulated broker, and clients that use both.
final class PlantSwarm: SwarmPart {
  static let staleAfter = Nanoseconds.seconds(12)
  static let gap = Nanoseconds.seconds(60)
  static let plantsPerUser = 3
  /// The longest time from a publication by the daemon to its arrival at the broker.
  static let broadcast = Nanoseconds.seconds(4)
  static let probes = PlantProbeSettings(period: .seconds(2), samples: 1, retries: 1)
  static let sensors = (0x36...0x39).map { address in
    PlantMonitor.Sensor(
      PlantSensorID("0x\(String(address, radix: 16))")!,
      .seesaw(SeesawSoil(address: I2CAddress(UInt8(clamping: address))!)))
  }
  /// The moisture ranges of the soils, which do not overlap; only the first soil is ever dry.
  private static let soils: [ClosedRange<Double>] = [5...24, 30...45, 50...65, 70...90]

  let name = "plants"
  var hasDied: Bool { daemon != nil && store.hasDied }
  var checks: SwarmChecks { oracle.checks }
  var hasFailed: Bool { oracle.checks.hasFailed }
  let isEmergencyStopped = false
  private let seed: UInt64
  private let garden = SimulatedGarden(sensors)
  private let store: SimulatedPlantStore
  private let broker: SwarmBroker
  private let settings: Settings
  private var oracle = PlantOracle()
  private var daemon: PlantSwarmDaemon?
  private let clock = Guarded(TickInstant.zero)
  /// The wall-clock time at the start in seconds since 1970. It is six in the morning.
  private let wallAtZero = Guarded<Int64>(1_780_293_600)
  private let isRaining = Guarded(false)
  private let isWaterStopped = Guarded(false)
  private var refusesWater = false
  private var gone: Set<Int> = []
  private var numbers = 0
  /// Messages from the daemon that have not been checked yet.
  private var said: [MQTTMessage] = []
  private var stallsUntil = TickInstant.zero
  private var keptVersion: UInt64 = 0
  private var nextLook = TickInstant.zero
  private var nextAccount = TickInstant.zero

  /// The mechanisms that a test disables.
  struct Settings {
    /// Whether the store only claims to have stored changes.
    var forgets = false
    /// The age above which a reading is stale; a test makes stale readings count as good ones.
    var staleAfter = PlantSwarm.staleAfter
    /// Whether the broker marks retained messages as retained.
    var flagsKept = true
    /// Whether an orderly stop stores the open rows.
    var finishes = true
    /// Whether an orderly stop ends the connection to the broker.
    var saysGoodbye = true
  }

  init(seed: UInt64, _ settings: Settings = Settings()) {
    (self.seed, self.settings) = (seed, settings)
    store = SimulatedPlantStore(forgets: settings.forgets)
    broker = SwarmBroker(seed: seed, flagsKept: settings.flagsKept)
    for index in Self.sensors.indices { setSoil(index, share: 50, at: .zero) }
  }

  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] { daemon.map { [($0.version, .zero)] } ?? [] }

  func plan(_ plan: inout SwarmPlanner) { PlantSwarmPlan.plan(&plan) }

  // MARK: The daemon's life

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    clock.value = now
    stallsUntil = .zero
    store.reopen()
    var host = PlantHostSettings()
    host.staleAfter = settings.staleAfter
    let links = (1...8).map { number in
      (PlantID(UInt64(clamping: number)), try! PlantWateringSettings(zone: number, seconds: 3, minimumGapSeconds: 60))
    }
    let parts = PlantDesk.Parts(
      sensors: Self.sensors, host: host, rules: PlantBookRules(plantsPerUser: Self.plantsPerUser),
      links: Dictionary(uniqueKeysWithValues: links))
    let water = WaterSupply(
      isRainDelayed: { [isRaining] in isRaining.value }, isStopped: { [isWaterStopped] in isWaterStopped.value },
      day: { Int($0 / 86_400) }, ask: { _ in })
    let daemon = try PlantSwarmDaemon(
      garden, parts, store, water: water, clock: clock, wallAtZero: wallAtZero, stops: cover.stops, seed: seed, at: now)
    self.daemon = daemon
    let (system, app) = daemon.onBroker
    broker.start(at: now, served: [system], others: [app].compactMap(\.self), takesCommands: true)
    oracle.started(store, at: now)
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    oracle.killed(at: now, diedInWrite: store.hasDied)
    daemon = nil
    broker.kill(at: now)
  }

  /// Stops in the order of the daemon: the loops, their notices, the broker, and then the store.
  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon, !hasDied else { return (true, .known) }
    clock.value = now
    // The daemon does not wait for a loop that stands still.
    if now > stallsUntil { daemon.simulation.stop() }
    recordReadings(of: daemon)
    oracle.stops(broker, store.kept, at: now)
    if settings.saysGoodbye { broker.stop(at: now, daemon.takeEvents()) }
    while daemon.isWaiting, !hasDied { daemon.takeFromDisk(at: now) }
    if settings.finishes, !hasDied { daemon.desk.finish() }
    hear()
    if !hasDied { oracle.stopped(store, at: now) }
    return (true, .known)
  }

  private func recordReadings(of daemon: PlantSwarmDaemon) {
    daemon.takeReadings { reading in
      if case .sample = reading.result { oracle.took(Self.sensors[reading.probe].id) }
    }
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    guard let daemon else { return }
    daemon.simulation.oversleep(lane: "plants", at: now, by: span)
    daemon.freeze(until: now + span)
    broker.freeze(until: now + span)
    oracle.stoodStill(from: now, until: now + span)
  }

  func emergencyStop(at now: TickInstant) {}
  func reset(at now: TickInstant) {}
  func makeSafe(at now: TickInstant) -> Bool { true }

  // MARK: Time

  func run(until instant: TickInstant) {
    while !hasDied {
      let due = min(daemon?.nextBeat ?? .distantFuture, daemon?.diskAt ?? .distantFuture, broker.nextAt)
      if let daemon, daemon.simulation.runTick(until: min(instant, due)) {
        clock.value = daemon.simulation.now
        recordReadings(of: daemon)
      } else if due <= instant {
        clock.value = max(clock.value, due)
        step(at: due)
      } else {
        break
      }
      hear()
    }
    clock.value = instant
    if instant >= nextLook { check(at: instant) }
  }

  /// Runs the next step of the broker, the disk or the daemon's main thread.
  private func step(at now: TickInstant) {
    if broker.nextAt <= now {
      let (before, waterings) = (store.kept, store.waterings)
      broker.run(at: now)
      said += broker.takeSaid()
      let delivered = broker.takeDelivered()
      let effect = PlantButtons.Effect(
        before: before, wall: wall(at: now), refuses: store.isFull, waterings: store.waterings - waterings)
      check(delivered.filter { broker.topics.commandPath($0.topic) != nil }, effect, at: now)
      for message in delivered where message.topic == PlantTopics.toHost && !message.isRetained {
        let request = message.payload.withUnsafeBytes { try? PlantMessage.parse($0) }
        // Bytes that are not a valid message count as one of their sender if they name it.
        guard let user = request?.sender ?? message.payload.withUnsafeBytes({ PlantMessageRemains(of: $0).sender })
        else { continue }
        oracle.answers.delivered(request?.id ?? PlantAnswers.noise, of: user, at: now)
      }
      daemon?.noteWaiting(at: now)
    } else if let daemon, daemon.diskAt <= now {
      daemon.takeFromDisk(at: now)
      broker.flush(at: now)
    } else if let daemon {
      beat(daemon, at: now)
    }
  }

  /// Checks commands for single plants, which the daemon has carried out and answered by now.
  private func check(_ commands: [MQTTMessage], _ effect: PlantButtons.Effect, at now: TickInstant) {
    if commands.isEmpty || hasDied { return }
    let replies = said.filter { broker.topics.isReply($0.topic) }
    oracle.commanded(commands, replies, effect, broker.topics, at: now)
  }

  private func wall(at now: TickInstant) -> PlantInstant {
    PlantInstant(secondsSince1970: wallAtZero.value + now.nanoseconds / 1_000_000_000)
  }

  private func beat(_ daemon: PlantSwarmDaemon, at now: TickInstant) {
    let requests = daemon.beat(at: now)
    if store.hasDied { return }
    for request in requests {
      oracle.asked(
        request, store.kept, wall: wall(at: now), isDenied: isRaining.value || isWaterStopped.value, at: now)
      if refusesWater { daemon.desk.refused(request, reason: "no") }
    }
    if now >= daemon.nextTold {
      daemon.nextTold = now + SwarmBroker.beatPeriod
      broker.beat(at: now, daemon.takeEvents())
    }
    hear()
    if !daemon.isWaiting { oracle.quiet(at: now) }
  }

  /// Checks the daemon's messages on the broker, and the resulting content of the store.
  private func hear() {
    let now = clock.value
    // A process that died in a write has sent nothing.
    defer { said = [] }
    said += broker.takeSaid()
    if daemon == nil || hasDied { return }
    for message in said where message.topic == PlantTopics.fromHost {
      if let answer = PlantAnswers.Answer(message.payload) { oracle.said(answer, at: now) }
    }
    guard store.version != keptVersion else { return }
    keptVersion = store.version
    oracle.kept(store.kept, at: now)
  }

  /// Makes the checks that take long, every other second.
  private func check(at now: TickInstant) {
    nextLook = now + .seconds(2)
    let records = store.kept
    guard !hasDied else { return }
    oracle.published(broker, records, at: now)
    guard let daemon else { return }
    let view = daemon.desk.view
    oracle.looked(view.readings, at: now)
    let silent = view.conditions.filter { $0.value.alerts.contains(.silent) }.map(\.key)
    oracle.looked(records, silent: Set(silent), at: now)
    guard now >= nextAccount else { return }
    nextAccount = now + .seconds(5)
    oracle.account(daemon.runtime.statistics[PlantSwarmDaemon.loop]!, at: now)
    let wall = daemon.desk.wall()
    for sensor in Self.sensors {
      let rows = try? daemon.desk.history(of: sensor.id, from: wall - 43_200, until: wall + 43_200, points: nil)
      oracle.history(of: sensor.id, count: (rows ?? []).reduce(0) { $0 + $1.count }, at: now)
    }
  }

  // MARK: What is done

  func apply(_ action: SwarmAction) {
    let now = action.at
    clock.value = now
    switch action.verb {
    case "soil":
      setSoil(Int(clamping: min(max(action[0], 0), 3)), share: action[1], at: now)
      confirm()
    case "probe-gone": setGone(Int(min(max(action[0], 0), 3)), action[1] > 0, at: now)
    case "disk-full": store.setFull(action[0] > 0)
    case "disk-slow": daemon?.diskTime = .milliseconds(max(action[0], 1))
    case "crash-in-write": store.crash(action[0] > 0 ? .after : .before)
    case "clock":
      wallAtZero.value += action[0]
      oracle.clockJumped(at: now)
    case "rain": isRaining.value = action[0] > 0
    case "water-stopped": isWaterStopped.value = action[0] > 0
    case "water-refuses": refusesWater = action[0] > 0
    case "stall":
      daemon?.simulation.stall(loop: PlantSwarmDaemon.loop, at: now, by: .milliseconds(action[0]))
      stallsUntil = max(stallsUntil, now) + .milliseconds(action[0] + 100)
      oracle.stoodStill(from: now, until: now + .milliseconds(action[0] + 100))
    case "link-lost": broker.disconnect(at: now)
    case "broker-gone": broker.leave(at: now, for: .milliseconds(max(action[0], 1)), forgets: action[1] > 0)
    case "rest-watered": water(action, at: now)
    case "rest-add", "rest-delete", "rest-rename": ask(action, at: now)
    case "button": press(action, at: now)
    default: publish(action, at: now)
    }
    hear()
  }

  private func setSoil(_ index: Int, share: Int64, at now: TickInstant) {
    let (range, sensor) = (Self.soils[index], Self.sensors[index].id)
    let percent = range.lowerBound + (range.upperBound - range.lowerBound) * Double(min(max(share, 0), 100)) / 100
    let celsius = 10 + 5 * Double(index)
    garden[sensor]?.set(moisturePercent: percent, celsius: celsius)
    oracle.soils.set(sensor.text, percent: percent, celsius: celsius, at: now)
  }

  private func setGone(_ index: Int, _ isGone: Bool, at now: TickInstant) {
    if isGone { gone.insert(index) } else { gone.remove(index) }
    guard let bus = garden.bus else { return }
    bus.clearFaults()
    for index in gone.sorted() {
      bus.inject(.noAcknowledge(address: I2CAddress(UInt8(clamping: 0x36 + index))!, count: nil))
    }
    oracle.soils.setGone(Self.sensors[index].id.text, isGone, at: now)
  }

  /// Notes a watering by a person through the API.
  private func water(_ action: SwarmAction, at now: TickInstant) {
    guard let daemon, !hasDied else { return }
    let user = PlantUser(sender: PlantSwarmPlan.users[Int(min(max(action[0], 0), 2))])
    _ = try? daemon.desk.perform(
      .watered(name: PlantSwarmPlan.name(action[1]), at: daemon.desk.wall()), for: user)
  }

  /// Confirms for a person that every plant may be watered: a dry soil stays dry in the swarm, so that few plants become confirmed by their readings.
  private func confirm() {
    guard let daemon, !hasDied else { return }
    for plant in daemon.desk.view.records.plants { try? daemon.desk.confirmWatering(of: plant) }
  }

  /// Requests a change through the API.
  private func ask(_ action: SwarmAction, at now: TickInstant) {
    guard let daemon, !hasDied, let change = PlantSwarmPlan.change(action) else { return }
    let user = PlantUser(sender: PlantSwarmPlan.users[Int(min(max(action[0], 0), 2))])
    do {
      try daemon.desk.perform(PlantSwarmPlan.command(change), for: user)
      oracle.acknowledged(change, at: now)
    } catch {
      if store.hasDied { oracle.died(in: change) }
    }
  }

  /// Presses the button of a plant: with a plain message, a retained one, or one that its publisher repeats.
  private func press(_ action: SwarmAction, at now: TickInstant) {
    numbers += 1
    var message = PlantButtons.press(action[0], on: broker.topics, id: numbers)
    message.isRetained = action[1] == 1
    broker.publish(message, copies: action[1] == 2 ? 2 : 1, at: now)
  }

  /// Publishes a message of the app.
  private func publish(_ action: SwarmAction, at now: TickInstant) {
    let user = PlantSwarmPlan.users[Int(min(max(action[0], 0), 2))]
    numbers += 1
    let id = "\(numbers)"
    var message = MQTTMessage(topic: PlantTopics.toHost, payload: [])
    if let change = PlantSwarmPlan.change(action) {
      let request: PlantRequestTag =
        switch change {
        case .add: .addNewPlant
        case .delete: .deletePlant
        case .rename: .editPlant
        }
      oracle.answers.ask(request, of: user, change, id: id)
      message.payload = Array(PlantSwarmPlan.message(change, id: id).encoded.utf8)
    } else if action.verb == "app-count" || action.verb == "app-data" {
      let request: PlantRequestTag = action.verb == "app-count" ? .numPlants : .plantSensorData
      oracle.answers.ask(request, of: user, nil, id: id)
      let payload = request == .numPlants ? "" : "all"
      message.payload = Array(PlantSwarmPlan.message(user, request, payload, id: id).encoded.utf8)
    } else if action.verb == "app-noise" {
      message.payload = PlantSwarmPlan.noise(action[1], user: user)
    } else {
      return
    }
    message.isRetained = action.verb == "app-kept"
    let copies = action.numbers.last ?? 1
    broker.publish(message, copies: ["app-kept", "app-noise"].contains(action.verb) ? 1 : copies, at: now)
  }
}
