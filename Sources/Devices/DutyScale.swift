import Wire

/// The conversion of a wheel speed to a motor board's duty, 0…255.
///
/// Source: properties of the boards: 255 is full duty; below about 30 the gear motors stall.
public struct DutyScale: Sendable, Hashable, BitwiseCopyable {
  /// The duty of 100 %.
  public let maxDuty: UInt8
  /// The least duty for a non-zero speed, so that a slow wheel turns at all; 0 for no minimum.
  public let minDuty: UInt8

  /// Creates a scale. Traps if `minDuty` is above `maxDuty`.
  @_noLocks @_noAllocation
  public init(maxDuty: UInt8 = 255, minDuty: UInt8 = 0) {
    precondition(minDuty <= maxDuty)
    self.maxDuty = maxDuty
    self.minDuty = minDuty
  }

  /// Returns round(|percent| · maxDuty / 100), and at least `minDuty` unless the speed is zero. Speeds beyond ±100 % count as 100
  /// %, and NaN counts as zero.
  @_noLocks @_noAllocation
  public func duty(_ speed: Percent) -> UInt8 {
    let magnitude = speed.value.magnitude
    guard magnitude > 0 else { return 0 }
    let duty = UInt8(saturating: (magnitude < 100 ? magnitude : 100) * Double(maxDuty) / 100 + 0.5)
    return duty < minDuty ? minDuty : duty
  }
}
