import Service
import Tactus
import Wire

/// A declared system in simulated time: its production loops and their twins on a simulated bench, for scenarios and for other programs that simulate
/// its operation. It must be used on one thread.
package final class SimulatedSystem<System: DeviceSystem> {
  /// The simulation that runs the loops.
  package let simulation: Simulation
  /// The simulated ports, which keep their state if the simulated daemon dies.
  package let bench: BenchParts
  let system: HostedSystem<System>
  private let runtime: Runtime
  private let clock = SimulatedNow()

  /// Makes new loops over new simulated hardware, with every output off.
  ///
  /// - Parameters:
  ///   - configured: the system as configured by its file.
  ///   - seed: the seed of the random numbers in the simulation.
  ///   - start: the instant at which the lane starts.
  ///   - stops: the guard's writes that are reported to the loops, or `nil` to report none.
  /// - Throws: the errors of the declaration's loops, and `RuntimeError`.
  init(
    _ configured: ConfiguredSystem<System>, seed: UInt64, from start: TickInstant = .zero, stops: ExternalStops? = nil,
    recorder: Recorder? = nil
  ) throws {
    clock.now = start
    system = try HostedSystem(configured, simulate: true, bell: nil, clock: .tick, now: { [clock] in clock.now })
    let lane = system.lane
    runtime = try Runtime(externalStops: stops, recorder: recorder) { lane }
    simulation = try runtime.simulation(seed: seed, from: start)
    bench = system.parts
    system.noteSimulated(at: start)
  }

  /// Changes the calendar.
  func setCalendar(at now: TickInstant, _ change: (inout SimulatedCalendar) -> Void) {
    change(&system.calendar)
    system.noteSimulated(at: now)
  }

  /// Makes the system with the defaults of its wiring.
  package convenience init(rules: System.Rules, seed: UInt64, from start: TickInstant, stops: ExternalStops?) throws {
    try self.init(ConfiguredSystem<System>(System.Wiring(), rules), seed: seed, from: start, stops: stops)
  }

  /// The properties of the system that follow from its declaration, with the defaults of all keys.
  package struct Plan {
    /// The period of the loop that takes the orders.
    package let period: Nanoseconds
    /// The faults that the simulation offers.
    package let faults: [String]
    /// The words of the field `state`; empty if there is no such field.
    package let states: [String]
    package let takesOrders: Bool
    /// Whether there is an output that can be read back.
    package let hasOutput: Bool
    /// Whether there is a field that only grows.
    package let hasCounter: Bool
  }

  /// Returns the properties that follow from the declaration.
  ///
  /// - Throws: the errors of the declaration's loops.
  package static func plan() throws -> Plan {
    let configured = try ConfiguredSystem<System>()
    let first = Published(at: .zero, isSafe: false, state: System.firstState(configured.wiring, configured.rules))
    let leaves = SeenDocument<System>().leaves(of: first, .standard(at: .zero))
    let states = leaves.first { $0.path == "state" }?.form.choices ?? []
    return Plan(
      period: configured.rate?.period ?? .seconds(1), faults: configured.plan.faults, states: states,
      takesOrders: System.takesOrders, hasOutput: configured.plan.hasReadBackOutput,
      hasCounter: leaves.contains { $0.form.kind == .counter })
  }

  /// The recording of the loops, or `nil` if there is no recorder.
  var recording: Recording? { runtime.recording() }

  // MARK: The loop that takes the orders

  /// The version of the published state, which the supervisor watches.
  package var heartbeat: LatestVersion { system.heartbeat }
  /// The heartbeat period for the supervisor; zero if it is shorter than the supervisor's period.
  package var heartbeatPeriod: Nanoseconds { system.heartbeatPeriod }
  /// The name of the loop that takes the orders.
  package var loopName: String { system.loopName }
  /// The time from the start to the first release of the loop.
  package var phase: Nanoseconds { runtime.statistics[loopName]?.phase ?? .zero }
  /// The counters of the loop's releases so far, or `nil` if there are none.
  package var counters: LoopCounters? { runtime.counters(of: loopName) }
  /// Whether the loop reported in its last tick that every output was in its safe state.
  package var isSafe: Bool { system.door.published.isSafe }
  /// Whether every output is in its safe state, according to the loop and to the outputs that can be read back.
  package var isConfirmed: Bool { system.unconfirmed == nil }
  /// The rules that the loop has taken.
  package var rules: System.Rules { system.wanted.inEffect }

  /// The last published values of the fields that only grow, and of the field `state`, which is `nil` if there is none.
  package var newest: (growing: [(name: String, value: Double)], state: String?) {
    let leaves = system.door.leaves()
    let growing: [(name: String, value: Double)] = leaves.filter { $0.form.kind == .counter }.compactMap { leaf in
      leaf.value?.number.map { (name: leaf.path, value: $0) }
    }
    guard case .text(let state)? = leaves.first(where: { $0.path == "state" })?.value else { return (growing, nil) }
    return (growing, state)
  }

  // MARK: Actions on the system

  /// Returns the change to the given rules, or `nil` if the rules are the same.
  ///
  /// - Parameter waits: whether wider limits wait until the outputs are off.
  package func change(to rules: System.Rules, waits: Bool = true) -> (any RulesChange)? {
    if waits { return HostedSystem<System>.change(system.wanted, to: rules) }
    return system.wanted.change(of: System.name, [], now: rules, whenSafe: nil)
  }

  /// Activates or ends the fault at an index of the declaration. An index without a fault has no effect.
  package func setFault(_ place: Int, _ isActive: Bool) {
    guard bench.faults.indices.contains(place) else { return }
    setFault(bench.faults[place].name, isActive)
  }

  /// Activates or ends the fault with a name.
  func setFault(_ name: String, _ isActive: Bool) { system.faults.set(name, isActive) }

  /// Returns the order of a command, or of `e-stop` or `reset`, for the body of a request, and whether the order can
  /// only make the system safer.
  ///
  /// - Throws: an `APIError` with status 404 if there is no such command, or 422 if the body is invalid.
  package func order(_ word: String, _ body: JSONValue) throws(APIError) -> (order: System.Order, makesSafe: Bool) {
    try system.door.order(word, body)
  }

  /// Sends an order to the loop.
  ///
  /// - Parameters:
  ///   - asked: the instant at which the client asked, or `nil` if no stop makes it void.
  ///   - done: called with the loop's answer, or immediately with an error if the queue is full or a stop that was asked
  ///     for later has been sent.
  package func send(
    _ order: System.Order, makesSafe: Bool, asked: TickInstant? = nil, at now: TickInstant,
    done: @escaping @Sendable (Result<Answer<System.Refusal>, APIError>) -> Void
  ) {
    clock.now = now
    system.door.requests.send(order, makesSafe: makesSafe, client: 1, asked: asked.map { Asked(at: $0) }) { done($0) }
  }

  /// Delivers the answers of the loop, and ends requests whose timeout has passed, as the main thread of the daemon
  /// does.
  ///
  /// - Returns: the notices of the loop since the last call.
  @discardableResult
  package func takeAnswers(at now: TickInstant) -> [Told<System.Notice>] {
    clock.now = now
    system.takeAnswers(at: now) {}
    return system.takeNotices()
  }
}
