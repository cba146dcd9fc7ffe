import Tactus
import Wire

/// The settings of the control rules, checked when created. A change replaces all of them at a tick boundary.
public struct RobotSettings: Sendable, Hashable, BitwiseCopyable {
  public static let failsafeTimeouts = Nanoseconds.milliseconds(100)...Nanoseconds.seconds(10)
  /// The range of `stopWithinMillimetres`.
  public static let stopDistances = 20...4000
  /// The range of `batteryStopPercent`.
  public static let batteryCharges = 1...100
  /// The range of `tiltStopDegrees`.
  public static let tilts = 5...90
  public static let tickPeriods = Nanoseconds.milliseconds(1)...Nanoseconds.milliseconds(200)

  /// The silence of the controlling source after which the motors stop, 100 ms…10 s. Requirement: 1 s.
  public let failsafeTimeout: Nanoseconds
  /// The highest speed of a wheel, 0…100 %. Each wheel is clamped independently, as in the original script, so a limited curve gets wider
  /// rather than slower.
  public let speedLimit: Percent
  /// The acceleration setting, 0…100: speeds rise by 4 × this value in %/s, so that 50 reaches full speed in 0.5 s. 0 disables the ramp.
  /// The original documents this number without a unit; the factor is a choice of this project (facts, rule 9).
  public let acceleration: Double
  /// The time between two periodic ticks, 1…200 ms. A wheel that starts from rest is ramped as if one period had passed, so that a
  /// command acts at once instead of a tick later.
  public let tickPeriod: Nanoseconds
  /// The number of consecutive failed motor writes that is a fault, 1…100. A single bus timeout is a fault at once.
  public let failuresBeforeFault: Int
  /// The measures that convert SI units, or `nil` if they are not known; a motion in SI units is then refused.
  public let geometry: RobotGeometry?
  /// The distance in millimetres, 20…4000, nearer than which something ahead ends forward motion, as does a distance that is not
  /// known. `nil` if the distance is not watched.
  public let stopWithinMillimetres: Int?
  /// The battery's charge in percent, 1…100, at which the robot slows down and drives no more, or `nil` if there is none.
  public let batteryStopPercent: Int?
  /// The tilt in degrees, 5…90, beyond which the motors stop, or `nil` if there is none.
  public let tiltStopDegrees: Int?

  /// Creates checked settings. Throws the first setting that is out of range.
  public init(
    failsafeTimeout: Nanoseconds = .seconds(1), speedLimit: Percent = Percent(100), acceleration: Double = 50,
    tickPeriod: Nanoseconds = .milliseconds(50), failuresBeforeFault: Int = 3,
    geometry: RobotGeometry? = nil, stopWithinMillimetres: Int? = nil,
    batteryStopPercent: Int? = nil, tiltStopDegrees: Int? = nil
  ) throws(RobotSettingsError) {
    // A NaN is inside no range.
    guard Self.tickPeriods.contains(tickPeriod) else { throw .tickPeriod(tickPeriod) }
    guard Self.failsafeTimeouts.contains(failsafeTimeout) else { throw .failsafeTimeout(failsafeTimeout) }
    guard failsafeTimeout >= tickPeriod * 2 else {
      throw .failsafeShorterThanTwoTicks(failsafeTimeout, tickPeriod: tickPeriod)
    }
    guard (0.0...100.0).contains(speedLimit.value) else { throw .speedLimit(speedLimit) }
    guard (0.0...100.0).contains(acceleration) else { throw .acceleration(acceleration) }
    guard (1...100).contains(failuresBeforeFault) else { throw .failuresBeforeFault(failuresBeforeFault) }
    if let stopWithinMillimetres {
      guard Self.stopDistances.contains(stopWithinMillimetres) else { throw .stopDistance(stopWithinMillimetres) }
    }
    if let batteryStopPercent {
      guard Self.batteryCharges.contains(batteryStopPercent) else { throw .batteryStop(batteryStopPercent) }
    }
    if let tiltStopDegrees {
      guard Self.tilts.contains(tiltStopDegrees) else { throw .tiltStop(tiltStopDegrees) }
    }
    self.failsafeTimeout = failsafeTimeout
    self.speedLimit = speedLimit
    self.acceleration = acceleration
    self.tickPeriod = tickPeriod
    self.failuresBeforeFault = failuresBeforeFault
    self.geometry = geometry
    self.stopWithinMillimetres = stopWithinMillimetres
    self.batteryStopPercent = batteryStopPercent
    self.tiltStopDegrees = tiltStopDegrees
  }

  /// The settings with the values of the requirement.
  public static let standard = try! RobotSettings()

  /// The greatest rate at which the magnitude of a speed may rise, in percent a second, or `nil` if the ramp is disabled.
  public var slewPerSecond: Double? {
    @_noLocks @_noAllocation get { acceleration == 0 ? nil : 4 * acceleration }
  }
}

/// A setting that is out of range, with the requested value.
public enum RobotSettingsError: Error, Hashable, Sendable {
  case failsafeTimeout(Nanoseconds)
  case failsafeShorterThanTwoTicks(Nanoseconds, tickPeriod: Nanoseconds)
  case speedLimit(Percent)
  case acceleration(Double)
  case tickPeriod(Nanoseconds)
  case failuresBeforeFault(Int)
  /// The stopping distance, in millimetres, is out of its range.
  case stopDistance(Int)
  /// The battery charge for a stop, in percent, is out of its range.
  case batteryStop(Int)
  /// The tilt for a stop, in degrees, is out of its range.
  case tiltStop(Int)
  /// The wheel base, in metres, is out of its range.
  case wheelBase(Double)
  /// The speed of a wheel at 100 %, in metres per second, is out of its range.
  case topSpeed(Double)
}

extension RobotSettingsError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .failsafeTimeout(let value): "failsafe timeout: expected 100 ms…10 s, got \(value)"
    case .failsafeShorterThanTwoTicks(let value, let period):
      "failsafe timeout: expected at least two ticks of \(period), got \(value)"
    case .speedLimit(let value): "speed limit: expected 0…100 %, got \(value.value)"
    case .acceleration(let value): "acceleration: expected 0…100, got \(value)"
    case .tickPeriod(let value): "tick period: expected 1…200 ms, got \(value)"
    case .failuresBeforeFault(let value): "failures before fault: expected 1…100, got \(value)"
    case .stopDistance(let value): "stop distance: expected 20…4000 mm, got \(value)"
    case .batteryStop(let value): "battery stop: expected 1…100 %, got \(value)"
    case .tiltStop(let value): "tilt stop: expected 5…90°, got \(value)"
    case .wheelBase(let value): "wheel base: expected 0.01…5 m, got \(value)"
    case .topSpeed(let value): "top speed: expected 0.01…20 m/s, got \(value)"
    }
  }
}
