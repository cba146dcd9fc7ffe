import Tactus

/// Which lines the pump speaks.
public enum PumpDialect: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// The firmware's: water and skin.
  case firmware
  /// The requirement's: one nameless temperature, the skin's.
  case legacy
}

/// A potentiometer at the pump.
public enum PumpPotRule: UInt8, Sendable, Hashable, BitwiseCopyable {
  case none
  /// It sets the speed when it is turned, and leaves alone what an app has set.
  case whenMoved
  /// As the original: whatever an app sets, the pot's speed is back 100 ms later.
  case always
}

/// The numbers of the device side's rules: the firmware's, and its faults solved. What each option restores is said with it.
/// Valid once made.
public struct PumpDeviceSettings: Sendable, Hashable, BitwiseCopyable {
  public let dialect: PumpDialect
  /// `.firmware` restores how it reads lines: `SPEED:fast` is speed 0, ` ON` is no command, what follows 64 bytes is a command.
  public let commands: PumpCommandRule
  /// Of a pump that is turned on.
  public let initialSpeed: PumpSpeed
  /// Pumping at most, 1 s…24 h; then an error.
  public let runLimit: Nanoseconds
  /// Without pumping for so long the limit begins anew, 0…24 h. Nothing: with every off, as the firmware's.
  public let rest: Nanoseconds
  /// Restores that ON while on begins the limit anew, at the initial speed.
  public let onRestartsLimit: Bool
  /// STATUS by itself while on, 1…60 s.
  public let statusPeriod: Nanoseconds
  /// Skin warmer than this is too warm.
  public let overheatAbove: PumpTemperature
  public let overheatAction: PumpOverheatAction
  /// Range of plausible temperatures. `nil` behaves as the original: an open sensor reads as very cold, and overheating never trips.
  public let plausibility: PumpPlausibility?
  /// How long a button must rest in its new position, 1 ms…1 s.
  public let debounce: Nanoseconds
  /// False restores that the button does not lead out of an error.
  public let buttonLeavesError: Bool
  public let pot: PumpPotRule
  /// Stops a pump that no command has come to for so long, 1 s…1 h, or `nil` if it runs on, as the original.
  public let silenceLimit: Nanoseconds?

  /// Throws the first setting that is out of range.
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

  /// The settings that allow no more than either of the two: the shorter limits, the longer rest, off where one says off. What is no
  /// limit is as it is here.
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

  /// Of a pump that has rested.
  @_noLocks @_noAllocation
  public func governor() -> PumpGovernor { PumpGovernor(limit: runLimit, rest: rest) }

  /// The firmware's values, its faults solved.
  public static let standard = try! PumpDeviceSettings()

  /// The firmware with its faults: what a program must cope with that talks to the original.
  public static let original = try! PumpDeviceSettings(
    commands: .firmware, onRestartsLimit: true, plausibility: nil, buttonLeavesError: false, pot: .always)
}
