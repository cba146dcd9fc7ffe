import Tactus

/// One loop of a daemon under the swarm, on the production scheduler in simulated time. It dies with the process.
public final class SwarmLoop {
  /// Runs the lane.
  public let simulation: Simulation
  /// What the loop publishes, for the supervisor.
  public let version: LatestVersion
  /// How many requests the loop's ring has taken: the number of the last.
  public private(set) var number: UInt64 = 0
  private let runtime: Runtime
  private let name: String
  private let lane: String
  private let bell: SimulatedInput
  private let answers: () -> [UInt64]

  /// - Parameters:
  ///   - name: the loop's, on the lane of that name.
  ///   - bell: rung after each request: one of the loop's inputs.
  ///   - answers: takes what the loop has answered since the last call: the requests' numbers.
  public init(
    _ runtime: Runtime, _ name: String, lane: String, _ version: LatestVersion, bell: SimulatedInput, seed: UInt64,
    at now: TickInstant, answers: @escaping () -> [UInt64]
  ) throws(RuntimeError) {
    (self.runtime, self.name, self.lane, self.version, self.bell) = (runtime, name, lane, version, bell)
    self.answers = answers
    simulation = try runtime.simulation(seed: seed, from: now)
  }

  /// Makes a request, and rings.
  ///
  /// - Parameter push: puts the request of this number into the loop's ring; returns whether there was room. A full ring refuses, and the door says
  ///   so to the client: then nothing was acknowledged.
  public func ask(_ output: inout SwarmOutput, at now: TickInstant, _ push: (UInt64) -> Bool) -> Bool {
    guard push(number + 1) else { return false }
    bell.ring(at: now)
    number += 1
    output.asked(number)
    return true
  }

  /// Hands the loop's answers since the last call to the oracle.
  func answer(_ output: inout SwarmOutput, at now: TickInstant) { output.answered(answers(), at: now) }

  /// Looks at the loop's counters.
  public func account(_ output: inout SwarmOutput, at now: TickInstant) {
    if let counters = runtime.counters(of: name) { output.account(counters, at: now) }
  }

  func stall(at now: TickInstant, by span: Nanoseconds) { simulation.stall(loop: name, at: now, by: span) }
  func oversleep(at now: TickInstant, by span: Nanoseconds) { simulation.oversleep(lane: lane, at: now, by: span) }
}

/// What must hold of one loop's outputs.
public protocol SwarmLoopOracle {
  /// The outputs as they are on the simulated hardware.
  associatedtype Outputs
  /// The system's own invariants, and those of every output.
  var output: SwarmOutput { get set }
  /// Looks at the outputs, which are like this now.
  mutating func look(_ outputs: Outputs, at now: TickInstant)
  /// The loop has begun a tick: it has taken all that waited.
  mutating func ticked(at now: TickInstant)
}

/// A part of one loop: what every such part does in the same way.
public protocol SwarmLoopPart: SwarmPart {
  /// What must hold.
  associatedtype Oracle: SwarmLoopOracle
  /// Hears of everything that is done.
  var oracle: Oracle { get set }
  /// The loop of the daemon; `nil` while that is dead.
  var loop: SwarmLoop? { get }
  /// The outputs, as they are on the simulated hardware: never by what the loop says.
  var outputs: Oracle.Outputs { get }
  /// Called after each tick of the loop, which has just been looked at.
  func ticked(at now: TickInstant)
}

extension SwarmLoopPart {
  public var checks: SwarmChecks { oracle.output.checks }
  public var hasFailed: Bool { oracle.output.checks.hasFailed }
  public var hasDied: Bool { false }
  public var heartbeats: [(version: LatestVersion, period: Nanoseconds)] { loop.map { [($0.version, .zero)] } ?? [] }

  /// Runs the loop's ticks up to and including `instant`, and looks at the outputs before and after each.
  public func runTicks(until instant: TickInstant) {
    guard let loop else { return }
    var before = outputs
    while loop.simulation.runTick(until: instant) {
      let (now, after) = (loop.simulation.now, outputs)
      oracle.look(before, at: now)
      oracle.ticked(at: now)
      oracle.look(after, at: now)
      loop.answer(&oracle.output, at: now)
      loop.account(&oracle.output, at: now)
      ticked(at: now)
      before = after
    }
  }

  /// Runs the loop up to and including `instant`, and looks at the outputs as they are then.
  public func runLoop(until instant: TickInstant) {
    runTicks(until: instant)
    oracle.look(outputs, at: instant)
    loop?.account(&oracle.output, at: instant)
  }

  /// Does an action that is done to loops in the same way: `stall … MILLISECONDS`, the last number.
  ///
  /// - Returns: whether it was one.
  public func disturb(_ action: SwarmAction) -> Bool {
    guard action.verb == "stall" else { return false }
    let span = Nanoseconds.milliseconds(action.numbers.last ?? 0)
    loop?.stall(at: action.at, by: span)
    // The tick that is prolonged begins within a period.
    if loop != nil { oracle.output.reach.stalled(at: action.at, for: span + oracle.output.reach.tick) }
    return true
  }

  public func freeze(at now: TickInstant, for span: Nanoseconds) { freezeLoop(at: now, for: span) }

  /// The loop's lane stands still for so long.
  public func freezeLoop(at now: TickInstant, for span: Nanoseconds) {
    loop?.oversleep(at: now, by: span)
    oracle.output.reach.stalled(at: now, for: span)
  }

  /// Stops the loop in order.
  ///
  /// - Parameters:
  ///   - isActive: whether an output is on afterwards.
  ///   - isConfirmed: whether the loop says that every output is off.
  /// - Returns: the same, or `nil` if there is no loop, or one that stands still.
  public func stopLoop(at now: TickInstant, isActive: @autoclosure () -> Bool, isConfirmed: () -> Bool) -> Bool? {
    guard let loop, !oracle.output.reach.isStalled(at: now) else { return nil }
    loop.simulation.stop()
    let isConfirmed = isConfirmed()
    oracle.output.stopped(isActive: isActive(), isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }
}

/// Writes to an output as a guard does.
///
/// - Returns: whether the device has confirmed it.
public func isConfirmed<Failure: Error>(_ write: () throws(Failure) -> Void) -> Bool {
  do throws(Failure) {
    try write()
    return true
  } catch {
    return false
  }
}
