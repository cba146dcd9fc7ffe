import Buses
import Sprinkler
import SprinklerDaemon
import Tactus
import TactusDaemon
import TactusSwarm
import WallTime

/// A sprinkler in the swarm: the valves' production loop, the production schedule, which stores changes before they take effect, a store that
/// survives the daemon, and simulated clients.
final class SprinklerSwarm: SwarmPart {
  static let zones = 4
  private static let loop = "sprinkler"
  /// The wall time at the start, half a minute before noon, so that programs start.
  private var wallAtZero = WallInstant(secondsSince1970: 1_780_012_800 - 30)
  private static let settings = SchedulerSettings(zone: .utc, pins: Array(1...zones))
  /// The flow through each zone that is open, in l/min.
  static let litresPerMinute = [10.0, 14, 18, 22]
  private static let pulsesPerLitre = 450.0

  /// The limits of the flow between which reloads change: limits that no zone violates, limits that the first and the last zone violate, and limits
  /// that only give notice.
  static let files = [
    FlowLimits(noFlow: watch(4), highFlow: watch(40), leak: watch(3)),
    FlowLimits(noFlow: watch(12), highFlow: watch(20), leak: watch(1)),
    FlowLimits(highFlow: watch(16, .notice)),
  ]

  private static func watch(
    _ litresPerMinute: Double, _ reaction: FlowSettings.Reaction = .fault
  ) -> FlowSettings.Watch {
    try! FlowSettings.Watch(litresPerMinute: litresPerMinute, over: .seconds(1), reaction: reaction)
  }

  let name = "sprinkler"
  var hasDied: Bool { daemon != nil && store.hasDied }
  var checks: SwarmChecks { oracle.output.checks }
  var hasFailed: Bool { oracle.output.checks.hasFailed }
  private let seed: UInt64
  private let bank = SimulatedGPIOBank(highAtRest: Set(1...zones), logCapacity: 1)
  private let lines: SimulatedGPIOLines
  private let store: SimulatedScheduleStore
  private var rules: SwarmRules<FlowLimits>
  private let hasSensor: Bool
  /// The water and the flow sensor on the lines of the present daemon.
  private var garden: SimulatedGarden?
  private var isDry = false
  private var burst = 0.0
  private var oracle = SprinklerOracle()
  private var exercise = SwarmExercise(
    states: ["idle", "watering", "paused", "fault", "emergencyStopped", "shutDown"])
  var exercised: [String: Int] { exercise.counts }
  private var daemon: SprinklerSwarmDaemon?
  /// The snapshot that the loop published last.
  private var newest = SprinklerSnapshot()
  private var ranUntil = TickInstant.zero

