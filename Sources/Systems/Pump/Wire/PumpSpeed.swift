@_spi(FromOutside) import Conversions

/// A pump's speed as its firmware represents it: the duty of an 8-bit PWM.
public struct PumpSpeed: Sendable, Hashable, BitwiseCopyable {
  /// The duty, 0…255.
  public var duty: UInt8

  @_noLocks @_noAllocation
  public init(duty: UInt8) { self.duty = duty }

  /// Creates the slowest speed that is reported as this percentage, 0…100; a greater percentage counts as 100.
  @_noLocks @_noAllocation
  public init(percent: UInt8) {
    let percent = percent > 100 ? 100 : Int(percent)
    duty = UInt8(clamping: (percent * 255 + 99) / 100)
  }

  /// The percentage that the firmware reports, truncated: 180 becomes 70 %.
  public var percent: UInt8 {
    @_noLocks @_noAllocation get { UInt8(clamping: Int(duty) * 100 / 255) }
  }

  /// The initial speed of the firmware, 70 %.
  public static var standard: PumpSpeed {
    @_noLocks @_noAllocation get { PumpSpeed(duty: 180) }
  }
}
