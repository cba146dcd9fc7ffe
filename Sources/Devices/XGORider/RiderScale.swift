import Tactus

/// The conversion of a quantity of the XGO Rider to a register byte: 0 is the lowest value, 127 the middle, 255 the highest.
public struct RiderScale: Sendable, Hashable, BitwiseCopyable {
  /// The value of register byte 0, in the unit of the quantity.
  public var lowest: Double
  /// The value of register byte 255, in the unit of the quantity.
  public var highest: Double

  @_noLocks @_noAllocation
  private init(_ lowest: Double, _ highest: Double) {
    self.lowest = lowest
    self.highest = highest
  }

  /// The scale of the forward speed in metres per second, −1.5…1.5.
  public static var forwardSpeed: Self {
    @_noLocks @_noAllocation get { Self(-1.5, 1.5) }
  }
  /// The scale of the turn rate in degrees per second, −360…360, positive to the left.
  public static var yawRate: Self {
    @_noLocks @_noAllocation get { Self(-360, 360) }
  }
  /// The scale of the body height in millimetres, 60…120.
  public static var height: Self {
    @_noLocks @_noAllocation get { Self(60, 120) }
  }
  /// The scale of the roll in degrees, −17…17.
  public static var roll: Self {
    @_noLocks @_noAllocation get { Self(-17, 17) }
  }

  /// Returns the register byte of `value`, clamped to the range and rounded down as the board's own library does, so that the
  /// middle is 127. `value` must not be NaN.
  @_noLocks @_noAllocation
  public func byte(_ value: Double) -> UInt8 {
    precondition(!value.isNaN, "a register value is a number")
    let clamped = Swift.max(lowest, Swift.min(highest, value))
    return UInt8(saturating: Swift.max(0, Swift.min(255, 255 / (highest - lowest) * (clamped - lowest))))
  }

  /// Returns the value of a register byte. 127 gives the exact middle, so that a robot commanded to rest is at rest.
  @_noLocks @_noAllocation
  public func value(_ byte: UInt8) -> Double {
    byte == 127 ? (lowest + highest) / 2 : lowest + Double(byte) * (highest - lowest) / 255
  }
}
