@_spi(FromOutside) import Conversions
import Tactus

/// One loop of a daemon under the swarm, on the production scheduler in simulated time. It ends with the process.
public final class SwarmLoop {
  /// The simulation that runs the lane.
  public let simulation: Simulation
  /// The version of the loop's published state, for the supervisor.
  public let version: LatestVersion
  /// The number of requests that the loop's ring has accepted, which is also the number of the last one.
  public private(set) var number: UInt64 = 0
  private let runtime: Runtime
  private let name: String
  private let lane: String
  private let bell: SimulatedInput
  private let answers: () -> [UInt64]

  /// Makes a loop that starts at `now`.
  ///
  /// - Parameters:
  ///   - name: the name of the loop.
  ///   - bell: one of the loop's inputs, which is rung after each request.
  ///   - answers: returns the numbers of the requests that the loop has answered since the last call.
  public init(
    _ runtime: Runtime, _ name: String, lane: String, _ version: LatestVersion, bell: SimulatedInput, seed: UInt64,
    at now: TickInstant, answers: @escaping () -> [UInt64]
  ) throws(RuntimeError) {
    (self.runtime, self.name, self.lane, self.version, self.bell) = (runtime, name, lane, version, bell)
    self.answers = answers
    simulation = try runtime.simulation(seed: seed, from: now)
  }

  /// Sends a request and rings the bell. Returns whether the ring had room.
  ///
  /// - Parameter push: puts the request of this number into the loop's ring and returns whether there was room. If the
  ///   ring is full, the service refuses the request, and nothing has been acknowledged.
  public func ask(_ output: inout SwarmOutput, at now: TickInstant, _ push: (UInt64) -> Bool) -> Bool {
    guard push(number + 1) else { return false }
    bell.ring(at: now)
    number += 1
    output.asked(number)
    return true
  }

  /// Passes the loop's answers since the last call to the oracle.
  func answer(_ output: inout SwarmOutput, at now: TickInstant) { output.answered(answers(), at: now) }

  /// Checks the loop's counters.
  public func account(_ output: inout SwarmOutput, at now: TickInstant) {
    if let counters = runtime.counters(of: name) { output.account(counters, at: now) }
  }

  func stall(at now: TickInstant, by span: Nanoseconds) { simulation.stall(loop: name, at: now, by: span) }
  func oversleep(at now: TickInstant, by span: Nanoseconds) { simulation.oversleep(lane: lane, at: now, by: span) }
}

/// The oracle of one loop: it checks the invariants of the loop's outputs.
public protocol SwarmLoopOracle {
  /// The outputs as they are on the simulated hardware.
  associatedtype Outputs
  /// The system's own invariants together with those of every output.
  var output: SwarmOutput { get set }
  /// Checks the invariants for outputs with the given values.
  mutating func check(_ outputs: Outputs, at now: TickInstant)
  /// Notes that the loop has begun a tick and has taken all waiting requests.
  mutating func ticked(at now: TickInstant)
}

/// A part with a single loop; the extension implements the behaviour that all such parts share.
public protocol SwarmLoopPart: SwarmPart {
  /// The oracle that checks the invariants.
  associatedtype Oracle: SwarmLoopOracle
  /// The oracle, which is notified of every action.
  var oracle: Oracle { get set }
  /// The loop of the daemon, or `nil` while the daemon is dead.
  var loop: SwarmLoop? { get }
  /// The outputs, read from the simulated hardware and never from the loop's reports.
  var outputs: Oracle.Outputs { get }
  /// Handles the end of a tick. The function is called after each tick of the loop, when its outputs have been checked.
  func ticked(at now: TickInstant)
}

extension SwarmLoopPart {
  public var checks: SwarmChecks { oracle.output.checks }
  public var hasFailed: Bool { oracle.output.checks.hasFailed }
  public var hasDied: Bool { false }
  public var heartbeats: [(version: LatestVersion, period: Nanoseconds)] { loop.map { [($0.version, .zero)] } ?? [] }

  /// Runs the loop's ticks up to and including `instant`, and checks the outputs before and after each.
  public func runTicks(until instant: TickInstant) {
    guard let loop else { return }
    var before = outputs
    while loop.simulation.runTick(until: instant) {
      let (now, after) = (loop.simulation.now, outputs)
      oracle.check(before, at: now)
      oracle.ticked(at: now)
      oracle.check(after, at: now)
      loop.answer(&oracle.output, at: now)
      loop.account(&oracle.output, at: now)
      ticked(at: now)
      before = after
    }
  }

  /// Runs the loop up to and including `instant`, and checks the outputs at that instant.
  public func runLoop(until instant: TickInstant) {
    runTicks(until: instant)
    oracle.check(outputs, at: instant)
    loop?.account(&oracle.output, at: instant)
  }

  /// Applies an action that affects all loops alike: `stall … MILLISECONDS`, of which the last number counts.
  ///
  /// - Returns: whether the action was a stall.
  public func disturb(_ action: SwarmAction) -> Bool {
    guard action.verb == "stall" else { return false }
    let span = Nanoseconds.milliseconds(action.numbers.last ?? 0)
    loop?.stall(at: action.at, by: span)
    // The prolonged tick begins within a period.
    if loop != nil { oracle.output.reach.stalled(at: action.at, for: span + oracle.output.reach.tick) }
    return true
  }

  public func freeze(at now: TickInstant, for span: Nanoseconds) { freezeLoop(at: now, for: span) }

  /// Suspends the loop's lane for the given time.
  public func freezeLoop(at now: TickInstant, for span: Nanoseconds) {
    loop?.oversleep(at: now, by: span)
    oracle.output.reach.stalled(at: now, for: span)
  }

  /// Stops the loop in order.
  ///
  /// - Parameters:
  ///   - isActive: whether an output is on afterwards.
  ///   - isConfirmed: whether the loop confirms that every output is off.
  /// - Returns: the value of `isConfirmed`, or `nil` if there is no loop or it is suspended.
  public func stopLoop(at now: TickInstant, isActive: @autoclosure () -> Bool, isConfirmed: () -> Bool) -> Bool? {
    guard let loop, !oracle.output.reach.isStalled(at: now) else { return nil }
    loop.simulation.stop()
    let isConfirmed = isConfirmed()
    oracle.output.stopped(isActive: isActive(), isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }
}

/// Writes to an output in place of a guard.
///
/// - Returns: whether the device has confirmed the write.
public func isConfirmed<Failure: Error>(_ write: () throws(Failure) -> Void) -> Bool {
  do throws(Failure) {
    try write()
    return true
  } catch {
    return false
  }
}
