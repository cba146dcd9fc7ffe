import Wire

/// How a wheel speed becomes a motor board's duty, 0…255.
///
/// Source: facts of the boards: 255 is full duty; below about 30 the gear motors stall.
public struct DutyScale: Sendable, Hashable, BitwiseCopyable {
  /// The duty of 100 %.
  public let maxDuty: UInt8
  /// What every non-zero speed gets at least, so that a slow wheel turns at all; 0 for none.
  public let minDuty: UInt8

  /// `minDuty` above `maxDuty` is our bug.
  @_noLocks @_noAllocation
  public init(maxDuty: UInt8 = 255, minDuty: UInt8 = 0) {
    precondition(minDuty <= maxDuty)
    self.maxDuty = maxDuty
    self.minDuty = minDuty
  }

  /// round(|percent| · maxDuty / 100), at least `minDuty` unless the speed is zero; beyond ±100 % counts as 100 %, not a
  /// number as zero.
  @_noLocks @_noAllocation
  public func duty(_ speed: Percent) -> UInt8 {
    let magnitude = speed.value.magnitude
    guard magnitude > 0 else { return 0 }
    let duty = UInt8(saturating: (magnitude < 100 ? magnitude : 100) * Double(maxDuty) / 100 + 0.5)
    return duty < minDuty ? minDuty : duty
  }
}
