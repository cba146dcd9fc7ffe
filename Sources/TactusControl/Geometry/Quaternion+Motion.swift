import Tactus

extension Quaternion {
  /// The shortest way from this rotation to `other` at constant angular speed: 0 is this one, 1 the other; beyond, the
  /// motion goes on. A share that is not finite gives this rotation.
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

  /// Goes on by the angular rate that the body measures (a gyroscope's), in rad/s about its own axes, held for so long.
  /// A rate that is not finite changes nothing.
  @_noLocks @_noAllocation
  public mutating func step(rate: Vector3, for time: Nanoseconds) {
    guard let turned = Self(rotation: rate * time.inSeconds) else { return }
    self = (self * turned).renormalized
  }
}
