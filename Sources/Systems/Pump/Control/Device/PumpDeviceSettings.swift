import Tactus

/// The format of the lines that the pump sends.
public enum PumpDialect: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// The firmware's format, with the temperatures of the water and the skin.
  case firmware
  /// The format of the requirements, with a single unnamed temperature, which is the skin's.
  case legacy
}

/// The effect of a potentiometer at the pump on the speed.
public enum PumpPotRule: UInt8, Sendable, Hashable, BitwiseCopyable {
  case none
  /// The potentiometer sets the speed when it is turned; otherwise the speed set by an app remains.
  case whenMoved
  /// The original behaviour: 100 ms after an app has set a speed, the potentiometer's speed is back.
  case always
}

/// The settings of the device side's rules. The defaults are the firmware's values with its faults corrected; each option says which fault it
/// restores. An instance is always valid.
public struct PumpDeviceSettings: Sendable, Hashable, BitwiseCopyable {
  public let dialect: PumpDialect
  /// The rule by which lines are read. `.firmware` restores the original's reading: `SPEED:fast` is speed 0, ` ON` is not a command, and the bytes
  /// after the 64th are a command.
  public let commands: PumpCommandRule
  /// The speed of a pump that has just been turned on.
  public let initialSpeed: PumpSpeed
  /// The longest run, 1 s…24 h; the pump then stops with an error.
  public let runLimit: Nanoseconds
  /// The time for which the pump must stand still before the run limit begins again, 0…24 h. With 0 the limit begins again with every off, as in the
  /// firmware.
  public let rest: Nanoseconds
  /// Whether an ON to a running pump restarts the run limit at the initial speed, as in the firmware.
  public let onRestartsLimit: Bool
  /// The period of the unrequested STATUS lines while the pump is on, 1…60 s.
  public let statusPeriod: Nanoseconds
  /// The skin temperature above which the skin counts as too warm.
  public let overheatAbove: PumpTemperature
  public let overheatAction: PumpOverheatAction
  /// The range of plausible temperatures. With `nil` the pump behaves as the original: an open sensor reads as very cold, and overheating never
  /// trips.
  public let plausibility: PumpPlausibility?
  /// The time for which the button's contact must be stable to count as changed, 1 ms…1 s.
  public let debounce: Nanoseconds
  /// Whether the button ends an error; `false` restores the firmware's behaviour, in which it does not.
  public let buttonLeavesError: Bool
  public let pot: PumpPotRule
  /// The time for which a pump runs without a command before it stops, 1 s…1 h, or `nil` if it runs on, as in the original.
  public let silenceLimit: Nanoseconds?

  /// Creates settings. Throws an error for the first setting that is out of range.
  public init(
    dialect: PumpDialect = .firmware, commands: PumpCommandRule = .strict, initialSpeed: PumpSpeed = .standard,
    runLimit: Nanoseconds = .seconds(1_800), rest: Nanoseconds = .zero, onRestartsLimit: Bool = false,
    statusPeriod: Nanoseconds = .seconds(5), overheatAbove: PumpTemperature = PumpTemperature(tenths: 400),
    overheatAction: PumpOverheatAction = .stop, plausibility: PumpPlausibility? = .standard,
    debounce: Nanoseconds = .milliseconds(50), buttonLeavesError: Bool = true, pot: PumpPotRule = .none,
    silenceLimit: Nanoseconds? = nil
  ) throws(PumpSettingsError) {
    try PumpSettingsError.check("run limit", runLimit, .seconds(1), .seconds(86_400))
    try PumpSettingsError.check("rest", rest, .zero, .seconds(86_400))
    try PumpSettingsError.check("status period", statusPeriod, .seconds(1), .seconds(60))
    try PumpSettingsError.check("debounce", debounce, .milliseconds(1), .seconds(1))
    if let silenceLimit { try PumpSettingsError.check("silence limit", silenceLimit, .seconds(1), .seconds(3_600)) }
    self.dialect = dialect
    self.commands = commands
    self.initialSpeed = initialSpeed
    self.runLimit = runLimit
    self.rest = rest
    self.onRestartsLimit = onRestartsLimit
    self.statusPeriod = statusPeriod
    self.overheatAbove = overheatAbove
    self.overheatAction = overheatAction
    self.plausibility = plausibility
    self.debounce = debounce
    self.buttonLeavesError = buttonLeavesError
    self.pot = pot
    self.silenceLimit = silenceLimit
  }

  /// Returns the stricter of two settings: the shorter limits and the longer rest, and stopping on overheat if either demands it. Settings that are
  /// not limits are those of this instance.
  public func tighter(than other: PumpDeviceSettings) -> PumpDeviceSettings {
    do {
      return try PumpDeviceSettings(
        dialect: dialect, commands: commands, initialSpeed: initialSpeed, runLimit: min(runLimit, other.runLimit),
        rest: max(rest, other.rest), onRestartsLimit: onRestartsLimit && other.onRestartsLimit,
        statusPeriod: statusPeriod, overheatAbove: overheatAbove,
        overheatAction: other.overheatAction == .stop ? .stop : overheatAction, plausibility: plausibility,
        debounce: debounce, buttonLeavesError: buttonLeavesError, pot: pot,
        silenceLimit: [silenceLimit, other.silenceLimit].compactMap(\.self).min())
    } catch {
      preconditionFailure("each of them was allowed: \(error)")
    }
  }

  /// Returns the governor of a pump that has rested.
  @_noLocks @_noAllocation
  public func governor() -> PumpGovernor { PumpGovernor(limit: runLimit, rest: rest) }

  /// The firmware's values with its faults corrected.
  public static let standard = try! PumpDeviceSettings()

  /// The firmware's values including its faults, for testing programs that talk to the original.
  public static let original = try! PumpDeviceSettings(
    commands: .firmware, onRestartsLimit: true, plausibility: nil, buttonLeavesError: false, pot: .always)
}
