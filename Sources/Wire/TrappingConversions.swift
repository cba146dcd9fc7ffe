// Where numbers come from outside, a conversion that ends the process for a number that does not fit is not compiled.
//
// This file is in every module in which such numbers arrive (links to this one; HouseTests says which). It hides the standard library's
// conversions of the same signature there, and using one is an error of the build. Write instead, by what the number means:
//   Int(saturating: number), UInt8(clamping: number)    the nearest that fits
//   Int(exactly: number), UInt8(exactly: number)        nil, and the field is refused by its name
//   UInt8(truncatingIfNeeded: number)                   its low bits are what is meant
//   number.magnitude                                    instead of abs, which the smallest integer has not
// Conversions that cannot fail, such as Int(byte), stay what they are. Not in debug builds: tests see what is internal, and those of two
// modules would meet one of each. Those of an optimised build may meet one, and then it does what the standard library's does.
#if !DEBUG
  extension Int {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: UInt) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: UInt64) { self.init(exactly: number)! }
  }

  extension Int64 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: UInt) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: UInt64) { self.init(exactly: number)! }
  }

  extension UInt {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int64) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int32) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int16) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int8) { self.init(exactly: number)! }
  }

  extension UInt64 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int64) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int32) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int16) { self.init(exactly: number)! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping: or exactly:")
    init(_ number: Int8) { self.init(exactly: number)! }
  }

  extension Int32 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
    init(_ number: some BinaryInteger) { self.init(exactly: number)! }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: Int32) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: Int16) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: Int8) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
  }

  extension UInt32 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
    init(_ number: some BinaryInteger) { self.init(exactly: number)! }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
  }

  extension Int16 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
    init(_ number: some BinaryInteger) { self.init(exactly: number)! }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: Int16) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: Int8) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
  }

  extension UInt16 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
    init(_ number: some BinaryInteger) { self.init(exactly: number)! }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
  }

  extension Int8 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
    init(_ number: some BinaryInteger) { self.init(exactly: number)! }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: Int8) { self.init(truncatingIfNeeded: number) }
  }

  extension UInt8 {
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Double) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write saturating: or exactly:")
    init(_ number: Float) { self.init(exactly: number.rounded(.towardZero))! }
    @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
    init(_ number: some BinaryInteger) { self.init(exactly: number)! }
    @_noLocks @_noAllocation @inline(__always)
    init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
  }

  @available(*, deprecated, message: "traps for the smallest integer: write magnitude")
  func abs<Number: FixedWidthInteger & SignedInteger>(_ number: Number) -> Number { number < 0 ? 0 - number : number }

  @available(*, deprecated, message: "traps for what does not fit: write clamping:, exactly: or truncatingIfNeeded:")
  func numericCast<Number: BinaryInteger>(_ number: some BinaryInteger) -> Number { Number(exactly: number)! }

  extension Duration {
    @available(*, deprecated, message: "traps for what does not fit: write Nanoseconds.seconds(_:)")
    static func seconds(_ number: Double) -> Duration { .nanoseconds(Int64(exactly: (number * 1e9).rounded())!) }
    @available(*, deprecated, message: "traps for what does not fit: write Nanoseconds.seconds(_:)")
    static func milliseconds(_ number: Double) -> Duration { .nanoseconds(Int64(exactly: (number * 1e6).rounded())!) }
  }
#endif
