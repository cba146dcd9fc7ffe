import Service
import Tactus

/// A declared system under the swarm, with nothing but its declaration: its production loop and its twin on the simulated bench with the defaults of
/// its keys, clients that call its commands, and its declared faults.
///
/// A daemon that starts anew finds new hardware, with every output off.
final class DeclaredSwarm<System: DeviceSystem>: SwarmPart {
  let name = System.name
  let hasDied = false
  var checks: SwarmChecks { oracle.output.checks }
  var hasFailed: Bool { oracle.output.checks.hasFailed }
  private let seed: UInt64
  private let configured: ConfiguredSystem<System>
  private let clock = SimulatedNow()
  private let answers = DeclaredAnswers()
  private let variant: Variant
  /// What the file says: at the start, and after the reloads that a history has; its number.
  private let files: [DeclaredRules<System.Rules>]
  private var file = 0
  private var oracle: DeclaredOracle<System.Rules>
  private var daemon: Daemon?
  /// The bench of this daemon, or of the last one.
  private var parts: BenchParts?
  /// As of the loop's last tick, or of the guard's last write.
  private var isDriving = false
  private var isStopped = false
  private var frozenUntil = TickInstant.zero
  private var isRefusing = false
  private var faults: Set<Int64> = []

  /// What dies with the process.
  private struct Daemon {
    let system: HostedSystem<System>
    let runtime: Runtime
    let simulation: Simulation
    /// How often the loop had published when it was last looked at.
    var seen: UInt64 = 0
    var asked: UInt64 = 0
    /// Whether a reload may have changed the rules that the daemon began with.
    var hasReloaded = false
  }

  /// What a test takes away, or knows of its system.
  struct Variant: Sendable {
    /// A reload reaches the loop.
    var reloads = true
    /// What is wider waits until the outputs are off.
    var waits = true
    /// The largest share of its time in which a PWM output may be on by these rules; what a system's rules mean no declaration says.
    var mostDuty: (@Sendable (System.Rules) -> Double)?
  }

