@_spi(FromOutside) import Conversions
import Service
import Tactus
import TactusDaemon

/// A declared system under the swarm, derived from its declaration alone: its production loop and its device model on
/// the simulated bench with the defaults of its keys, clients that call its commands, and its declared faults.
///
/// A daemon that starts again finds new hardware, with every output off.
final class DeclaredSwarm<System: DeviceSystem>: SwarmPart {
  let name = System.name
  let hasDied = false
  var checks: SwarmChecks { oracle.output.checks }
  var hasFailed: Bool { oracle.output.checks.hasFailed }
  private let seed: UInt64
  private let answers = DeclaredAnswers()
  private let variant: Variant
  private let system: SimulatedSystem<System>.Plan
  private var exercise: SwarmExercise
  var exercised: [String: Int] { exercise.counts }
  private var now = TickInstant.zero
  /// The rules of the configuration files: the first at the start, the others after the reloads of a history. `file` is
  /// the index of the one in effect.
  private let files: [DeclaredRules<System.Rules>]
  private var file = 0
  private var oracle: DeclaredOracle<System.Rules>
  private var daemon: Daemon?
  /// The bench of the present daemon, or of the last one while no daemon runs.
  private var bench: BenchParts?
  /// Whether an output is on, as of the loop's last tick or of the guard's last write.
  private var isDriving = false
  private var isStopped = false
  private var frozenUntil = TickInstant.zero
  private var isRefusing = false
  private var faults: Set<Int64> = []

  /// The state of one run of the daemon, which is lost with its process.
  private struct Daemon {
    let system: SimulatedSystem<System>
    /// The loop's number of publications at the last look.
    var seen: UInt64 = 0
    var asked: UInt64 = 0
    /// The names under which accepted requests are counted, by the requests' numbers.
    var titles: [UInt64: String] = [:]
    /// The number of times that the loop has been put into its safe state.
    var safeStates: Int64 = 0
    /// Whether a reload may have changed the rules with which the daemon started.
    var hasReloaded = false
  }

  /// Mechanisms that a test removes, and knowledge about the system that a test adds.
  struct Variant: Sendable {
    /// Whether the commands of clients reach the loop.
    var commands = true
    /// Whether a request carries the instant at which it arrived.
    var stampsArrivals = true
    /// Whether a reload reaches the loop.
    var reloads = true
    /// Whether a wider limit waits until the outputs are off.
    var waits = true
    /// Returns the largest duty cycle of a PWM output that the rules allow; `nil` if the test does not know it, which a
    /// declaration does not state.
    var mostDuty: (@Sendable (System.Rules) -> Double)?
  }

  /// Makes the part of a declared system.
  ///
  /// - Throws: the errors of `System.loops` with the defaults of all keys.
  init(seed: UInt64, _ variant: Variant = Variant()) throws {
    (self.seed, self.variant) = (seed, variant)
    files = DeclaredRules.files(System.name, seed: seed)
    let plan = try SimulatedSystem<System>.plan()
    system = plan
    oracle = DeclaredOracle(period: plan.period)
    var names = System.commands.compactMap { DeclaredSwarmPlan<System>.title($0) }
    names += plan.faults.map { "fault \($0)" } + [Self.safeState]
    if plan.takesOrders { names += ["e-stop", "reset"] }
    if plan.hasOutput { names.append(Self.outputOn) }
    exercise = SwarmExercise(states: plan.states, names)
  }

  private static var outputOn: String { "an output on" }
  private static var safeState: String { "the safe state asked for" }

