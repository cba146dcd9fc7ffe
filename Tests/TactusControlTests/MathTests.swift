import Glibc
import Tactus
import TactusControl
import Testing

/// Arguments of every size and sign, and what is special, from one seed.
struct Arguments {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// A third each: any bit pattern, −10…10, and 1 ± 2⁻¹⁰, where logarithms and arcs lose digits.
  mutating func double() -> Double {
    switch random.below(24) {
    case 0: [0, -0.0, 1, -1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude][Int(random.below(8))]
    case 1..<8: Double(bitPattern: random.next())
    case 8..<16: Double(Int64(bitPattern: random.next())) * 0x1p-63 * 10
    default: 1 + Double(Int64(bitPattern: random.next())) * 0x1p-73
    }
  }

  mutating func float() -> Float {
    random.chance(perMille: 500) ? Float(double()) : Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
  }
}

@Suite("Elementary functions")
struct MathTests {
  typealias Unary<T> = (name: String, ours: @Sendable (T) -> T, theirs: @Sendable (T) -> T)
  typealias Binary<T> = (name: String, ours: @Sendable (T, T) -> T, theirs: @Sendable (T, T) -> T)

  // The right-hand sides are the C library's own and the standard library's: Math is a namespace, so both can be imported.
  static let doubles: [Unary<Double>] = [
    ("sin", Math.sin, sin), ("cos", Math.cos, cos), ("tan", Math.tan, tan), ("asin", Math.asin, asin),
    ("acos", Math.acos, acos), ("atan", Math.atan, atan), ("sinh", Math.sinh, sinh), ("cosh", Math.cosh, cosh),
    ("tanh", Math.tanh, tanh), ("exp", Math.exp, exp), ("exp2", Math.exp2, exp2), ("expm1", Math.expm1, expm1),
    ("log", Math.log, log), ("log2", Math.log2, log2), ("log10", Math.log10, log10), ("log1p", Math.log1p, log1p),
    ("sqrt", Math.sqrt, { $0.squareRoot() }), ("cbrt", Math.cbrt, cbrt), ("round", Math.round, { $0.rounded() }),
    ("roundToEven", Math.roundToEven, { $0.rounded(.toNearestOrEven) }),
    ("floor", Math.floor, { $0.rounded(.down) }), ("ceil", Math.ceil, { $0.rounded(.up) }),
    ("trunc", Math.trunc, { $0.rounded(.towardZero) }),
  ]
  static let floats: [Unary<Float>] = [
    ("sin", Math.sin, sinf), ("cos", Math.cos, cosf), ("tan", Math.tan, tanf), ("asin", Math.asin, asinf),
    ("acos", Math.acos, acosf), ("atan", Math.atan, atanf), ("sinh", Math.sinh, sinhf), ("cosh", Math.cosh, coshf),
    ("tanh", Math.tanh, tanhf), ("exp", Math.exp, expf), ("exp2", Math.exp2, exp2f), ("expm1", Math.expm1, expm1f),
    ("log", Math.log, logf), ("log2", Math.log2, log2f), ("log10", Math.log10, log10f),
    ("log1p", Math.log1p, log1pf), ("sqrt", Math.sqrt, { $0.squareRoot() }), ("cbrt", Math.cbrt, cbrtf),
    ("round", Math.round, { $0.rounded() }), ("roundToEven", Math.roundToEven, { $0.rounded(.toNearestOrEven) }),
    ("floor", Math.floor, { $0.rounded(.down) }), ("ceil", Math.ceil, { $0.rounded(.up) }),
    ("trunc", Math.trunc, { $0.rounded(.towardZero) }),
  ]
  static let doublePairs: [Binary<Double>] = [
    ("atan2", Math.atan2, atan2), ("pow", Math.pow, pow), ("hypot", Math.hypot, hypot),
    ("remainder", Math.remainder, { $0.remainder(dividingBy: $1) }),
    ("fmod", Math.fmod, { $0.truncatingRemainder(dividingBy: $1) }),
  ]
  static let floatPairs: [Binary<Float>] = [
    ("atan2", Math.atan2, atan2f), ("pow", Math.pow, powf), ("hypot", Math.hypot, hypotf),
    ("remainder", Math.remainder, { $0.remainder(dividingBy: $1) }),
    ("fmod", Math.fmod, { $0.truncatingRemainder(dividingBy: $1) }),
  ]

  @Test("each function of a Double is the C library's, bit for bit", arguments: [1, 2, 3] as [UInt64])
  func doublesAreTheLibrarys(seed: UInt64) {
    var arguments = Arguments(seed: seed)
    for _ in 0..<20_000 {
      let (x, y) = (arguments.double(), arguments.double())
      for (name, ours, theirs) in Self.doubles {
        let (got, wanted) = (ours(x), theirs(x))
        if !isSame(got, wanted) { Issue.record("seed \(seed): \(name)(\(x)) is \(got), not \(wanted)") }
      }
      for (name, ours, theirs) in Self.doublePairs {
        let (got, wanted) = (ours(x, y), theirs(x, y))
        if !isSame(got, wanted) { Issue.record("seed \(seed): \(name)(\(x), \(y)) is \(got), not \(wanted)") }
      }
    }
  }

