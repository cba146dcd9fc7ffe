import Tactus

/// Roll and pitch of a body, from its accelerometer and, where there is one, its gyroscope.
///
/// The filter holds where "up" is in the body's axes: x forward, y to the left, z up. The gyroscope turns that direction, which is exact
/// for seconds and drifts after minutes; the acceleration pulls it back to where gravity says it is, which is exact at rest and wrong while
/// something pushes. Without a gyroscope the acceleration alone counts, smoothed over a shorter time.
///
/// An acceleration below half of standard gravity or above one and a half of it, as in a fall or a crash, says nothing of where up is and is
/// left out; so is a value that is not finite. The first acceleration that counts is taken whole.
///
/// Source: the complementary filter, on the direction of gravity in place of two angles, so that no attitude is singular:
/// du/dt = u × ω + (a/|a| − u) / τ.
public struct AttitudeFilter: Sendable, BitwiseCopyable {
  /// Standard gravity in m/s².
  @inlinable public static var gravity: Double { @_noLocks @_noAllocation get { 9.80665 } }

  /// The direction of "up" in the body's axes, of length 1, or `nil` before the first acceleration that counts.
  public private(set) var up: Vector3?
  private let withGyroscope: Double
  private let withoutGyroscope: Double

  /// Creates a filter with the times over which it corrects and smooths.
  ///
  /// - Parameters:
  ///   - timeConstant: the time in which the acceleration corrects the gyroscope, above 0.
  ///   - smoothing: the time over which the acceleration is smoothed while there is no gyroscope, above 0.
  @_noLocks @_noAllocation
  public init(
    timeConstant: Nanoseconds = .milliseconds(500), smoothing: Nanoseconds = .milliseconds(100)
  ) throws(ControlSettingError) {
    try ControlSettingError.check(timeConstant > .zero, .timeConstant, timeConstant.inSeconds)
    try ControlSettingError.check(smoothing > .zero, .timeConstant, smoothing.inSeconds)
    withGyroscope = timeConstant.inSeconds
    withoutGyroscope = smoothing.inSeconds
  }

  /// Takes the sensors' present readings.
  ///
  /// - Parameters:
  ///   - acceleration: what an accelerometer measures in m/s², which at rest is 9.81 upwards.
  ///   - rate: the angular velocity in rad/s by the right-hand rule about each axis, or `nil` without a gyroscope.
  ///   - time: the time since the last step; a negative one counts as none.
  /// - Returns: whether the acceleration counted. A sensor whose acceleration does not count for seconds is broken: only the gyroscope
  ///   moves the attitude then, or nothing does.
  @_noLocks @_noAllocation @discardableResult
  public mutating func step(acceleration: Vector3, rate: Vector3?, for time: Nanoseconds) -> Bool {
    let seconds = time > .zero ? time.inSeconds : 0
    var up = up
    if let last = up, let rate {
      // By the formula of Rodrigues and not by u × ω dt, so that a long step turns by its angle, too. A rate that is no number or beyond
      // all bounds turns nothing.
      let turned = Quaternion(rotation: rate * -seconds)?.rotate(last).normalized
      up = turned ?? last
    }
    defer { self.up = up }
    let length = acceleration.length / Self.gravity
    guard length > 0.5, length < 1.5, let measured = acceleration.normalized else { return false }
    let share = -Math.expm1(-seconds / (rate == nil ? withoutGyroscope : withGyroscope))
    up = up.map { ($0 + (measured - $0) * share).normalized ?? $0 } ?? measured
    return true
  }

  /// The rotation to the right about the forward axis in radians, −π…π; `nil` as `up`.
  public var roll: Double? {
    @_noLocks @_noAllocation get {
      guard let up else { return nil }
      return Math.atan2(up.y, up.z)
    }
  }

  /// The rotation forwards, nose down, about the left axis in radians, −π/2…π/2; `nil` as `up`.
  public var pitch: Double? {
    @_noLocks @_noAllocation get {
      guard let up else { return nil }
      return Math.atan2(-up.x, Math.hypot(up.y, up.z))
    }
  }

  /// Resets the filter, so that the next acceleration that counts is taken whole.
  @_noLocks @_noAllocation
  public mutating func reset() { up = nil }
}
