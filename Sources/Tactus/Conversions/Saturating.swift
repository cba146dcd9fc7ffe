// The total ways from a number that came from outside (a body, a file, a frame, a register) to one that we count with. What traps instead
// is not compiled where such numbers arrive: Sources/Conversions.

extension Int64 {
  /// Converts a `Double` and drops its fraction. A number beyond the range gives the nearest end of the range, and NaN gives 0.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    if number >= 0x1p63 {
      self = .max
    } else if number >= -0x1p63 {
      self = Int64(number)
    } else {
      self = number.isNaN ? 0 : .min
    }
  }
}

extension UInt64 {
  /// Converts a `Double` and drops its fraction. A number that is too large gives `.max`; a negative number or NaN gives 0.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self = number >= 0x1p64 ? .max : number > 0 ? UInt64(number) : 0
  }
}

extension Int {
  /// Converts as `Int64(saturating:)` does, with the range of `Int`.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension Int32 {
  /// Converts as `Int64(saturating:)` does, with the range of `Int32`.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension UInt32 {
  /// Converts as `Int64(saturating:)` does, with the range of `UInt32`.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension Int16 {
  /// Converts as `Int64(saturating:)` does, with the range of `Int16`.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension UInt16 {
  /// Converts as `Int64(saturating:)` does, with the range of `UInt16`.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension UInt8 {
  /// Converts as `Int64(saturating:)` does, with the range of `UInt8`.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension Int64 {
  /// Returns the sum, or the nearest end of the range if the sum overflows.
  @_noLocks @_noAllocation @inlinable @inline(__always) public func addingSaturated(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the difference, or the nearest end of the range if the difference overflows.
  @_noLocks @_noAllocation @inlinable @inline(__always) public func subtractingSaturated(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }

  /// Returns the product, or the nearest end of the range if the product overflows.
  @_noLocks @_noAllocation @inlinable @inline(__always) public func multipliedSaturated(by other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
