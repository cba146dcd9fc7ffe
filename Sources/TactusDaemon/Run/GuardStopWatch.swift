import Logging
import Service
import Tactus

/// Reports the guard's writes to users, in the log, health, metrics and events. The runtime reports them to the loops.
struct GuardStopWatch {
  /// The guard's writes, or `nil` if there is no guard.
  private let stops: ExternalStops?
  private let health: GuardHealth
  private let logger: Logger
  private var seen: UInt64 = 0
  /// The writes of the previous program's guard, or `nil` if there were none or they have been reported.
  private var left: MadeSafe?
  /// The instant of the last report. Events are sent at most once a second.
  private var told: TickInstant?

  init(_ stops: ExternalStops?, left: MadeSafe?, health: GuardHealth, logger: Logger) {
    (self.stops, self.left, self.health, self.logger) = (stops, left, health, logger)
    guard let left else { return }
    health.noteMadeSafe(1, at: left.time)
    logger.critical(
      "the guard turned the actuators off after the last end of this program: what ran then does not go on",
      metadata: [
        "at": .string(left.time), "cause": .string(left.cause), "writes": .array(left.writes.map { .string($0) }),
      ])
  }

  /// Returns the event for subscribers, or `nil` if the guard has written nothing since the last report. Called ten
  /// times a second.
  mutating func check(at now: TickInstant) -> Event? {
    if let left = left.take() { return event(1, at: now, time: left.time) }
    guard let count = stops?.count, count != seen, Mechanism.guardStopTold.acts else { return nil }
    if let told, (now - told).count < 1_000_000_000 { return nil }
    told = now
    let new = count - seen
    seen = count
    let time = WallClock.text
    health.noteMadeSafe(new, at: time)
    logger.critical(
      "the guard wrote the safe state of every actuator: what it stopped stays stopped",
      metadata: ["times": .stringConvertible(new)])
    return event(new, at: now, time: time)
  }

  private struct Body: Encodable {
    let times: UInt64
    let timeISO: String
  }

  private func event(_ times: UInt64, at now: TickInstant, time: String) -> Event {
    Event(.edge, type: "madeSafe", system: "daemon", at: now, json: Body(times: times, timeISO: time))
  }
}
