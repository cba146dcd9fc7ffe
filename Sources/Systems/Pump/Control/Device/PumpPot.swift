@_spi(FromOutside) import Conversions

/// A potentiometer: the speed that it indicates, and whether it has been turned.
struct PumpPot: Sendable, Hashable, BitwiseCopyable {
  /// The speed that the potentiometer indicates, or `nil` if it has not been read yet or is in its dead zone.
  private var position: PumpSpeed?
  /// The speed that the potentiometer indicated when the pump's speed was last set by any means.
  private var anchor: PumpSpeed?

  @_noLocks @_noAllocation
  init() {}

  /// Converts counts with the firmware's scale: below 20 there is no speed; 20…1023 become duties 10…255.
  @_noLocks @_noAllocation
  static func speed(counts: Int) -> PumpSpeed? {
    guard counts >= 20 else { return nil }
    let counts = counts > 1_023 ? 1_023 : counts
    return PumpSpeed(duty: UInt8(truncatingIfNeeded: 10 + (counts - 20) * 245 / 1_003))
  }

  /// Returns the speed to change to, or `nil` if the speed stays as it is. `current` is `nil` while the pump does not run.
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

  /// Notes that the speed was set by other means: the potentiometer must be turned before it takes effect again.
  @_noLocks @_noAllocation
  mutating func hold() {
    if case .some = position { anchor = position }
  }
}
