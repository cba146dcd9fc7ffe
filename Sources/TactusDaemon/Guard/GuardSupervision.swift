@_spi(FromOutside) import Conversions
import Logging
import Service
import Synchronization
import Tactus

/// The daemon's handling of its guard on the main thread: it logs, reports and stops outputs when the guard dies or hangs.
///
/// Never waits: `GuardKeeper` handles the processes, and loops answer the stops.
final class GuardSupervision {
  /// The state of the guard for `GET /api/health` and the metrics.
  let health: GuardHealth
  /// The keeper of the guard, or `nil` if there is no guard.
  let keeper: GuardKeeper?
  private let systems: [any ServedSystem]
  private let logger: Logger
  private var machine = GuardLossMachine()
  private var failure: String?
  /// Whether stops of the last round are still unanswered.
  private let isStopping = Guarded(false)

  /// Makes the supervision of a guard.
  ///
  /// - Parameter systems: the systems that are stopped while there is no guard; not wrapped by `UnguardedSystem`.
  init(_ keeper: GuardKeeper?, health: GuardHealth, systems: [any ServedSystem], logger: Logger) {
    (self.keeper, self.health, self.systems, self.logger) = (keeper, health, systems, logger)
  }

  /// Advances the supervision, ten times a second. Returns the events for subscribers.
  func beat(at now: TickInstant) -> [Event] {
    guard keeper != nil else { return [] }
    return step(.beat, at: now)
  }

  /// Returns the events for subscribers about the keeper's outcomes.
  func takeOutcomes(at now: TickInstant) -> [Event] {
    var events: [Event] = []
    for outcome in keeper?.takeOutcomes() ?? [] {
      switch outcome {
      case .lost(let reason):
        guard machine.state == .watching else { continue }
        logger.error(
          reason == .hung ? "the guard process does not answer: killed, to be replaced" : "the guard process died")
        events += step(.lost(reason), at: now)
      case .ready(let process):
        failure = nil
        events += ready(process: Int(process), at: now)
      case .failed(let error):
        failure = "\(error)"
        events += step(.failed, at: now)
      }
    }
    return events
  }

  private func ready(process: Int, at now: TickInstant) -> [Event] {
    var reason = GuardLossMachine.Reason.died
    var metadata: Logger.Metadata = ["guard": .stringConvertible(process)]
    switch machine.state {
    case .watching: return []
    case .replacing(let cause, _): reason = cause
    case .unguarded(let cause, _):
      reason = cause
      metadata["next"] = "outputs stay stopped until the stop is reset: POST /api/reset"
    }
    health.replace(reason.rawValue)
    logger.notice("another guard is watching", metadata: metadata)
    return step(.ready, at: now)
  }

  private func step(_ event: GuardLossMachine.Event, at now: TickInstant) -> [Event] {
    let before = machine.state
    let action = machine.step(event, at: now)
    if action.replaces { keeper?.replace() }
    if action.makesSafe { stopAll() }
    let told: (state: GuardHealth.State, reason: GuardLossMachine.Reason?)
    switch (before, machine.state) {
    case (.watching, .replacing(let reason, _)):
      health.lose()
      told = (.replacing, reason)
    case (.unguarded, .unguarded): return []
    case (_, .unguarded(let reason, _)):
      let why =
        failure
        ?? (before == .watching ? "it dies again and again" : "none is ready after \(GuardLossMachine.limit)")
      health.despair(why)
      logger.critical(
        "no guard can be had: every output is stopped, and another guard is tried every second",
        metadata: ["reason": .string(why), "next": "when a guard watches, reset the stop: POST /api/reset"])
      told = (.lost, reason)
    case (.replacing, .watching), (.unguarded, .watching): told = (.watching, nil)
    case (.replacing, .replacing), (.watching, .watching), (.unguarded, .replacing): return []
    }
    return [
      Event(
        .edge, type: "guard", system: "daemon", at: now,
        json: GuardNotice(state: told.state, reason: told.reason?.rawValue))
    ]
  }

  private struct GuardNotice: Encodable {
    let state: GuardHealth.State
    /// The reason of the loss, `died` or `hung`, or `nil` if the guard is watching.
    let reason: String?
  }

  /// Requests the emergency stop of every system. The next round waits until this one has been answered.
  private func stopAll() {
    guard !isStopping.value else { return }
    isStopping.value = true
    let caller = Caller(scope: .control, tokenID: nil, address: "guard", client: 0)
    Task { [systems, isStopping] in
      await withTaskGroup(of: Void.self) { group in
        // A loop that takes no stop does not tick, which health reports.
        for system in systems { group.addTask { try? await system.emergencyStop(caller) } }
      }
      isStopping.value = false
    }
  }
}