  var inapplicable: Set<String> {
    let (names, own) = (checks.names, DeclaredOracle<System.Rules>.names.count)
    let hasNumbers = system.hasCounter || System.commands.contains { DeclaredSwarmPlan<System>.title($0) != nil }
    return Set(
      (system.hasOutput ? [] : [names[0]]) + (hasNumbers ? [] : [names[1]])
        + (system.takesOrders ? [] : [names[2], names[4], names[own], names[own + 3]]))
  }

  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] {
    daemon.map { [($0.system.heartbeat, $0.system.heartbeatPeriod)] } ?? []
  }

  /// Whether an emergency stop is in force for the clients: from the request for the stop to an accepted reset.
  var isEmergencyStopped: Bool { daemon != nil && isStopped }

  func plan(_ plan: inout SwarmPlanner) { DeclaredSwarmPlan<System>.plan(&plan, faults: system.faults.count) }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    self.now = now
    let system: SimulatedSystem<System>
    do {
      system = try SimulatedSystem(rules: files[file].rules, seed: seed, from: now, stops: cover.stops)
    } catch {
      preconditionFailure("it was planned, and its simulated bench cannot be opened: \(error)")
    }
    daemon = Daemon(system: system)
    bench = system.bench
    bench?.refuse(isRefusing)
    for fault in faults { inject(fault, true) }
    (isStopped, frozenUntil) = (false, .zero)
    answers.forget()
    readOutputs()
    oracle.started(at: now, cover, phase: system.phase, files[file])
  }

  func change(to number: Int64) -> (any RulesChange)? {
    guard let daemon, let index = Int(exactly: number), files.indices.contains(index), variant.reloads else {
      return nil
    }
    oracle.proposed()
    return daemon.system.change(to: files[index].rules, waits: variant.waits)
  }

  func changed(to number: Int64) {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return }
    file = index
    daemon?.hasReloaded = true
    oracle.changed(to: files[index], at: now)
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    daemon = nil
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon, !oracle.output.reach.isStalled(at: now) else { return (false, .known) }
    daemon.system.simulation.stop()
    readOutputs()
    exercise.see(state: daemon.system.newest.state)
    let isConfirmed = daemon.system.isConfirmed
    oracle.output.stopped(isActive: isDriving, isConfirmed: isConfirmed, at: now)
    return (isConfirmed, .known)
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    daemon?.system.simulation.oversleep(lane: System.name, at: now, by: span)
    frozenUntil = now + span
    oracle.output.reach.stalled(at: now, for: span)
  }

  func run(until instant: TickInstant) {
    while let simulation = daemon?.system.simulation {
      let (before, wasSafe) = (isDriving, daemon!.system.isSafe)
      guard simulation.runTick(until: instant) else { break }
      // The tick may belong to any loop of the lane, of which only one has outputs.
      guard daemon!.system.heartbeat.read() != daemon!.seen else { continue }
      daemon!.seen = daemon!.system.heartbeat.read()
      let now = simulation.now
      oracle.check(isDriving: before, at: now)
      readOutputs()
      let rules = daemon!.hasReloaded ? DeclaredRules(daemon!.system.rules) : files[file]
      oracle.ticked(at: now, wasSafe: wasSafe, rules)
      if let most = variant.mostDuty, let bench { oracle.check(duty: bench.mostDuty, most, at: now) }
      receiveAnswers(at: now)
      oracle.check(isDriving: isDriving, at: now)
      let (growing, state) = daemon!.system.newest
      oracle.check(growing: growing, at: now)
      exercise.see(state: state)
      account(at: now)
    }
    if instant >= frozenUntil { receiveAnswers(at: instant) }
    oracle.check(isDriving: isDriving, at: instant)
    if instant >= frozenUntil + .milliseconds(100) { oracle.checkWaiting(at: instant) }
    account(at: instant)
  }

  private func readOutputs() {
    let wasDriving = isDriving
    isDriving = bench?.isDriving ?? false
    if isDriving, !wasDriving { exercise.did(Self.outputOn) }
  }

  private func account(at now: TickInstant) {
    guard let counters = daemon?.system.counters else { return }
    oracle.output.account(counters, at: now)
    guard counters.safeStates > daemon!.safeStates else { return }
    daemon!.safeStates = counters.safeStates
    exercise.did(Self.safeState)
  }

  func makeSafe(at now: TickInstant) -> Bool {
    let before = isDriving
    let isConfirmed = bench?.makeSafe(at: now) ?? true
    readOutputs()
    oracle.cut(wasDriving: before, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  func emergencyStop(at now: TickInstant) {
    guard daemon != nil, system.takesOrders else { return }
    isStopped = true
    ask(System.emergencyStop, .stop, "e-stop", makesSafe: true, at: now)
  }

  func reset(at now: TickInstant) { ask(System.reset, .reset, "reset", makesSafe: false, at: now) }

  // MARK: Clients and faults

  func apply(_ action: SwarmAction) {
    let now = action.at
    switch action.verb {
    case "call": call(action, at: now)
    case "late-call":
      var call = action
      call.numbers = Array(action.numbers.dropFirst())
      self.call(call, arrived: now + .milliseconds(-action[0]), at: now)
    case "late-reset":
      ask(System.reset, .reset, "reset", makesSafe: false, arrived: now + .milliseconds(-action[0]), at: now)
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "fault":
      if action[1] > 0 { faults.insert(action[0]) } else { faults.remove(action[0]) }
      inject(action[0], action[1] > 0)
    case "outputs-refuse":
      isRefusing = action[0] > 0
      bench?.refuse(isRefusing)
      oracle.output.reach.bus(isFaulty: isRefusing, at: now)
    case "stall":
      guard let daemon else { return }
      let span = Nanoseconds.milliseconds(action[0])
      daemon.system.simulation.stall(loop: daemon.system.loopName, at: now, by: span)
      // The prolonged tick begins within a period.
      oracle.output.reach.stalled(at: now, for: span + oracle.output.reach.tick)
    default: break
    }
  }

  private func inject(_ fault: Int64, _ isOn: Bool) {
    guard let daemon, let index = Int(exactly: fault), system.faults.indices.contains(index) else { return }
    daemon.system.setFault(index, isOn)
    if isOn { exercise.did("fault \(system.faults[index])") }
  }

  /// Sends a command after reading its body with the parser of the service.
  private func call(_ action: SwarmAction, arrived: TickInstant? = nil, at now: TickInstant) {
    guard let daemon, variant.commands,
      let (word, title, body, isInRange) = DeclaredSwarmPlan<System>.call(action)
    else { return }
    do throws(APIError) {
      let (order, makesSafe) = try daemon.system.order(word, body)
      oracle.read(isInRange: isInRange, isTaken: true, word, at: now)
      ask(order, .command, title, makesSafe: makesSafe, arrived: arrived, at: now)
    } catch {
      oracle.read(isInRange: isInRange, isTaken: false, word, at: now)
    }
  }

  private func ask(
    _ order: System.Order, _ kind: DeclaredAnswers.Kind, _ title: String, makesSafe: Bool,
    arrived: TickInstant? = nil, at now: TickInstant
  ) {
    guard let daemon, system.takesOrders else { return }
    self.now = now
    let number = daemon.asked + 1
    let (arrived, stamp) = (arrived ?? now, variant.stampsArrivals ? arrived ?? now : now)
    daemon.system.send(order, makesSafe: makesSafe, asked: stamp, at: now) { [answers] result in
      answers.note(number, kind, makesSafe: makesSafe, result)
    }
    // An order that is refused at once is not among the waiting ones.
    if let refusal = answers.takeRefusal(number) {
      if refusal == .overtaken { oracle.refusedAsOvertaken(arrived: arrived, at: now) }
      return
    }
    self.daemon?.asked = number
    self.daemon?.titles[number] = title
    oracle.asked(number, makesSafe: makesSafe, arrived: arrived, at: now)
  }

  /// Receives the answers of the loop as the main thread does, and times out the requests that the loop has not answered.
  private func receiveAnswers(at now: TickInstant) {
    guard let daemon else { return }
    self.now = now
    daemon.system.takeAnswers(at: now)
    for answer in answers.take() {
      if answer.leavesStop(nothingToReset: System.nothingToReset?.rawValue) { isStopped = false }
      oracle.answered(answer, at: now)
      let title = self.daemon?.titles.removeValue(forKey: answer.number)
      if let title, answer.outcome == .accepted { exercise.did(title) }
    }
  }
}
