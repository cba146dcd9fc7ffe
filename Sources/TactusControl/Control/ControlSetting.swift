/// The settings of this module that have a range, for use in errors.
public enum ControlSetting: UInt8, Sendable, BitwiseCopyable {
  /// The time from one step to the next.
  case sampleTime
  /// A gain of a controller.
  case gain
  /// The time constant of a derivative's filter.
  case derivativeFilter
  /// The weight of the setpoint in the proportional part.
  case setpointWeight
  /// The time in which back-calculation unwinds an integral part.
  case trackingTime
  /// The lower limit of an output.
  case minimumOutput
  /// The cut-off frequency of a filter.
  case cutoff
  /// A filter's quality factor.
  case quality
  /// The rate of change of a value.
  case rate
  /// A threshold of a switch.
  case threshold
  /// A limit of an integrator.
  case limit
  /// The initial value of a controller or filter.
  case value
  /// A position of a motion.
  case position
  /// The initial velocity of a motion.
  case velocity
  /// The highest velocity of a motion.
  case velocityLimit
  /// The highest acceleration of a motion.
  case accelerationLimit
  /// The highest jerk of a motion.
  case jerkLimit
  /// The duration of a motion.
  case travelTime
  /// The time constant of a filter.
  case timeConstant

  /// The name of the setting for people, with its unit.
  public var name: String {
    switch self {
    case .sampleTime: "sample time (s)"
    case .gain: "gain"
    case .derivativeFilter: "derivative filter's time constant (s)"
    case .setpointWeight: "setpoint weight"
    case .trackingTime: "anti-windup's tracking time (s)"
    case .minimumOutput: "minimum output"
    case .cutoff: "frequency (Hz)"
    case .quality: "quality factor"
    case .rate: "rate (units/s)"
    case .threshold: "threshold"
    case .limit: "limit"
    case .value: "initial value"
    case .position: "position"
    case .velocity: "initial velocity (units/s)"
    case .velocityLimit: "velocity limit (units/s)"
    case .accelerationLimit: "acceleration limit (units/s²)"
    case .jerkLimit: "jerk limit (units/s³)"
    case .travelTime: "travel time (s)"
    case .timeConstant: "time constant (s)"
    }
  }

  /// The accepted values as text.
  public var range: String {
    switch self {
    case .sampleTime, .timeConstant, .quality, .rate, .velocityLimit, .accelerationLimit, .jerkLimit:
      "a finite number above 0"
    case .gain, .value, .position, .velocity: "a finite number"
    case .derivativeFilter: "0 or more"
    case .setpointWeight: "0…1"
    case .trackingTime: "the sample time or more"
    case .minimumOutput: "a number below the maximum output"
    case .cutoff: "above 0 and below half the sample rate"
    case .threshold: "finite numbers, the lower one not above the upper one"
    case .limit: "numbers, the lower one below the upper one"
    case .travelTime: "less than 290 years"
    }
  }
}

/// The reason why a controller, a filter or a profile was not created: a setting is out of range, NaN or infinite.
///
/// Thrown by initialisers, never by a step. An initialiser may be called in a tick; the first *error* of a program's life that is
/// thrown there may allocate, as docs/decisions/errors-in-ticks.md says.
public struct ControlSettingError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The setting that is invalid.
  public let setting: ControlSetting
  /// The value that was given, in the unit of the setting.
  public let value: Double

  /// Creates an error for a setting, also for settings of other modules that have the same meaning and range.
  @_noLocks @_noAllocation @inlinable
  public init(_ setting: ControlSetting, _ value: Double) {
    self.setting = setting
    self.value = value
  }

  @_noLocks @_noAllocation @usableFromInline
  static func check(_ isInRange: Bool, _ setting: ControlSetting, _ value: Double) throws(ControlSettingError) {
    guard isInRange, value.isFinite else { throw ControlSettingError(setting, value) }
  }
}

extension ControlSettingError: CustomStringConvertible {
  /// One sentence for people: the setting with its unit, the accepted values and the value that was given.
  public var description: String { "\(setting.name): expected \(setting.range), got \(value)" }
}
