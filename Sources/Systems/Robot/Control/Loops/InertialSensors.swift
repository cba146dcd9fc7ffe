import Buses
import Tactus
import TactusControl

/// The accelerometer and the optional gyroscope that measure the robot's lean, mounted so that x is forward and z up.
public struct InertialSensors: ~Copyable {
  private var accelerometer: AxesInput
  private var gyroscope: AxesInput?
  private var filter: AttitudeFilter
  private var last: TickInstant?
  /// The instant of the last acceleration that showed the direction of gravity.
  private var countedAt: TickInstant?
  /// The time for which the attitude counts without a usable acceleration: longer than a fall from a table, shorter than a broken sensor may be
  /// trusted.
  private static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(1) }
  }

  /// Creates the sensors from their inputs, in m/s² and rad/s.
  public init(accelerometer: consuming AxesInput, gyroscope: consuming AxesInput? = nil) {
    self.accelerometer = accelerometer
    self.gyroscope = gyroscope
    filter = try! AttitudeFilter()  // The standard settings are valid.
  }

  /// Reads the sensors and returns roll and pitch in degrees. Returns `nil` while the accelerometer fails, and after a second without an
  /// acceleration that tells the direction of gravity, such as zero on all axes. A gyroscope that fails is left out.
  @_noLocks @_noAllocation
  mutating func attitude(at now: TickInstant) -> (roll: Double, pitch: Double)? {
    accelerometer.now = now
    gyroscope?.now = now
    guard let acceleration = try? accelerometer.read() else {
      forget()
      return nil
    }
    let rate = try? gyroscope?.read()
    if filter.step(acceleration: acceleration, rate: rate, for: last.map { now - $0 } ?? .zero) {
      countedAt = now
    } else if let countedAt, now - countedAt > Self.patience {
      forget()
      return nil
    }
    last = now
    guard let roll = filter.roll, let pitch = filter.pitch else { return nil }
    return (roll * 180 / .pi, pitch * 180 / .pi)
  }

  @_noLocks @_noAllocation
  private mutating func forget() {
    filter.reset()
    last = nil
    countedAt = nil
  }
}
