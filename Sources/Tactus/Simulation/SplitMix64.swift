/// SplitMix64, the seeded random number generator of all simulations. It is small, fast and the same on every machine, and not suitable for secrets.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
public struct SplitMix64: RandomNumberGenerator, Sendable, BitwiseCopyable {
  private var state: UInt64

  /// Creates a generator whose numbers depend on `seed` alone. All seeds are equally good.
  @_noLocks @_noAllocation
  public init(seed: UInt64) { state = seed }

  /// Returns the next number; each of the 2⁶⁴ values is equally likely.
  @_noLocks @_noAllocation
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number in 0 ..< `bound` with a bias below `bound` / 2⁶⁴, or 0 if `bound` is 0. Always draws one number.
  @_noLocks @_noAllocation
  public mutating func below(_ bound: UInt64) -> UInt64 {
    next().multipliedFullWidth(by: bound).high
  }

  /// Returns `true` in `perMille` of 1,000 cases. Always draws one number, so that changing one rate does not change the other draws.
  @_noLocks @_noAllocation
  public mutating func chance(perMille: Int) -> Bool {
    below(1000) < UInt64(perMille < 0 ? 0 : perMille)
  }
}
