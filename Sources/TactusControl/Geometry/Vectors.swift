/// Two Doubles. The operators are SIMD's: `+ - *` and `/` by elements or by a number.
public typealias Vector2 = SIMD2<Double>
/// Three Doubles, with the operators of SIMD.
public typealias Vector3 = SIMD3<Double>
/// Four Doubles, with the operators of SIMD.
public typealias Vector4 = SIMD4<Double>

extension SIMD2 where Scalar == Double {
  /// The scalar product: the lengths and the cosine of the angle between, multiplied.
  @_noLocks @_noAllocation @inlinable public func dot(_ other: Self) -> Double { x * other.x + y * other.y }

  /// The part of the cross product that leaves the plane: above 0 when `other` lies counter-clockwise.
  @_noLocks @_noAllocation @inlinable public func cross(_ other: Self) -> Double { x * other.y - y * other.x }

  /// 0 or more, without overflow on the way.
  @inlinable public var length: Double { @_noLocks @_noAllocation get { Math.hypot(x, y) } }

  /// Of length 1 in the same direction; `nil` for a length of 0 or one that is not finite.
  @inlinable public var normalized: Self? {
    @_noLocks @_noAllocation get {
      let length = length
      return length > 0 && length.isFinite ? self / length : nil
    }
  }

  /// Turned counter-clockwise by an angle in radians.
  @_noLocks @_noAllocation @inlinable public func rotated(by radians: Double) -> Self {
    let (cosine, sine) = (Math.cos(radians), Math.sin(radians))
    return Self(cosine * x - sine * y, sine * x + cosine * y)
  }
}

extension SIMD3 where Scalar == Double {
  /// The scalar product: the lengths and the cosine of the angle between, multiplied.
  @_noLocks @_noAllocation @inlinable
  public func dot(_ other: Self) -> Double { x * other.x + y * other.y + z * other.z }

  /// At right angles to both, right-handed.
  @_noLocks @_noAllocation @inlinable
  public func cross(_ other: Self) -> Self {
    Self(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }

  /// 0 or more, without overflow on the way.
  @inlinable public var length: Double { @_noLocks @_noAllocation get { Math.hypot(Math.hypot(x, y), z) } }

  /// Of length 1 in the same direction; `nil` for a length of 0 or one that is not finite.
  @inlinable public var normalized: Self? {
    @_noLocks @_noAllocation get {
      let length = length
      return length > 0 && length.isFinite ? self / length : nil
    }
  }
}

extension SIMD4 where Scalar == Double {
  /// The scalar product: the lengths and the cosine of the angle between, multiplied.
  @_noLocks @_noAllocation @inlinable
  public func dot(_ other: Self) -> Double { x * other.x + y * other.y + z * other.z + w * other.w }

  /// 0 or more, without overflow on the way.
  @inlinable public var length: Double {
    @_noLocks @_noAllocation get { Math.hypot(Math.hypot(x, y), Math.hypot(z, w)) }
  }

  /// Of length 1 in the same direction; `nil` for a length of 0 or one that is not finite.
  @inlinable public var normalized: Self? {
    @_noLocks @_noAllocation get {
      let length = length
      return length > 0 && length.isFinite ? self / length : nil
    }
  }
}