  /// - Throws: what `System.loops` throws with the defaults of all keys.
  init(seed: UInt64, _ variant: Variant = Variant()) throws {
    (self.seed, self.variant) = (seed, variant)
    files = DeclaredRules.files(System.name, seed: seed)
    configured = try ConfiguredSystem<System>()
    oracle = DeclaredOracle(period: configured.rate?.period ?? .seconds(1))
  }

  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] {
    daemon.map { [($0.system.heartbeat, $0.system.heartbeatPeriod)] } ?? []
  }

  /// As the door has it: from the request for a stop to an accepted reset.
  var isEmergencyStopped: Bool { daemon != nil && isStopped }

  func plan(until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64) -> [SwarmAction] {
    DeclaredSwarmPlan<System>.actions(until: end, around: incidents, faults: configured.plan.faults.count, &random)
  }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    clock.now = now
    let system: HostedSystem<System>
    do {
      let saved = try file == 0 ? configured : ConfiguredSystem<System>(System.Wiring(), files[file].rules)
      system = try HostedSystem(saved, simulate: true, bell: nil, clock: .tick, now: { [clock] in clock.now })
    } catch {
      preconditionFailure("it was planned, and its simulated bench cannot be opened: \(error)")
    }
    let lane = system.lane
    let runtime = try Runtime(externalStops: cover.stops) { lane }
    daemon = Daemon(system: system, runtime: runtime, simulation: try runtime.simulation(seed: seed, from: now))
    parts = system.parts
    parts?.refuse(isRefusing)
    for fault in faults { inject(fault, true) }
    (isStopped, frozenUntil) = (false, .zero)
    answers.forget()
    look()
    oracle.started(at: now, cover, phase: runtime.statistics[system.loopName]!.phase, files[file])
  }

  func change(to number: Int64) -> (any RulesChange)? {
    guard let daemon, let index = Int(exactly: number), files.indices.contains(index), variant.reloads else {
      return nil
    }
    oracle.proposed()
    let (wanted, rules) = (daemon.system.wanted, files[index].rules)
    if !variant.waits { return wanted.change(of: name, [], now: rules, whenSafe: nil) }
    return HostedSystem<System>.change(wanted, to: rules)
  }

  func changed(to number: Int64) {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return }
    file = index
    daemon?.hasReloaded = true
    oracle.changed(to: files[index], at: clock.now)
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    daemon = nil
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon, !oracle.output.reach.isStalled(at: now) else { return (false, .known) }
    daemon.simulation.stop()
    look()
    let isConfirmed = daemon.system.unconfirmed == nil
    oracle.output.stopped(isActive: isDriving, isConfirmed: isConfirmed, at: now)
    return (isConfirmed, .known)
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    daemon?.simulation.oversleep(lane: System.name, at: now, by: span)
    frozenUntil = now + span
    oracle.output.reach.stalled(at: now, for: span)
  }

  func run(until instant: TickInstant) {
    while let simulation = daemon?.simulation {
      let (before, wasSafe) = (isDriving, daemon!.system.door.published.isSafe)
      guard simulation.runTick(until: instant) else { break }
      // Of all loops of its lane, and of those only one has outputs.
      guard daemon!.system.heartbeat.read() != daemon!.seen else { continue }
      daemon!.seen = daemon!.system.heartbeat.read()
      let now = simulation.now
      oracle.look(isDriving: before, at: now)
      look()
      let rules = daemon!.hasReloaded ? DeclaredRules(daemon!.system.wanted.inEffect) : files[file]
      oracle.ticked(at: now, wasSafe: wasSafe, rules)
      if let most = variant.mostDuty, let parts { oracle.look(duty: parts.mostDuty, most, at: now) }
      take(at: now)
      oracle.look(isDriving: isDriving, at: now)
      oracle.look(counters: daemon!.system.door, at: now)
      account(at: now)
    }
    if instant >= frozenUntil { take(at: instant) }
    oracle.look(isDriving: isDriving, at: instant)
    if instant >= frozenUntil + .milliseconds(100) { oracle.lookAtWaiting(at: instant) }
    account(at: instant)
  }

  private func look() { isDriving = parts?.isDriving ?? false }

  private func account(at now: TickInstant) {
    guard let daemon, let counters = daemon.runtime.counters(of: daemon.system.loopName) else { return }
    oracle.output.account(counters, at: now)
  }

  func makeSafe(at now: TickInstant) -> Bool {
    let before = isDriving
    let isConfirmed = parts?.makeSafe(at: now) ?? true
    look()
    oracle.cut(wasDriving: before, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  func emergencyStop(at now: TickInstant) {
    guard daemon != nil else { return }
    isStopped = true
    ask(System.emergencyStop, .stop, makesSafe: true, at: now)
  }

  func reset(at now: TickInstant) { ask(System.reset, .reset, makesSafe: false, at: now) }

  // MARK: Clients and faults

  func apply(_ action: SwarmAction) {
    let now = action.at
    switch action.verb {
    case "call": call(action, at: now)
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "fault":
      if action[1] > 0 { faults.insert(action[0]) } else { faults.remove(action[0]) }
      inject(action[0], action[1] > 0)
    case "outputs-refuse":
      isRefusing = action[0] > 0
      parts?.refuse(isRefusing)
      oracle.output.reach.bus(isFaulty: isRefusing, at: now)
    case "stall":
      guard let daemon else { return }
      let span = Nanoseconds.milliseconds(action[0])
      daemon.simulation.stall(loop: daemon.system.loopName, at: now, by: span)
      // The tick that is prolonged begins within a period.
      oracle.output.reach.stalled(at: now, for: span + oracle.output.reach.tick)
    default: break
    }
  }

  private func inject(_ fault: Int64, _ isOn: Bool) {
    guard let parts, parts.faults.indices.contains(Int(fault)) else { return }
    daemon?.system.faults.set(parts.faults[Int(fault)].name, isOn)
  }

  /// A command by the door's own reading of its body.
  private func call(_ action: SwarmAction, at now: TickInstant) {
    guard let daemon, let (word, body, isInRange) = DeclaredSwarmPlan<System>.call(action) else { return }
    do throws(APIError) {
      let (order, makesSafe) = try daemon.system.door.order(word, body)
      oracle.read(isInRange: isInRange, isTaken: true, word, at: now)
      ask(order, .command, makesSafe: makesSafe, at: now)
    } catch {
      oracle.read(isInRange: isInRange, isTaken: false, word, at: now)
    }
  }

  private func ask(_ order: System.Order, _ kind: DeclaredAnswers.Kind, makesSafe: Bool, at now: TickInstant) {
    guard let daemon else { return }
    clock.now = now
    let number = daemon.asked + 1
    daemon.system.door.requests.send(order, makesSafe: makesSafe, client: 1) { [answers] result in
      answers.note(number, kind, makesSafe: makesSafe, result)
    }
    // Told at once that there is no room: it has no place among the others.
    if answers.takeBusy(number) { return }
    self.daemon?.asked = number
    oracle.asked(number, at: now)
  }

  /// The main thread takes what the loop has answered, and tells what it has not.
  private func take(at now: TickInstant) {
    guard let daemon else { return }
    clock.now = now
    daemon.system.takeAnswers(at: now)
    _ = daemon.system.takeNotices()
    for answer in answers.take() {
      if answer.leavesStop(nothingToReset: System.nothingToReset?.rawValue) { isStopped = false }
      oracle.answered(answer, at: now)
    }
  }
}
