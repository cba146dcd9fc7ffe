import Tactus
import TactusDaemon

@testable import TactusSwarm

/// A part without loops, which fails when `spark` is done within a second after `gas`, and notes what the engine does to it.
final class FakeSwarmPart: SwarmPart {
  let name = "fake"
  private(set) var checks = SwarmChecks(["gas does not burn", "the guard is heard"])
  var hasFailed: Bool { checks.hasFailed }
  let heartbeats: [(version: LatestVersion, period: Nanoseconds)] = []
  var hasDied = false
  private(set) var isEmergencyStopped = false
  private(set) var told: [String] = []
  private var gasAt: TickInstant?
  /// Whether a fire is seen only when time passes after it.
  private let isSeenLate: Bool
  private var burningSince: TickInstant?

  init(isSeenLate: Bool = false) { self.isSeenLate = isSeenLate }

  func plan(_ plan: inout SwarmPlanner) {
    for _ in 0..<40 { plan.add(plan.instant(), plan.chance(50) ? "gas" : "air", plan.within(0...9)) }
    plan.add(plan.instant(), "spark")
  }

  func start(at now: TickInstant, _ cover: SwarmCover) { tell("start", now) }
  func kill(at now: TickInstant, safeBy: TickInstant) { tell("kill", now) }
  func freeze(at now: TickInstant, for span: Nanoseconds) { tell("freeze", now) }
  func run(until instant: TickInstant) {
    checks.check(1, true, at: instant, "")
    if let since = burningSince, since < instant { checks.check(0, false, at: since, "it burns") }
  }
  func emergencyStop(at now: TickInstant) {
    isEmergencyStopped = true
    tell("e-stop", now)
  }
  func reset(at now: TickInstant) {
    isEmergencyStopped = false
    tell("reset", now)
  }

  func makeSafe(at now: TickInstant) -> Bool {
    tell("safe", now)
    return true
  }

  func apply(_ action: SwarmAction) {
    if action.verb == "gas" { gasAt = action.at }
    guard action.verb == "spark" else { return }
    let isSafe = gasAt.map { action.at - $0 > .seconds(1) } ?? true
    if !isSafe, isSeenLate { burningSince = action.at } else { checks.check(0, isSafe, at: action.at, "it burns") }
  }

  private func tell(_ what: String, _ now: TickInstant) { told.append("\(now.nanoseconds / 1_000_000) \(what)") }
}
