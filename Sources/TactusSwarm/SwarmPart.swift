import Tactus
import TactusDaemon

/// One system under the swarm: its production loops over simulated hardware, its clients and faults, and what must hold of its outputs.
///
/// The engine kills and starts the daemon, runs the supervisor and the guard's machine, and hands every action of the history to its part. A
/// part looks at its invariants before and after every tick. What they say of outputs is read from the simulated hardware, and what was
/// commanded from the actions themselves: never from the machine's own state, or they would prove nothing. For one thread. The same seed
/// and the same calls give the same run.
public protocol SwarmPart: AnyObject {
  /// The system's, in lines of a history.
  var name: String { get }
  /// What has been looked at so far, and the first failure.
  var checks: SwarmChecks { get }
  /// Whether an invariant has failed: asked of every part at every step.
  var hasFailed: Bool { get }
  /// Whether the process has died within this part, such as in the middle of a write; until the next `kill`.
  var hasDied: Bool { get }
  /// Whether an emergency stop is latched, as the loop has published it: it outlives the daemon. False while that is dead.
  var isEmergencyStopped: Bool { get }
  /// Loops whose silence the supervisor tells the guard, with the period of each; empty while the daemon is dead.
  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] { get }

  /// What can be commanded of it over a messaging link, besides stop and reset of everything: words, and of each the verb of the action that
  /// it is, with the same numbers.
  var remoteWords: [String: String] { get }
  /// When it may do something to other parts: all of them are run until then before.
  var wakesAt: TickInstant { get }

  /// Plans random actions of clients and faults. Must not depend on anything that has happened.
  func plan(_ plan: inout SwarmPlanner)
  /// The daemon starts: new loops, over hardware as it was left and over what was stored. They are told of the guard's writes (`cover.stops`).
  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError)
  /// The daemon is killed as by `kill -9`: its loops are gone, its outputs stay as they are until somebody turns them off, at `safeBy` at the
  /// latest.
  func kill(at now: TickInstant, safeBy: TickInstant)
  /// The daemon stops in order, and is gone by the `kill` that follows: its loops are told, what they have told is kept.
  ///
  /// - Returns: whether every output has confirmed that it is off, which is the guard's to do otherwise; what the store knows of how they ended.
  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome)
  /// Every thread of the daemon stands still for so long, from `now` on.
  func freeze(at now: TickInstant, for span: Nanoseconds)
  /// Lets time pass up to and including `instant`, and looks at every invariant.
  func run(until instant: TickInstant)
  /// Does an action, at its instant. One that is not known is ignored, so that old histories can be read.
  func apply(_ action: SwarmAction)
  /// The change of its rules to those of the file of this number, or `nil` if a reload changes none of it.
  func change(to number: Int64) -> (any RulesChange)?
  /// A reload of the file of this number has told every loop.
  func changed(to number: Int64)
  /// The door stops every actuator of the daemon.
  func emergencyStop(at now: TickInstant)
  /// The door takes an emergency stop back.
  func reset(at now: TickInstant)
  /// The guard, or the stop hook, writes the safe state. Returns whether every write was confirmed.
  func makeSafe(at now: TickInstant) -> Bool
}

extension SwarmPart {
  public var remoteWords: [String: String] { [:] }
  public var wakesAt: TickInstant { .distantFuture }
  public func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) { (true, .known) }
  public func change(to number: Int64) -> (any RulesChange)? { nil }
  public func changed(to number: Int64) {}
}

extension SplitMix64 {
  /// A number of the range, each as likely.
  public mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(clamping: below(UInt64(clamping: range.upperBound - range.lowerBound + 1)))
  }

  /// An instant as that of `instant(until:)`, every other one some seconds before an incident, if there is one.
  public mutating func instant(until end: TickInstant, before incidents: [TickInstant]) -> TickInstant {
    guard !incidents.isEmpty, chance(perMille: 500) else { return instant(until: end) }
    let lead = within(100...4_000) * 1_000_000
    return TickInstant(
      nanoseconds: max(0, incidents[Int(clamping: below(UInt64(clamping: incidents.count)))].nanoseconds - lead))
  }

  /// An instant up to and including `end`, of whole milliseconds.
  public mutating func instant(until end: TickInstant) -> TickInstant {
    TickInstant(nanoseconds: within(0...end.nanoseconds / 1_000_000) * 1_000_000)
  }
}
