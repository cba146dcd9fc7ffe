import Tactus

/// How a quantity of the XGO Rider maps to a register byte: 0 lowest, 127 the middle, 255 highest.
public struct RiderScale: Sendable, Hashable, BitwiseCopyable {
  /// What register byte 0 stands for, in the unit of the quantity.
  public var lowest: Double
  /// What register byte 255 stands for, in the unit of the quantity.
  public var highest: Double

  @_noLocks @_noAllocation
  private init(_ lowest: Double, _ highest: Double) {
    self.lowest = lowest
    self.highest = highest
  }

  /// Metres per second, −1.5…1.5.
  public static var forwardSpeed: Self {
    @_noLocks @_noAllocation get { Self(-1.5, 1.5) }
  }
  /// Degrees per second, −360…360, positive to the left.
  public static var yawRate: Self {
    @_noLocks @_noAllocation get { Self(-360, 360) }
  }
  /// Millimetres, 60…120.
  public static var height: Self {
    @_noLocks @_noAllocation get { Self(60, 120) }
  }
  /// Degrees, −17…17.
  public static var roll: Self {
    @_noLocks @_noAllocation get { Self(-17, 17) }
  }

  /// The register byte of `value`, clamped to the range and rounded down as the board's own library does, so that the
  /// middle is 127. `value` must not be NaN.
  @_noLocks @_noAllocation
  public func byte(_ value: Double) -> UInt8 {
    precondition(!value.isNaN, "a register value is a number")
    let clamped = Swift.max(lowest, Swift.min(highest, value))
    return UInt8(saturating: Swift.max(0, Swift.min(255, 255 / (highest - lowest) * (clamped - lowest))))
  }

  /// The quantity that a register byte stands for; 127 is the exact middle, so that a robot told to rest is at rest.
  @_noLocks @_noAllocation
  public func value(_ byte: UInt8) -> Double {
    byte == 127 ? (lowest + highest) / 2 : lowest + Double(byte) * (highest - lowest) / 255
  }
}
