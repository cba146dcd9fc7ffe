import Tactus

/// The treatment of a running pump when the connection is lost.
public enum PumpLinkLossPolicy: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// The pump runs on until its built-in limit, as in the original.
  case keepsRunning
  /// The pump is turned off as soon as it can be reached again.
  case stopsOnReturn
}

/// The settings of the operator side's rules. An instance is always valid.
public struct PumpOperatorSettings: Sendable, Hashable, BitwiseCopyable {
  /// The timeout of a reply, 100 ms…10 s.
  public let answerTimeout: Nanoseconds
  /// The number of times that an ON or a SPEED is sent, 1…10. An OFF is repeated until it is confirmed.
  public let attempts: Int
  /// The period of the STATUS requests, 1…60 s.
  public let pollPeriod: Nanoseconds
  /// The period of the STATUS requests while a person watches, 200 ms…60 s.
  public let watchedPeriod: Nanoseconds
  /// The longest running time, summed over all ONs since the last rest, 1 min…24 h, or `nil` if only the pump's built-in limit applies.
  public let runLimit: Nanoseconds?
  /// The time for which the pump must stand still to have rested, 0…24 h.
  public let rest: Nanoseconds
  public let linkLoss: PumpLinkLossPolicy
  /// The range of plausible temperatures, or `nil` if every reading is accepted.
  public let plausibility: PumpPlausibility?
  /// The skin temperature above which the skin counts as too warm regardless of the pump's reports, or `nil` if that decision is left to the pump.
  public let overheatAbove: PumpTemperature?
  public let overheatAction: PumpOverheatAction

  /// Creates settings. Throws an error for the first setting that is out of range.
  public init(
    answerTimeout: Nanoseconds = .seconds(1), attempts: Int = 3, pollPeriod: Nanoseconds = .seconds(5),
    watchedPeriod: Nanoseconds = .seconds(1), runLimit: Nanoseconds? = .seconds(1_800),
    rest: Nanoseconds = .seconds(300), linkLoss: PumpLinkLossPolicy = .keepsRunning,
    plausibility: PumpPlausibility? = .standard, overheatAbove: PumpTemperature? = PumpTemperature(tenths: 400),
    overheatAction: PumpOverheatAction = .stop
  ) throws(PumpSettingsError) {
    try PumpSettingsError.check("answer time-out", answerTimeout, .milliseconds(100), .seconds(10))
    guard (1...10).contains(attempts) else { throw PumpSettingsError("attempts: expected 1…10, got \(attempts)") }
    try PumpSettingsError.check("poll period", pollPeriod, .seconds(1), .seconds(60))
    try PumpSettingsError.check("watched period", watchedPeriod, .milliseconds(200), .seconds(60))
    if let runLimit { try PumpSettingsError.check("run limit", runLimit, .seconds(60), .seconds(86_400)) }
    try PumpSettingsError.check("rest", rest, .zero, .seconds(86_400))
    self.answerTimeout = answerTimeout
    self.attempts = attempts
    self.pollPeriod = pollPeriod
    self.watchedPeriod = watchedPeriod
    self.runLimit = runLimit
    self.rest = rest
    self.linkLoss = linkLoss
    self.plausibility = plausibility
    self.overheatAbove = overheatAbove
    self.overheatAction = overheatAction
  }

  public static let standard = try! PumpOperatorSettings()

  /// Returns the stricter of two settings: the shorter run limit and the longer rest, and stopping on overheat or after a connection loss if either
  /// demands it. Settings that are not limits are those of this instance.
  public func tighter(than other: PumpOperatorSettings) -> PumpOperatorSettings {
    do {
      return try PumpOperatorSettings(
        answerTimeout: answerTimeout, attempts: attempts, pollPeriod: pollPeriod, watchedPeriod: watchedPeriod,
        runLimit: [runLimit, other.runLimit].compactMap(\.self).min(), rest: max(rest, other.rest),
        linkLoss: other.linkLoss == .stopsOnReturn ? .stopsOnReturn : linkLoss, plausibility: plausibility,
        overheatAbove: overheatAbove, overheatAction: other.overheatAction == .stop ? .stop : overheatAction)
    } catch {
      preconditionFailure("each of them was allowed: \(error)")
    }
  }

  /// Returns the governor of a pump that has rested.
  @_noLocks @_noAllocation
  public func governor() -> PumpGovernor { PumpGovernor(limit: runLimit ?? .seconds(3_000_000_000), rest: rest) }
}

/// An error for a setting out of range. It names the setting, the expected range and the actual value.
public struct PumpSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }

  static func check(
    _ name: String, _ value: Nanoseconds, _ lowest: Nanoseconds, _ highest: Nanoseconds
  ) throws(PumpSettingsError) {
    guard value >= lowest, value <= highest else {
      throw PumpSettingsError("\(name): expected \(lowest)…\(highest), got \(value)")
    }
  }
}
