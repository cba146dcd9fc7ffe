import Service
import Tactus
import Wire

/// A declared system in simulated time: its production loops and their twins on a simulated bench, for scenarios and for other programs that play
/// histories on it. For one thread.
package final class SimulatedSystem<System: DeviceSystem> {
  /// Runs the loops.
  package let simulation: Simulation
  /// The ports: a daemon that dies leaves them as they are.
  package let bench: BenchParts
  let system: HostedSystem<System>
  private let runtime: Runtime
  private let clock = SimulatedNow()

  /// Makes new loops over new simulated hardware, with every output off.
  ///
  /// - Parameters:
  ///   - configured: as its file describes it.
  ///   - seed: of what is random in the simulation.
  ///   - start: when its lane starts.
  ///   - stops: the guard's writes, of which the loops are told, or `nil` if they are not.
  /// - Throws: what the declaration's loops throw, and `RuntimeError`.
  init(
    _ configured: ConfiguredSystem<System>, seed: UInt64, from start: TickInstant = .zero, stops: ExternalStops? = nil
  ) throws {
    clock.now = start
    system = try HostedSystem(configured, simulate: true, bell: nil, clock: .tick, now: { [clock] in clock.now })
    let lane = system.lane
    runtime = try Runtime(externalStops: stops) { lane }
    simulation = try runtime.simulation(seed: seed, from: start)
    bench = system.parts
  }

  /// The same with the defaults of its wiring.
  package convenience init(rules: System.Rules, seed: UInt64, from start: TickInstant, stops: ExternalStops?) throws {
    try self.init(ConfiguredSystem<System>(System.Wiring(), rules), seed: seed, from: start, stops: stops)
  }

  /// The period of the loop that takes the orders, and how many faults its simulation can have, by the defaults of all keys.
  ///
  /// - Throws: what the declaration's loops throw.
  package static func plan() throws -> (period: Nanoseconds, faults: Int) {
    let configured = try ConfiguredSystem<System>()
    return (configured.rate?.period ?? .seconds(1), configured.plan.faults.count)
  }

  // MARK: The loop that takes the orders

  /// What it publishes, for the supervisor.
  package var heartbeat: LatestVersion { system.heartbeat }
  /// The period that the supervisor knows of it; zero if it is shorter than the supervisor's.
  package var heartbeatPeriod: Nanoseconds { system.heartbeatPeriod }
  /// Its name.
  package var loopName: String { system.loopName }
  /// From the start to its first release.
  package var phase: Nanoseconds { runtime.statistics[loopName]?.phase ?? .zero }
  /// Its releases so far.
  package var counters: LoopCounters? { runtime.counters(of: loopName) }
  /// Whether it says of its last tick that every output was in its safe state.
  package var isSafe: Bool { system.door.published.isSafe }
  /// Whether every output is in its safe state, by the loop and by what can be read back.
  package var isConfirmed: Bool { system.unconfirmed == nil }
  /// The rules that it has taken.
  package var rules: System.Rules { system.wanted.inEffect }

  /// The values of the fields that only grow, as published last.
  package var growing: [(name: String, value: Double)] {
    system.door.document.leaves(of: system.door.newest).filter { $0.form.kind == .counter }.compactMap { leaf in
      switch leaf.value {
      case .integer(let whole): (leaf.path, Double(whole))
      case .number(let number): (leaf.path, number)
      case .nothing, .boolean, .text: nil
      }
    }
  }

  // MARK: What is done to it

  /// The change of its rules to these, or `nil` if they are the same.
  ///
  /// - Parameter waits: whether what becomes wider waits until the outputs are off.
  package func change(to rules: System.Rules, waits: Bool = true) -> (any RulesChange)? {
    if waits { return HostedSystem<System>.change(system.wanted, to: rules) }
    return system.wanted.change(of: System.name, [], now: rules, whenSafe: nil)
  }

  /// Puts the fault of this place in the declaration into force, or ends it. A place that there is not does nothing.
  package func setFault(_ place: Int, _ isActive: Bool) {
    guard bench.faults.indices.contains(place) else { return }
    setFault(bench.faults[place].name, isActive)
  }

  /// Puts the fault of this name into force, or ends it.
  func setFault(_ name: String, _ isActive: Bool) { system.faults.set(name, isActive) }

  /// The order of a command's name, or of `e-stop` or `reset`, as a request's body says it, and whether it can only make the system safer.
  ///
  /// - Throws: 404, 422.
  package func order(_ word: String, _ body: JSONValue) throws(APIError) -> (order: System.Order, makesSafe: Bool) {
    try system.door.order(word, body)
  }

  /// Sends an order to the loop.
  ///
  /// - Parameter done: called with the loop's answer, or at once if there is no room.
  package func send(
    _ order: System.Order, makesSafe: Bool, at now: TickInstant,
    done: @escaping @Sendable (Result<Answer<System.Refusal>, APIError>) -> Void
  ) {
    clock.now = now
    system.door.requests.send(order, makesSafe: makesSafe, client: 1) { done($0) }
  }

  /// Hands out what the loop has answered, and ends requests that have waited for too long; the daemon's main thread does so at its beats.
  ///
  /// - Returns: what the loop has noticed since the last call.
  @discardableResult
  package func takeAnswers(at now: TickInstant) -> [Told<System.Notice>] {
    clock.now = now
    system.takeAnswers(at: now)
    return system.takeNotices()
  }
}