  @Test("each function of a Float is the C library's, bit for bit", arguments: [1, 2, 3] as [UInt64])
  func floatsAreTheLibrarys(seed: UInt64) {
    var arguments = Arguments(seed: seed)
    for _ in 0..<20_000 {
      let (x, y) = (arguments.float(), arguments.float())
      for (name, ours, theirs) in Self.floats {
        let (got, wanted) = (ours(x), theirs(x))
        if !isSame(Double(got), Double(wanted)) {
          Issue.record("seed \(seed): \(name)(\(x)) is \(got), not \(wanted)")
        }
      }
      for (name, ours, theirs) in Self.floatPairs {
        let (got, wanted) = (ours(x, y), theirs(x, y))
        if !isSame(Double(got), Double(wanted)) {
          Issue.record("seed \(seed): \(name)(\(x), \(y)) is \(got), not \(wanted)")
        }
      }
    }
  }

  /// NaN is NaN, whatever its payload; 0 and −0 differ.
  private func isSame(_ one: Double, _ other: Double) -> Bool {
    one.bitPattern == other.bitPattern || (one.isNaN && other.isNaN)
  }

  @Test("clamp: within the limits, NaN stays NaN, infinities become the limits")
  func clamp() {
    #expect(Math.clamp(0.5, from: -1, to: 1) == 0.5)
    #expect(Math.clamp(-.infinity, from: -1, to: 1) == -1.0)
    #expect(Math.clamp(7, from: -1, to: 1) == 1.0)
    #expect(Math.clamp(Double.nan, from: -1, to: 1).isNaN)
    #expect(Math.clamp(Float(7), from: -1, to: 1) == 1)
    #expect(Math.clamp(Float.nan, from: -1, to: 1).isNaN)
    #expect(Math.clamp(0.0, from: 2, to: 1) == 1.0)
  }

  @Test("integer: nearest, halves away from zero, the limits of Int beyond them, nil for NaN")
  func integer() {
    #expect(Math.integer(2.5) == 3 && Math.integer(-2.5) == -3 && Math.integer(2.4999) == 2)
    #expect(Math.integer(0x1p63) == .max && Math.integer(-0x1p63) == .min)
    #expect(Math.integer(0x1p63.nextDown) == 9_223_372_036_854_774_784)
    #expect(Math.integer(Double.infinity) == .max && Math.integer(-Double.infinity) == .min)
    #expect(Math.integer(Double.nan) == nil && Math.integer(Float.nan) == nil)
    #expect(Math.integer(Float(-1.5)) == -2)
  }

  @Test("wrapped: an angle of the same direction within ±π, however many turns away", arguments: [4, 5] as [UInt64])
  func wrapped(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20_000 {
      let angle = Double(Int64(bitPattern: random.next())) * 0x1p-63 * 1e4
      let wrapped = Math.wrapped(angle)
      #expect(wrapped.magnitude <= Double.pi && (sin(angle) - sin(wrapped)).magnitude < 1e-11, "seed \(seed): \(angle)")
      #expect((cos(angle) - cos(wrapped)).magnitude < 1e-11, "seed \(seed): \(angle)")
      let exact = Math.wrapped(Double(Float(angle)))
      #expect((Double(Math.wrapped(Float(angle))) - exact).magnitude < 2.4e-7, "seed \(seed): \(angle)")
    }
    #expect(Math.wrapped(Double.infinity).isNaN && Math.wrapped(Double.nan).isNaN)
  }

  @Test("turn: the short way round, over the cut at π")
  func turn() {
    #expect((Math.turn(from: 3.0, to: -3.0) - (2 * .pi - 6)).magnitude < 1e-15)
    #expect((Math.turn(from: -3.0, to: 3.0) + (2 * .pi - 6)).magnitude < 1e-15)
    #expect(Math.turn(from: Float(0.25), to: 0.5) == 0.25)
  }

  @Test("seconds become the nearest nanosecond; beyond 292 years the longest span, nil for NaN")
  func seconds() {
    #expect(Nanoseconds(clampingSeconds: 0.0015) == .microseconds(1_500))
    #expect(Nanoseconds(clampingSeconds: -2) == .seconds(-2 as Int64))
    #expect(Nanoseconds(clampingSeconds: .infinity) == Nanoseconds(.max))
    #expect(Nanoseconds(clampingSeconds: -1e300) == Nanoseconds(.min))
    #expect(Nanoseconds(clampingSeconds: .nan) == nil)
  }
}
