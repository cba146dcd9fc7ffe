/// The settings of this module that have a range, for errors.
public enum ControlSetting: UInt8, Sendable, BitwiseCopyable {
  case sampleTime, gain, derivativeFilter, setpointWeight, trackingTime, minimumOutput
  case cutoff, quality, rate, threshold, limit, value
  case position, velocity, velocityLimit, accelerationLimit, jerkLimit, travelTime

  /// For people, with the unit.
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
    }
  }

  /// What is accepted.
  public var range: String {
    switch self {
    case .sampleTime, .quality, .rate, .velocityLimit, .accelerationLimit, .jerkLimit: "a finite number above 0"
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
