import Buses
import Tactus
import TactusControl

/// The accelerometer and, where there is one, the gyroscope that say how the robot leans, mounted so that x is forward and z up.
public struct InertialSensors: ~Copyable {
  private var accelerometer: AxesInput
  private var gyroscope: AxesInput?
  private var filter: AttitudeFilter
  private var last: TickInstant?
  /// When an acceleration last said where up is.
  private var countedAt: TickInstant?
  /// How long the attitude is known without one: longer than a fall from a table, shorter than anybody trusts a broken sensor.
  private static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(1) }
  }

  /// Creates the sensors from their inputs, in m/s² and rad/s.
  public init(accelerometer: consuming AxesInput, gyroscope: consuming AxesInput? = nil) {
    self.accelerometer = accelerometer
    self.gyroscope = gyroscope
    filter = try! AttitudeFilter()  // The standard settings are valid.
  }

  /// Reads the sensors and returns roll and pitch in degrees, or `nil` while the accelerometer says nothing, or nothing for a second from
  /// which up could be known, such as zero on all axes. A gyroscope that says nothing is done without.
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
