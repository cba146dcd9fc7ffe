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
  /// A filter's frequency.
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
