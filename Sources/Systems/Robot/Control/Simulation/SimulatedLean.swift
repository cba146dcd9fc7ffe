import Buses
import Synchronization
import Tactus
import TactusControl

/// The lean of a simulated robot, which its simulated inertial sensors measure. The values may be used from any thread. The object must outlive its
/// twin.
public final class SimulatedLean: @unchecked Sendable {  // safe: what the pointer leads to is atomic
  /// Roll and pitch in degrees as bits of a `Double`.
  fileprivate let angles: UnsafeMutablePointer<Atomic<UInt64>>

  /// Creates a robot that stands upright.
  public init() {
    angles = .allocate(capacity: 2)
    for index in 0..<2 { (angles + index).initialize(to: Atomic(0)) }
  }

  deinit {
    angles.deinitialize(count: 2)
    angles.deallocate()
  }

  /// The roll in degrees to which the robot turns, positive to the right; 0 at first.
  public var rollDegrees: Double {
    get { Double(bitPattern: angles[0].load(ordering: .relaxed)) }
    set { angles[0].store(newValue.bitPattern, ordering: .relaxed) }
  }

  /// The pitch in degrees to which the robot turns, positive forwards; 0 at first.
  public var pitchDegrees: Double {
    get { Double(bitPattern: angles[1].load(ordering: .relaxed)) }
    set { angles[1].store(newValue.bitPattern, ordering: .relaxed) }
  }

  /// Returns the twin that sets the values that the sensors measure.
  public func twin(
    accelerometer: consuming SimulatedAxesDriver, gyroscope: consuming SimulatedAxesDriver?
  ) -> InertialTwin { InertialTwin(angles, accelerometer, gyroscope) }
}

/// The loop that turns a simulated robot, at 180°/s, to where it shall lean, and sets what its inertial sensors measure.
public struct InertialTwin: ~Copyable, ControlLoop, NoOutput {
  private static var degreesPerSecond: Double {
    @_noLocks @_noAllocation get { 180 }
  }
  private let wanted: UnsafeMutablePointer<Atomic<UInt64>>
  private var accelerometer: SimulatedAxesDriver
  private var gyroscope: SimulatedAxesDriver?
  private var roll = 0.0
  private var pitch = 0.0
  private var last: TickInstant?

  fileprivate init(
    _ wanted: UnsafeMutablePointer<Atomic<UInt64>>, _ accelerometer: consuming SimulatedAxesDriver,
    _ gyroscope: consuming SimulatedAxesDriver?
  ) {
    self.wanted = wanted
    self.accelerometer = accelerometer
    self.gyroscope = gyroscope
  }

  /// Sets the roll in degrees to which the robot turns, as `SimulatedLean.rollDegrees` does outside of ticks.
  @_noLocks @_noAllocation
  public func lean(rollDegrees: Double) { wanted[0].store(rollDegrees.bitPattern, ordering: .relaxed) }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    let now = tick.started
    let seconds = last.map { (now - $0).inSeconds } ?? 0
    last = now
    let rollRate = Self.turn(&roll, to: Double(bitPattern: wanted[0].load(ordering: .relaxed)), in: seconds)
    let pitchRate = Self.turn(&pitch, to: Double(bitPattern: wanted[1].load(ordering: .relaxed)), in: seconds)
    let (r, p) = (roll * .pi / 180, pitch * .pi / 180)
    let up = Vector3(-Math.sin(p), Math.cos(p) * Math.sin(r), Math.cos(p) * Math.cos(r))
    accelerometer.set(up * AttitudeFilter.gravity, at: now)
    gyroscope?.set(Vector3(rollRate, pitchRate * Math.cos(r), -pitchRate * Math.sin(r)), at: now)
  }

  /// Turns an angle in degrees and returns how fast it turned, in rad/s.
  @_noLocks @_noAllocation
  private static func turn(_ angle: inout Double, to wanted: Double, in seconds: Double) -> Double {
    let step = Math.clamp(wanted - angle, from: -degreesPerSecond * seconds, to: degreesPerSecond * seconds)
    angle += step
    return seconds > 0 ? step / seconds * .pi / 180 : 0
  }
}
