import Tactus

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
