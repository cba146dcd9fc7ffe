import Tactus

/// A rotation as w + xi + yj + zk, of length 1: Hamilton's convention, active, right-handed, from body to world.
///
/// `a * b` rotates by `b` first. q and −q are the same rotation. Angles are radians, rates rad/s.
///
/// Source: J. Solà, *Quaternion kinematics for the error-state Kalman filter* (2017), sections 1, 2 and 4.
public struct Quaternion: Sendable, Hashable, BitwiseCopyable {
  /// The real part: the cosine of half the angle.
  public let w: Double
  /// The part along i: the axis's x multiplied by the sine of half the angle.
  public let x: Double
  /// The part along j: the axis's y multiplied by the sine of half the angle.
  public let y: Double
  /// The part along k: the axis's z multiplied by the sine of half the angle.
  public let z: Double

  /// The rotation by an angle of 0.
  public static var identity: Self {
    @_noLocks @_noAllocation @inlinable get { Self(length1: 1, 0, 0, 0) }
  }

  @_noLocks @_noAllocation @inlinable
  init(length1 w: Double, _ x: Double, _ y: Double, _ z: Double) { (self.w, self.x, self.y, self.z) = (w, x, y, z) }

  /// Creates a rotation from four numbers of any length, which is normalised to 1. The result is `nil` if the length is 0 or a number is not finite.
  @_noLocks @_noAllocation @inlinable
  public init?(w: Double, x: Double, y: Double, z: Double) {
    guard let unit = Vector4(w, x, y, z).normalized else { return nil }
    self.init(length1: unit.x, unit.y, unit.z, unit.w)
  }

  /// Creates a rotation by an angle in radians about an axis of any length. The result is `nil` if the axis has length 0 or a number is not finite.
  @_noLocks @_noAllocation @inlinable
  public init?(axis: Vector3, angle: Double) {
    guard let unit = axis.normalized, angle.isFinite else { return nil }
    let (cosine, sine) = (Math.cos(angle / 2), Math.sin(angle / 2))
    self.init(length1: cosine, sine * unit.x, sine * unit.y, sine * unit.z)
  }

  /// Creates a rotation by roll about x, then pitch about y, then yaw about z, all of the world (intrinsically z, y′, x″: the
  /// aerospace sequence), in radians. The result is `nil` if an angle is not finite.
  @_noLocks @_noAllocation @inlinable
  public init?(roll: Double, pitch: Double, yaw: Double) {
    guard (roll + pitch + yaw).isFinite else { return nil }
    let (cr, sr) = (Math.cos(roll / 2), Math.sin(roll / 2))
    let (cp, sp) = (Math.cos(pitch / 2), Math.sin(pitch / 2))
    let (cy, sy) = (Math.cos(yaw / 2), Math.sin(yaw / 2))
    self.init(
      length1: cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
      cr * cp * sy - sr * sp * cy)
  }

  /// Creates a rotation from a rotation vector, whose direction is the axis and whose length is the angle in radians. It is exact
  /// also for the smallest angles. The result is `nil` if a number is not finite.
  @_noLocks @_noAllocation @inlinable
  public init?(rotation: Vector3) {
    let half = rotation.length / 2
    guard half.isFinite else { return nil }
    // sin(h) / 2h, whose series takes over where the quotient would be 0 ÷ 0.
    let scale = half > 1e-4 ? Math.sin(half) / (2 * half) : 0.5 - half * half / 12
    self.init(length1: Math.cos(half), scale * rotation.x, scale * rotation.y, scale * rotation.z)
  }

  /// Returns the rotation by `right` followed by `left`. Rounding changes the length by about 10⁻¹⁶ per product; `renormalized` corrects this.
  @_noLocks @_noAllocation @inlinable
  public static func * (left: Self, right: Self) -> Self {
    Self(
      length1: left.w * right.w - left.x * right.x - left.y * right.y - left.z * right.z,
      left.w * right.x + left.x * right.w + left.y * right.z - left.z * right.y,
      left.w * right.y - left.x * right.z + left.y * right.w + left.z * right.x,
      left.w * right.z + left.x * right.y - left.y * right.x + left.z * right.w)
  }

  /// The inverse rotation.
  @inlinable public var inverse: Self { @_noLocks @_noAllocation get { Self(length1: w, -x, -y, -z) } }

  /// The same rotation with its length restored to 1.
  @inlinable public var renormalized: Self {
    @_noLocks @_noAllocation get { Self(w: w, x: x, y: y, z: z) ?? .identity }
  }

  /// Returns `vector`, given in the body's frame, in the world's frame.
  @_noLocks @_noAllocation @inlinable
  public func rotate(_ vector: Vector3) -> Vector3 {
    let axis = Vector3(x, y, z)
    let twice = axis.cross(vector) * 2
    return vector + twice * w + axis.cross(twice)
  }

  /// Returns the angle in radians between two rotations, 0…π.
  @_noLocks @_noAllocation @inlinable
  public func angle(to other: Self) -> Double {
    let between = inverse * other
    return 2 * Math.atan2(Vector3(between.x, between.y, between.z).length, between.w.magnitude)
  }

  /// The rotation as roll −π…π about x, pitch −π/2…π/2 about y and yaw −π…π about z, in radians. At a pitch of ±π/2 roll and yaw
  /// have the same effect; roll is then 0.
  @inlinable public var angles: (roll: Double, pitch: Double, yaw: Double) {
    @_noLocks @_noAllocation get {
      let sine = Math.clamp(2 * (w * y - z * x), from: -1, to: 1)
      guard sine.magnitude < 1 - 1e-12 else {
        return (0, sine < 0 ? -.pi / 2 : .pi / 2, Math.wrapped((sine < 0 ? 2 : -2) * Math.atan2(x, w)))
      }
      return (
        Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), Math.asin(sine),
        Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
      )
    }
  }
}

extension Quaternion {
  /// Returns a rotation on the shortest way from this one to `other` at constant angular speed. A share of 0 gives this rotation
  /// and 1 the other; beyond these the motion continues. A share that is not finite gives this rotation.
  ///
  /// Source: K. Shoemake, *Animating rotation with quaternion curves* (1985).
  @_noLocks @_noAllocation
  public func interpolated(to other: Self, share: Double) -> Self {
    let between = inverse * other
    let sign: Double = between.w < 0 ? -1 : 1
    let axis = Vector3(between.x, between.y, between.z)
    let sine = axis.length
    // 2·atan2(sine, w) is the angle; below, its quotient by the sine would be 0 ÷ 0.
    let scale = sine > 1e-9 ? 2 * Math.atan2(sine, between.w.magnitude) / sine : 2
    guard let part = Self(rotation: axis * (sign * scale * share)) else { return self }
    return (self * part).renormalized
  }

  /// Continues the rotation by an angular rate that the body measures, such as with a gyroscope, in rad/s about its own axes and
  /// constant for `time`. A rate that is not finite changes nothing.
  @_noLocks @_noAllocation
  public mutating func step(rate: Vector3, for time: Nanoseconds) {
    guard let turned = Self(rotation: rate * time.inSeconds) else { return }
    self = (self * turned).renormalized
  }
}
