import Tactus
import Wire

/// The control rules' numbers. Valid once made; a change takes effect whole, at a tick boundary.
public struct RobotSettings: Sendable, Hashable, BitwiseCopyable {
  public static let failsafeTimeouts = Nanoseconds.milliseconds(100)...Nanoseconds.seconds(10)
  public static let tickPeriods = Nanoseconds.milliseconds(1)...Nanoseconds.milliseconds(200)

  /// Silence of the controlling source after which the motors stop, 100 ms…10 s. Requirement: 1 s.
  public let failsafeTimeout: Nanoseconds
  /// No wheel is driven faster, 0…100 %. Each wheel is clamped by itself, as the original script does, so a limited curve
  /// gets wider rather than slower.
  public let speedLimit: Percent
  /// 0…100, larger is faster: speeds rise at 4 × this in %/s, so that 50 reaches full speed in 0.5 s. 0 is no ramp.
  /// The original documents this number without a unit; the factor is ours (facts, rule 9).
  public let acceleration: Double
  /// Time between two periodic ticks, 1…200 ms. A wheel that starts from rest is credited one of these, so that a command
  /// acts at once instead of a tick later.
  public let tickPeriod: Nanoseconds
  /// Consecutive motor writes that must fail before the machine is in fault, 1…100. A time-out needs no second.
  public let failuresBeforeFault: Int

  /// Throws the first setting that is out of range.
  public init(
    failsafeTimeout: Nanoseconds = .seconds(1), speedLimit: Percent = Percent(100), acceleration: Double = 50,
    tickPeriod: Nanoseconds = .milliseconds(50), failuresBeforeFault: Int = 3
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
    self.failsafeTimeout = failsafeTimeout
    self.speedLimit = speedLimit
    self.acceleration = acceleration
    self.tickPeriod = tickPeriod
    self.failuresBeforeFault = failuresBeforeFault
  }

  /// The requirement's values.
  public static let standard = try! RobotSettings()

  /// The settings that allow no more than either of the two: each of them the smaller one. An acceleration of 0, which means no
  /// ramp, allows more than any other. The tick period, which is no limit, stays as it is.
  public func tighter(than other: RobotSettings) -> RobotSettings {
    let ramps = [acceleration, other.acceleration].filter { $0 > 0 }
    do {
      return try RobotSettings(
        failsafeTimeout: min(failsafeTimeout, other.failsafeTimeout),
        speedLimit: Percent(min(speedLimit.value, other.speedLimit.value)), acceleration: ramps.min() ?? 0,
        tickPeriod: tickPeriod, failuresBeforeFault: min(failuresBeforeFault, other.failuresBeforeFault))
    } catch {
      preconditionFailure("each of them was allowed with this period: \(error)")
    }
  }

  /// How fast |speed| may rise, in percent a second; nil for no ramp.
  public var slewPerSecond: Double? {
    @_noLocks @_noAllocation get { acceleration == 0 ? nil : 4 * acceleration }
  }
}

/// A setting out of range, with the value that was asked for.
public enum RobotSettingsError: Error, Hashable, Sendable {
  case failsafeTimeout(Nanoseconds)
  case failsafeShorterThanTwoTicks(Nanoseconds, tickPeriod: Nanoseconds)
  case speedLimit(Percent)
  case acceleration(Double)
  case tickPeriod(Nanoseconds)
  case failuresBeforeFault(Int)
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
    }
  }
}
