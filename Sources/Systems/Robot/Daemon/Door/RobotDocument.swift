import Robot
import Tactus
import TactusDaemon
import Wire

/// The robot as `GET /api/robot` shows it: everything that its snapshot holds.
struct RobotDocument: Encodable {
  /// Only in an answer of its own.
  var ok: Bool?
  let monotonicNs: Int64?
  let state: RobotStateDocument
  let settings: Settings
  let counters: Counters
  let lastFailure: String?
  let lastMalformed: String?
  /// Bus transfers that succeeded only after a retry.
  let retries: Int64

  struct Settings: Encodable {
    let failsafeTimeoutMs, tickPeriodMs: Double
    let speedLimitPercent: Double
    /// As in the configuration, 0…100: speeds rise at four times this in percent a second.
    let acceleration: Double
    /// Null: no ramp.
    let slewPercentPerSecond: Double?
    let failuresBeforeFault: Int

    private enum CodingKeys: String, CodingKey {
      case failsafeTimeoutMs, tickPeriodMs, speedLimitPercent, acceleration, slewPercentPerSecond, failuresBeforeFault
    }

    func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: CodingKeys.self)
      try object.encode(failsafeTimeoutMs, forKey: .failsafeTimeoutMs)
      try object.encode(tickPeriodMs, forKey: .tickPeriodMs)
      try object.encode(speedLimitPercent, forKey: .speedLimitPercent)
      try object.encode(acceleration, forKey: .acceleration)
      try object.encode(slewPercentPerSecond, forKey: .slewPercentPerSecond)
      try object.encode(failuresBeforeFault, forKey: .failuresBeforeFault)
    }
  }

  struct Counters: Encodable {
    let datagrams, malformed, directionMismatches, accepted, ignored: Int64
    /// By the words of the UDP replies: `not-controller`, `stale`, …
    let ignoredByReason: [String: Int64]
    let replies, repliesDropped, answersDropped, noticesDropped, writes, writeFailures: Int64
  }

  private enum CodingKeys: String, CodingKey {
    case ok, monotonicNs, settings, counters, lastFailure, lastMalformed, retries
  }

  func encode(to encoder: any Encoder) throws {
    try state.encode(to: encoder)
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encodeIfPresent(ok, forKey: .ok)
    try object.encodeIfPresent(monotonicNs, forKey: .monotonicNs)
    try object.encode(settings, forKey: .settings)
    try object.encode(counters, forKey: .counters)
    try object.encode(lastFailure, forKey: .lastFailure)
    try object.encode(lastMalformed, forKey: .lastMalformed)
    try object.encode(retries, forKey: .retries)
  }
}

extension RobotDocument {
  /// `isEvent`: without the time, which an event carries itself.
  init(_ snapshot: RobotSnapshot, isEvent: Bool = false) {
    monotonicNs = isEvent ? nil : snapshot.at.nanoseconds
    state = RobotStateDocument(snapshot.state, at: snapshot.at)
    let limits = snapshot.settings
    settings = Settings(
      failsafeTimeoutMs: limits.failsafeTimeout.inMilliseconds, tickPeriodMs: limits.tickPeriod.inMilliseconds,
      speedLimitPercent: limits.speedLimit.value, acceleration: limits.acceleration,
      slewPercentPerSecond: limits.slewPerSecond, failuresBeforeFault: limits.failuresBeforeFault)
    let counts = snapshot.counters
    counters = Counters(
      datagrams: counts.datagrams, malformed: counts.malformed, directionMismatches: counts.directionMismatches,
      accepted: counts.accepted, ignored: counts.ignored,
      ignoredByReason: Dictionary(
        uniqueKeysWithValues: IgnoreReason.allCases.map { ("\($0.shortText)", counts.ignored($0)) }),
      replies: counts.replies, repliesDropped: counts.repliesDropped, answersDropped: counts.answersDropped,
      noticesDropped: counts.noticesDropped, writes: counts.writes, writeFailures: counts.writeFailures)
    lastFailure = snapshot.lastFailure.map { "\($0)" }
    lastMalformed = snapshot.lastMalformed.map { "\($0)" }
    retries = snapshot.retries
  }
}
