public import Tactus

/// What the generators of these tests draw.
extension SplitMix64 {
  /// 0 to less than `bound`.
  public mutating func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 1) % bound }
  /// `true` in `percent` of a hundred draws.
  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  /// One of `choices`, which must not be empty.
  public mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}
