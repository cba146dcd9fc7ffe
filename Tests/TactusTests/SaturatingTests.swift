import Tactus
import TestSupport
import Testing

@Suite("Numbers from outside: every one becomes one that we count with")
struct SaturatingTests {
  private static let edges: [Double] = [
    0, -0.0, 0.5, -0.5, 254.9, 255, 255.9, 256, -1, 0x1p31, -0x1p31, 0x1p53, 0x1p63, 0x1p63.nextDown, 0x1p63.nextUp,
    -0x1p63,
    (-0x1p63).nextDown, 0x1p64, 0x1p64.nextDown, 1e300, -1e300, 1e-300, .infinity, -.infinity, .greatestFiniteMagnitude,
    .leastNonzeroMagnitude,
  ]

  private func expected<Number: FixedWidthInteger>(_ number: Double) -> Number {
    Number(clamping: Int128(min(max(number, -0x1p100), 0x1p100)))
  }

  @Test("a Double: without its fraction where it fits, else the nearer end of the range; what is no number is 0")
  func doubles() {
    var random = SplitMix64(seed: 31)
    let numbers = Self.edges + (0..<100_000).map { _ in Double(bitPattern: random.next()) }.filter { !$0.isNaN }
    for number in numbers {
      let isSame =
        Int(saturating: number) == expected(number) && Int64(saturating: number) == expected(number)
        && UInt64(saturating: number) == expected(number) && Int32(saturating: number) == expected(number)
        && UInt32(saturating: number) == expected(number) && Int16(saturating: number) == expected(number)
        && UInt16(saturating: number) == expected(number) && UInt8(saturating: number) == expected(number)
      #expect(isSame, "\(number)")
    }
    #expect(Int(saturating: .nan) == 0 && UInt64(saturating: .nan) == 0 && UInt8(saturating: .signalingNaN) == 0)
  }

  @Test("sums, differences and products: those that fit, else the end of the range that they are beyond")
  func arithmetic() {
    var random = SplitMix64(seed: 32)
    let edges: [Int64] = [0, 1, -1, .max, .min, .max - 1, .min + 1, 1 << 32, -1 << 32]
    let pairs =
      edges.flatMap { left in edges.map { (left, $0) } }
      + (0..<10_000).map { _ in
        (Int64(bitPattern: random.next()), Int64(bitPattern: random.next()) >> Int64(random.below(60)))
      }
    for (left, right) in pairs {
      let (one, other) = (Int128(left), Int128(right))
      #expect(left.addingSaturated(right) == Int64(clamping: one + other), "\(left) + \(right)")
      #expect(left.subtractingSaturated(right) == Int64(clamping: one - other), "\(left) - \(right)")
      #expect(left.multipliedSaturated(by: right) == Int64(clamping: one * other), "\(left) * \(right)")
    }
  }

  @Test("a span of any number of seconds: at most the longest there is, and none for what is no number")
  func spans() {
    let longest = Nanoseconds(.max)
    #expect(Nanoseconds.seconds(1e300) == longest)
    #expect(Nanoseconds.seconds(-1e300) == Nanoseconds(.min))
    #expect(Nanoseconds.seconds(Double.nan) == Nanoseconds.zero)
    #expect(Nanoseconds.seconds(Int64.max) == longest && .milliseconds(.min) == Nanoseconds(.min))
    #expect(Nanoseconds.microseconds(.max) == longest && .microseconds(1) == Nanoseconds(1_000))
    #expect(
      Nanoseconds(Duration.seconds(Int64.max)) == longest
        && Nanoseconds(Duration.seconds(Int64.min)) == Nanoseconds(.min))
    #expect(Nanoseconds.seconds(1.5) == .milliseconds(1_500))
  }
}
