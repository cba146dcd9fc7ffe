import Buses
import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime

/// A sprinkler under the swarm: the valves' production loop, the production schedule with its rule that the store comes first, a store that
/// survives the daemon, and people who ask.
final class SprinklerSwarm: SwarmPart {
  static let zones = 4
  private static let loop = "sprinkler"
  /// Noon is half a minute after the start, so that programs start.
  private var wallAtZero = WallInstant(secondsSince1970: 1_780_012_800 - 30)
  private static let settings = SchedulerSettings(zone: .utc, pins: Array(1...zones))

  let name = "sprinkler"
  var hasDied: Bool { daemon != nil && store.hasDied }
  var checks: SwarmChecks { oracle.output.checks }
  var hasFailed: Bool { oracle.output.checks.hasFailed }
  private let seed: UInt64
  private let bank = SimulatedGPIOBank(highAtRest: Set(1...zones), logCapacity: 1)
  private let lines: SimulatedGPIOLines
  private let store: SimulatedScheduleStore
  private var oracle = SprinklerOracle()
  private var daemon: SprinklerSwarmDaemon?

  /// - Parameter forgets: whether the store only says that it has kept something, for tests.
  init(seed: UInt64, forgets: Bool = false) throws {
    self.seed = seed
    lines = try bank.outputs((1...Self.zones).map { GPIOLine(.bcm($0), isActiveLow: true) })
    var records = SprinklerRecords()
    records.zones = (1...Self.zones).map {
      Zone(id: ZoneID($0)!, name: "zone \($0)", gpioPin: $0, defaultSeconds: 4, maximumSeconds: 12)
    }
    store = SimulatedScheduleStore(records, forgets: forgets)
  }

  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] {
    daemon.map { [($0.channel.state.version, SprinklerLoop.period)] } ?? []
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped? = daemon?.newest.state { true } else { false }
  }

  var remoteWords: [String: String] { ["on": "zone-on", "off": "zone-off", "stop": "stop-all"] }

  func plan(until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64) -> [SwarmAction] {
    SprinklerSwarmPlan.actions(until: end, around: incidents, &random)
  }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    // Requested anew, inactive.
    let isOff = turnOff(at: now)
    store.reopen()
    let channel = SprinklerLoop.channel(notices: 256)
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("sprinkler") {
        Loop(
          Self.loop, every: .hertz(1), phase: .zero, safeStateAfter: 3, inputs: [.simulated(bell)]
        ) {
          SprinklerLoop(
            try! IrrigationSettings(lineCount: Self.zones), limits: RulesBox(FlowLimits()).input(), lines: lines.port(),
            channel: channel.loopEnds(requestBell: bell.doorbell))
        }
      }
    }
    let (store, closed) = (store, [cover.madeSafe, cover.madeSafeLast, isOff ? now : nil].compactMap(\.self))
    let schedule = StoredSchedule(
      { SprinklerScheduler(store.records, settings: Self.settings, boot: BootID("1"), valvesClosed: closed) },
      store: store)
    daemon = SprinklerSwarmDaemon(
      runtime: runtime, simulation: try runtime.simulation(seed: seed, from: now), channel: channel, bell: bell,
      schedule: schedule, at: now)
    oracle.started(at: now, cover)
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    daemon = nil
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon, !store.hasDied, !oracle.output.reach.isStalled(at: now) else { return (false, .known) }
    daemon.simulation.stop()
    let isConfirmed = daemon.newest.confirmation.isConfirmed
    oracle.look(open: open, at: now)
    oracle.output.stopped(isActive: open != 0, isConfirmed: isConfirmed, at: now)
    return (isConfirmed, daemon.finish(at: now, wallAtZero))
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    guard let daemon else { return }
    daemon.simulation.oversleep(lane: "sprinkler", at: now, by: span)
    daemon.nextBeat = max(daemon.nextBeat, now + span)
    oracle.output.reach.stalled(at: now, for: span)
  }

  func run(until instant: TickInstant) {
    while let daemon, !store.hasDied {
      let before = open
      let beat = daemon.nextBeat
      if daemon.simulation.runTick(until: min(instant, beat)) {
        oracle.look(open: before, at: daemon.simulation.now)
        oracle.ticked(at: daemon.simulation.now)
        oracle.look(open: open, at: daemon.simulation.now)
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
    oracle.look(open: open, at: instant, hasDied: daemon != nil && store.hasDied)
    if !store.hasDied { account(at: instant) }
  }

  private func account(at now: TickInstant) {
    guard let counters = daemon?.runtime.counters(of: Self.loop) else { return }
    oracle.output.account(counters, at: now)
  }

  /// Of the lines: bit k for zone k + 1.
  private var open: UInt64 { (~bank.levels.word >> 1) & (1 << UInt64(Self.zones) - 1) }

  func makeSafe(at now: TickInstant) -> Bool {
    let before = open
    oracle.look(open: before, at: now)
    let isConfirmed = turnOff(at: now)
    oracle.cut(wasOpen: before != 0, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  private func turnOff(at now: TickInstant) -> Bool {
    var port = lines.port()
    port.now = now
    do throws(GPIOError) {
      try port.turnAllOff()
      return true
    } catch {
      return false
    }
  }

  func emergencyStop(at now: TickInstant) { send(.emergencyStop, at: now) }
  func reset(at now: TickInstant) { send(.reset, at: now) }

  private func send(_ order: SprinklerRequest.Order, at now: TickInstant) {
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
      // The tick that is prolonged begins within a period.
      if daemon != nil { oracle.output.reach.stalled(at: now, for: .milliseconds(action[0] + 1_000)) }
    case "clock": wallAtZero = wallAtZero + action[0]
    case "disk-full": store.setFull(action[0] > 0)
    case "crash-in-write": store.crash(action[0] > 0 ? .after : .before)
    default: if let command = SprinklerSwarmPlan.command(action) { ask(command, at: now) }
    }
  }

  /// A person's command, which is acknowledged when the store has it.
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
