/// A pump's speed as its firmware takes it: the duty of an 8-bit PWM.
public struct PumpSpeed: Sendable, Hashable, BitwiseCopyable {
  /// 0…255.
  public var duty: UInt8

  @_noLocks @_noAllocation
  public init(duty: UInt8) { self.duty = duty }

  /// As the firmware reports it: truncated, 180 → 70 %.
  public var percent: UInt8 {
    @_noLocks @_noAllocation get { UInt8(Int(duty) * 100 / 255) }
  }
}
