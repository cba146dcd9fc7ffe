// Where numbers come from outside, a conversion that ends the process for a number that does not fit is not compiled.
//
//     @_spi(FromOutside) import Conversions
//
// In a file with this line these hide the standard library's conversions of the same signature, and using one is a warning that the targets in
// which such numbers arrive have as an error (Package.swift), in every build and in an editor. HouseTests says which targets these are, and that
// each of their files in which a number is converted has the line. Write instead, by what the number means:
//   Int(saturating: number), UInt8(clamping: number)    the nearest that fits
//   Int(exactly: number), UInt8(exactly: number)        nil, and the field is refused by its name
//   UInt8(truncatingIfNeeded: number)                   its low bits are what is meant
//   number.magnitude                                    instead of abs, which the smallest integer has not
// Conversions that cannot fail, such as Int(byte), stay what they are. Files without the line see none of it: tests, and programs of others.

@_spi(FromOutside) extension Int {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: UInt) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: UInt64) { self.init(exactly: number)! }
}

@_spi(FromOutside) extension Int64 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: UInt) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: UInt64) { self.init(exactly: number)! }
}

@_spi(FromOutside) extension UInt {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int64) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int32) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int16) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int8) { self.init(exactly: number)! }
}

@_spi(FromOutside) extension UInt64 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int64) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int32) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int16) { self.init(exactly: number)! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
  public init(_ number: Int8) { self.init(exactly: number)! }
}

@_spi(FromOutside) extension Int32 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  public init(_ number: some BinaryInteger) { self.init(exactly: number)! }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: Int32) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: Int16) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: Int8) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

@_spi(FromOutside) extension UInt32 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  public init(_ number: some BinaryInteger) { self.init(exactly: number)! }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

@_spi(FromOutside) extension Int16 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  public init(_ number: some BinaryInteger) { self.init(exactly: number)! }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: Int16) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: Int8) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

@_spi(FromOutside) extension UInt16 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  public init(_ number: some BinaryInteger) { self.init(exactly: number)! }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

@_spi(FromOutside) extension Int8 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  public init(_ number: some BinaryInteger) { self.init(exactly: number)! }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: Int8) { self.init(truncatingIfNeeded: number) }
}

@_spi(FromOutside) extension UInt8 {
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
  public init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  public init(_ number: some BinaryInteger) { self.init(exactly: number)! }
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps for the smallest integer: write magnitude")
@_spi(FromOutside)
public func abs<Number: FixedWidthInteger & SignedInteger>(_ number: Number) -> Number {
  number < 0 ? 0 - number : number
}

@available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
@_spi(FromOutside)
public func numericCast<T: BinaryInteger, U: BinaryInteger>(_ x: T) -> U { U(exactly: x)! }

@_spi(FromOutside) extension Duration {
  @available(*, deprecated, message: "traps for what does not fit: write Nanoseconds.seconds(_:)")
  public static func seconds(_ number: Double) -> Duration { .nanoseconds(Int64(exactly: (number * 1e9).rounded())!) }
  @available(*, deprecated, message: "traps for what does not fit: write Nanoseconds.seconds(_:)")
  public static func milliseconds(_ number: Double) -> Duration {
    .nanoseconds(Int64(exactly: (number * 1e6).rounded())!)
  }
}
