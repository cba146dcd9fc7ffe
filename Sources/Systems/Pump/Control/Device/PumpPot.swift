/// A potentiometer: which speed it shows, and whether it has been turned.
struct PumpPot: Sendable, Hashable, BitwiseCopyable {
  /// What it shows, or `nil` if it was never looked at, or is in its dead zone.
  private var position: PumpSpeed?
  /// What it showed when the speed was last set by anyone.
  private var anchor: PumpSpeed?

  @_noLocks @_noAllocation
  init() {}

  /// The firmware's scale: below 20 nothing, 20…1023 is 10…255.
  @_noLocks @_noAllocation
  static func speed(counts: Int) -> PumpSpeed? {
    guard counts >= 20 else { return nil }
    let counts = counts > 1_023 ? 1_023 : counts
    return PumpSpeed(duty: UInt8(truncatingIfNeeded: 10 + (counts - 20) * 245 / 1_003))
  }

  /// The speed to take on, or `nil` if there is none. `current` is `nil` while the pump does not run.
  @_noLocks @_noAllocation
  mutating func sample(counts: Int, rule: PumpPotRule, current: PumpSpeed?) -> PumpSpeed? {
    position = Self.speed(counts: counts)
    guard let position else { return nil }
    guard let current, let anchor else {
      self.anchor = position
      return nil
    }
    let reference: PumpSpeed
    switch rule {
    case .none: return nil
    case .whenMoved: reference = anchor
    case .always: reference = current
    }
    guard (Int(position.duty) - Int(reference.duty)).magnitude > 5 else { return nil }
    self.anchor = position
    return position
  }

  /// Somebody else has set the speed: from here on it must be turned to count.
  @_noLocks @_noAllocation
  mutating func hold() {
    if case .some = position { anchor = position }
  }
}
