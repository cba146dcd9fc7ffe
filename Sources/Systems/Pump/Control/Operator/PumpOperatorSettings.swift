import Tactus

/// What the loss of the connection means for a pump that runs.
public enum PumpLinkLossPolicy: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// It runs on, as the original does, until its own limit.
  case keepsRunning
  /// It is turned off as soon as it can be reached again.
  case stopsOnReturn
}

/// The numbers of the operator side's rules. Valid once made.
public struct PumpOperatorSettings: Sendable, Hashable, BitwiseCopyable {
  /// How long an answer may take, 100 ms…10 s.
  public let answerTimeout: Nanoseconds
  /// Times that an ON or a SPEED is sent, 1…10. An OFF is repeated until it is confirmed.
  public let attempts: Int
  /// Between two STATUS, 1…60 s; and while a person watches, 200 ms…60 s.
  public let pollPeriod: Nanoseconds
  public let watchedPeriod: Nanoseconds
  /// Pumping at most, over however many ONs, 1 min…24 h, or `nil` if the pump's own limit is all there is.
  public let runLimit: Nanoseconds?
  /// Without pumping for so long it has rested, 0…24 h.
  public let rest: Nanoseconds
  public let linkLoss: PumpLinkLossPolicy
  /// It is `nil` if any reading is believed.
  public let plausibility: PumpPlausibility?
  /// Skin warmer than this is too warm, whatever the pump says of it, or `nil` if that is left to the pump.
  public let overheatAbove: PumpTemperature?
  public let overheatAction: PumpOverheatAction

  /// Throws the first setting that is out of range.
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

  /// The settings that allow no more than either of the two: the shorter run limit, the longer rest, off where one says off. What
  /// is no limit is as it is here.
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

  /// Of a pump that has rested.
  @_noLocks @_noAllocation
  public func governor() -> PumpGovernor { PumpGovernor(limit: runLimit ?? .seconds(3_000_000_000), rest: rest) }
}

/// A setting out of range: which, what was expected, what came.
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
