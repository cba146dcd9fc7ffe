import Tactus
import TactusDaemon

/// One system under the swarm: its production loops over simulated hardware, its clients and faults, and the invariants of its outputs.
///
/// The engine kills and starts the daemon, runs the supervisor and the guard's machine, and passes every action of the history to the part concerned.
/// A part checks its invariants before and after every tick. The state of the outputs is read from the simulated hardware, and the commands are taken
/// from the actions themselves, never from the state of the machine under test, which would prove nothing. It is to be used on one thread. The same
/// seed and the same calls give the same run.
public protocol SwarmPart: AnyObject {
  /// The system's name in the lines of a history.
  var name: String { get }
  /// The checks made so far, with the first failure.
  var checks: SwarmChecks { get }
  /// The numbers of occurrences of the system's commands, states and faults, such as `state running`; 0 for one that has not occurred. The actions of
  /// histories are counted separately.
  var exercised: [String: Int] { get }
  /// The names of the invariants that do not apply to the system, for instance because it has nothing that they
  /// concern.
  var inapplicable: Set<String> { get }
  /// Whether an invariant has failed; read for every part at every step.
  var hasFailed: Bool { get }
  /// Whether the process has died within this part, such as in the middle of a write. Holds until the next `kill`.
  var hasDied: Bool { get }
  /// Whether an emergency stop is latched, as the loop has published it. A latched stop survives the daemon, but the value is false while the daemon
  /// is dead.
  var isEmergencyStopped: Bool { get }
  /// The loops whose silence the supervisor reports to the guard, with the period of each; empty while the daemon is dead.
  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] { get }

  /// The commands that the part accepts over a messaging link, besides stop and reset of all systems: each word with
  /// the verb of the corresponding action, which has the same numbers.
  var remoteWords: [String: String] { get }
  /// The instant at which the part may affect other parts; all parts are run up to that instant first.
  var wakesAt: TickInstant { get }

  /// Plans random actions of clients and faults. The function must not depend on anything that has happened.
  func plan(_ plan: inout SwarmPlanner)
  /// Starts the daemon: new loops, over the hardware and the store as they were left. The guard's writes are reported
  /// to the loops through `cover.stops`.
  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError)
  /// Kills the daemon as `kill -9` does: its loops are gone, and its outputs keep their state until the guard or the
  /// stop hook switches them off, at `safeBy` at the latest.
  func kill(at now: TickInstant, safeBy: TickInstant)
  /// Stops the daemon in order: its loops are stopped and their last notices are stored. The following `kill` ends the process.
  ///
  /// - Returns: whether every output has confirmed that it is off, since otherwise the guard must switch it off; and
  ///   what the store knows of how the outputs ended.
  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome)
  /// Suspends every thread of the daemon for the given time, from `now` on.
  func freeze(at now: TickInstant, for span: Nanoseconds)
  /// Lets time pass up to and including `instant`, and checks every invariant.
  func run(until instant: TickInstant)
  /// Applies an action at its instant. An unknown action is ignored, so that old histories can be read.
  func apply(_ action: SwarmAction)
  /// Returns the change of the part's rules to those of the file with this number, or `nil` if a reload changes none of them.
  func change(to number: Int64) -> (any RulesChange)?
  /// Notes that the rules of the file with this number have been passed to every loop by a reload.
  func changed(to number: Int64)
  /// Stops every actuator, on a request to the service.
  func emergencyStop(at now: TickInstant)
  /// Ends an emergency stop, on a request to the service.
  func reset(at now: TickInstant)
  /// Writes the safe state in place of the guard or the stop hook. Returns whether every write was confirmed.
  func makeSafe(at now: TickInstant) -> Bool
}

extension SwarmPart {
  public var exercised: [String: Int] { [:] }
  public var inapplicable: Set<String> { [] }
  public var remoteWords: [String: String] { [:] }
  public var wakesAt: TickInstant { .distantFuture }
  public func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) { (true, .known) }
  public func change(to number: Int64) -> (any RulesChange)? { nil }
  public func changed(to number: Int64) {}
}

extension SplitMix64 {
  /// Returns a number of the range, with equal probability.
  public mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(clamping: below(UInt64(clamping: range.upperBound - range.lowerBound + 1)))
  }

  /// Returns an instant as `instant(until:)` does. If there are incidents, half of the instants are up to four seconds
  /// before one of them.
  public mutating func instant(until end: TickInstant, before incidents: [TickInstant]) -> TickInstant {
    guard !incidents.isEmpty, chance(perMille: 500) else { return instant(until: end) }
    let lead = within(100...4_000) * 1_000_000
    return TickInstant(
      nanoseconds: max(0, incidents[Int(clamping: below(UInt64(clamping: incidents.count)))].nanoseconds - lead))
  }

  /// Returns an instant up to and including `end`, in whole milliseconds.
  public mutating func instant(until end: TickInstant) -> TickInstant {
    TickInstant(nanoseconds: within(0...end.nanoseconds / 1_000_000) * 1_000_000)
  }
}
