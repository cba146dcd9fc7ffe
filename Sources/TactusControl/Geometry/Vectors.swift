/// A vector of two Doubles. The operators are those of SIMD: `+ - *` and `/`, by elements or by a number.
public typealias Vector2 = SIMD2<Double>
/// A vector of three Doubles, with the operators of SIMD.
public typealias Vector3 = SIMD3<Double>
/// A vector of four Doubles, with the operators of SIMD.
public typealias Vector4 = SIMD4<Double>

extension SIMD2 where Scalar == Double {
  /// Returns the scalar product: both lengths multiplied by the cosine of the angle between the vectors.
  @_noLocks @_noAllocation @inlinable public func dot(_ other: Self) -> Double { x * other.x + y * other.y }

  /// Returns the component of the cross product that is perpendicular to the plane. It is above 0 if `other` lies counter-clockwise.
  @_noLocks @_noAllocation @inlinable public func cross(_ other: Self) -> Double { x * other.y - y * other.x }

  /// The length of the vector, 0 or more, computed without overflow in between.
  @inlinable public var length: Double { @_noLocks @_noAllocation get { Math.hypot(x, y) } }

  /// The vector of length 1 in the same direction, or `nil` if the length is 0 or not finite.
  @inlinable public var normalized: Self? {
    @_noLocks @_noAllocation get {
      let length = length
      return length > 0 && length.isFinite ? self / length : nil
    }
  }

  /// Returns the vector turned counter-clockwise by an angle in radians.
  @_noLocks @_noAllocation @inlinable public func rotated(by radians: Double) -> Self {
    let (cosine, sine) = (Math.cos(radians), Math.sin(radians))
    return Self(cosine * x - sine * y, sine * x + cosine * y)
  }
}

extension SIMD3 where Scalar == Double {
  /// Returns the scalar product: both lengths multiplied by the cosine of the angle between the vectors.
  @_noLocks @_noAllocation @inlinable
  public func dot(_ other: Self) -> Double { x * other.x + y * other.y + z * other.z }

  /// Returns the cross product, which is perpendicular to both vectors by the right-hand rule.
  @_noLocks @_noAllocation @inlinable
  public func cross(_ other: Self) -> Self {
    Self(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }

  /// The length of the vector, 0 or more, computed without overflow in between.
  @inlinable public var length: Double { @_noLocks @_noAllocation get { Math.hypot(Math.hypot(x, y), z) } }

  /// The vector of length 1 in the same direction, or `nil` if the length is 0 or not finite.
  @inlinable public var normalized: Self? {
    @_noLocks @_noAllocation get {
      let length = length
      return length > 0 && length.isFinite ? self / length : nil
    }
  }
}

extension SIMD4 where Scalar == Double {
  /// Returns the scalar product: both lengths multiplied by the cosine of the angle between the vectors.
  @_noLocks @_noAllocation @inlinable
  public func dot(_ other: Self) -> Double { x * other.x + y * other.y + z * other.z + w * other.w }

  /// The length of the vector, 0 or more, computed without overflow in between.
  @inlinable public var length: Double {
    @_noLocks @_noAllocation get { Math.hypot(Math.hypot(x, y), Math.hypot(z, w)) }
  }

  /// The vector of length 1 in the same direction, or `nil` if the length is 0 or not finite.
  @inlinable public var normalized: Self? {
    @_noLocks @_noAllocation get {
      let length = length
      return length > 0 && length.isFinite ? self / length : nil
    }
  }
}
