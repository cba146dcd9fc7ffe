// The total ways from a number that came from outside (a body, a file, a frame, a register) to one that we count with. What traps instead
// is not compiled where such numbers arrive: Sources/Wire/TrappingConversions.swift.

extension Int64 {
  /// The number without its fraction; what is too large is the largest value, what is too small the smallest, and what is no number is 0.
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
  /// The number without its fraction; what is too large is the largest value, what is below 0 or no number is 0.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self = number >= 0x1p64 ? .max : number > 0 ? UInt64(number) : 0
  }
}

extension Int {
  /// As `Int64(saturating:)`, in this type's range.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension Int32 {
  /// As `Int64(saturating:)`, in this type's range.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension UInt32 {
  /// As `Int64(saturating:)`, in this type's range.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension Int16 {
  /// As `Int64(saturating:)`, in this type's range.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension UInt16 {
  /// As `Int64(saturating:)`, in this type's range.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension UInt8 {
  /// As `Int64(saturating:)`, in this type's range.
  @_noLocks @_noAllocation @inlinable @inline(__always) public init(saturating number: Double) {
    self.init(clamping: Int64(saturating: number))
  }
}

extension Int64 {
  /// The sum, or the value at the end of the range that it is beyond.
  @_noLocks @_noAllocation @inlinable @inline(__always) public func addingSaturated(_ other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the value at the end of the range that it is beyond.
  @_noLocks @_noAllocation @inlinable @inline(__always) public func subtractingSaturated(_ other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }

  /// The product, or the value at the end of the range that it is beyond.
  @_noLocks @_noAllocation @inlinable @inline(__always) public func multipliedSaturated(by other: Self) -> Self {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
