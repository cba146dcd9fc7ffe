import Tactus

/// What the generators of these tests draw.
extension SplitMix64 {
  mutating func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 1) % bound }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}