  /// Creates the sprinkler.
  ///
  /// - Parameters:
  ///   - seed: the seed of the simulation.
  ///   - forgets: whether the store only pretends to keep changes, for tests.
  ///   - files: the limits of the loop at its start and after reloads. The checks always use the standard ones.
  ///   - hasSensor: whether the loop has the flow sensor; a test removes it.
  init(
    seed: UInt64, forgets: Bool = false, files: [FlowLimits] = SprinklerSwarm.files, hasSensor: Bool = true
  ) throws {
    (self.seed, self.hasSensor) = (seed, hasSensor)
    rules = SwarmRules(files)
    lines = try bank.outputs((1...Self.zones).map { GPIOLine(.bcm($0), isActiveLow: true) })
    var records = SprinklerRecords()
    records.zones = (1...Self.zones).map {
      Zone(id: ZoneID($0)!, name: "zone \($0)", gpioPin: $0, defaultSeconds: 4, maximumSeconds: 12)
    }
    store = SimulatedScheduleStore(records, forgets: forgets)
  }

  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] {
    daemon.map { [($0.mailbox.state.version, SprinklerLoop.period)] } ?? []
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped? = daemon?.newest.state { true } else { false }
  }

  var remoteWords: [String: String] { ["on": "zone-on", "off": "zone-off", "stop": "stop-all"] }

  func plan(_ plan: inout SwarmPlanner) { SprinklerSwarmPlan.plan(&plan) }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    // A start requests the lines again, as inactive.
    let isOff = turnOff(at: now)
    store.reopen()
    let limits = rules.start()
    let garden = SimulatedGarden(
      on: bank,
      valves: Self.litresPerMinute.enumerated().map { .init(line: $0 + 1, isActiveLow: true, litresPerMinute: $1) },
      pulsesPerLitre: Self.pulsesPerLitre)
    self.garden = garden
    disturb(garden)
    var sensor: GPIOEvents? = hasSensor ? garden.flowSensor() : nil
    let mailbox = try SprinklerLoop.mailbox(limits: limits, notices: 256)
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("sprinkler") {
        Loop(
          Self.loop, every: .hertz(1), phase: .zero, safeStateAfter: 3, inputs: [.simulated(bell)]
        ) {
          SprinklerLoop(
            try! IrrigationSettings(
              lineCount: Self.zones, flow: FlowSettings(pulsesPerLitre: Self.pulsesPerLitre)),
            lines: lines.port(), flow: sensor.take(), ends: mailbox.loopEnds(requestBell: bell.doorbell))
        }
      }
    }
    let (store, closed) = (store, [cover.madeSafe, cover.madeSafeLast, isOff ? now : nil].compactMap(\.self))
    let schedule = StoredSchedule(
      { SprinklerScheduler(store.records, settings: Self.settings, boot: BootID("1"), valvesClosed: closed) },
      store: store)
    daemon = SprinklerSwarmDaemon(
      runtime: runtime, simulation: try runtime.simulation(seed: seed, from: now), mailbox: mailbox, bell: bell,
      schedule: schedule, at: now)
    newest = SprinklerSnapshot()
    oracle.started(at: now, cover, Self.files[rules.number])
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    daemon = nil
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon, !store.hasDied, !oracle.output.reach.isStalled(at: now) else { return (false, .known) }
    daemon.simulation.stop()
    see(daemon.newest.state)
    let isConfirmed = daemon.newest.confirmation.isConfirmed
    oracle.check(open: open, at: now)
    oracle.output.stopped(isActive: open != 0, isConfirmed: isConfirmed, at: now)
    return (isConfirmed, daemon.finish(at: now, wallAtZero))
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    guard let daemon else { return }
    daemon.simulation.oversleep(lane: "sprinkler", at: now, by: span)
    daemon.nextBeat = max(daemon.nextBeat, now + span)
    oracle.output.reach.stalled(at: now, for: span)
  }

  private func see(_ state: IrrigationState) {
    let word =
      switch state {
      case .idle: "idle"
      case .watering: "watering"
      case .paused: "paused"
      case .fault: "fault"
      case .emergencyStopped: "emergencyStopped"
      case .shutDown: "shutDown"
      }
    exercise.see(state: word)
  }

  func run(until instant: TickInstant) {
    while let daemon, !store.hasDied {
      let before = open
      let beat = daemon.nextBeat
      if daemon.simulation.runTick(until: min(instant, beat)) {
        oracle.check(open: before, at: daemon.simulation.now)
        let published = daemon.newest
        oracle.ticked(at: daemon.simulation.now, newest, published)
        newest = published
        see(published.state)
        oracle.check(open: open, at: daemon.simulation.now)
        account(at: daemon.simulation.now)
      } else if beat <= instant {
        daemon.beat(at: beat, wallAtZero)
        oracle.output.asked(daemon.number)
        oracle.output.answered(daemon.takeAnswered(), at: beat)
        if !store.hasDied { oracle.kept(store, at: beat) }
      } else {
        break
      }
    }
    oracle.check(open: open, at: instant, hasDied: daemon != nil && store.hasDied)
    ranUntil = instant
    if !store.hasDied { account(at: instant) }
  }

  private func account(at now: TickInstant) {
    guard let counters = daemon?.runtime.counters(of: Self.loop) else { return }
    oracle.output.account(counters, at: now)
  }

  /// The zones whose lines are active: bit k for zone k + 1.
  private var open: UInt64 { (~bank.levels.word >> 1) & (1 << UInt64(clamping: Self.zones) - 1) }

  func makeSafe(at now: TickInstant) -> Bool {
    let before = open
    oracle.check(open: before, at: now)
    let isConfirmed = turnOff(at: now)
    oracle.cut(wasOpen: before != 0, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  private func turnOff(at now: TickInstant) -> Bool {
    var port = lines.port()
    port.now = now
    return isConfirmed { () throws(GPIOError) in try port.turnAllOff() }
  }

  func emergencyStop(at now: TickInstant) { send(.emergencyStop, at: now) }
  func reset(at now: TickInstant) { send(.reset, at: now) }

  private func send(_ order: SprinklerOrder, at now: TickInstant) {
    guard let daemon, !store.hasDied, let number = daemon.send(order, at: now) else { return }
    oracle.asked(number, order, at: now)
  }

  func apply(_ action: SwarmAction) {
    let now = action.at
    switch action.verb {
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "lines-gone":
      bank.clearFaults()
      if action[0] > 0 { bank.inject(.gone) }
      oracle.output.reach.bus(isFaulty: action[0] > 0, at: now)
    case "stall":
      daemon?.simulation.stall(loop: Self.loop, at: now, by: .milliseconds(action[0]))
      // The prolonged tick begins within a period.
      if daemon != nil { oracle.output.reach.stalled(at: now, for: .milliseconds(action[0] + 1_000)) }
    case "water-gone": (isDry, burst) = (action[0] > 0, burst)
    case "pipe-bursts": (isDry, burst) = (isDry, Double(min(max(action[0], 0), 1_000)))
    case "clock": wallAtZero = wallAtZero + action[0]
    case "disk-full": store.setFull(action[0] > 0)
    case "crash-in-write": store.crash(action[0] > 0 ? .after : .before)
    default: if let command = SprinklerSwarmPlan.command(action) { ask(command, at: now) }
    }
    if let garden { disturb(garden) }
    oracle.flow.water(isDry: isDry, burst: burst, at: now)
  }

  private func disturb(_ garden: SimulatedGarden) {
    garden.clearFaults()
    if isDry { garden.inject(.noWater) }
    if burst > 0 { garden.inject(.burst(litresPerMinute: burst)) }
  }

  // MARK: Reloads

  func change(to number: Int64) -> (any RulesChange)? {
    oracle.flow.proposed()
    return rules.change(of: name, to: number)
  }

  func changed(to number: Int64) {
    guard rules.changed(to: number) else { return }
    oracle.flow.changed(to: Self.files[rules.number], at: ranUntil)
  }

  /// Gives a client's command, which is acknowledged once the store has the change.
  private func ask(_ command: SprinklerCommand, at now: TickInstant) {
    guard let daemon, !store.hasDied else { return }
    let effects = daemon.step(.command(command, caller: "swarm"), at: now, wallAtZero)
    if let effects {
      oracle.acknowledged(command, effects)
    } else {
      oracle.refused(command, diedInWrite: store.hasDied)
    }
  }
}

// The module of the control does not depend on the daemon, so the conformance is declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension FlowLimits: @retroactive ReloadableRules {}

extension SwarmMember {
  /// The sprinkler as a member of the swarm.
  public static var sprinkler: SwarmMember { SwarmMember(Sprinkler.self) { try SprinklerSwarm(seed: $0) } }
}
