#if arch(x86_64)
  import Glibc
  import Tactus
  import TactusControl
  import Testing

  /// How far the functions are from the exact value, measured against 64 bits of significand (Float80).
  @Suite("Elementary functions' error")
  struct MathErrorTests {
    typealias Function = (
      name: String, ours: @Sendable (Double) -> Double, exact: @Sendable (Float80) -> Float80,
      range: ClosedRange<Double>, bound: Float80
    )

    /// Bounds in units in the last place, those of README.md's table.
    static let functions: [Function] = [
      ("sin", Math.sin, sinl, -100...100, 0.6), ("cos", Math.cos, cosl, -100...100, 0.6),
      ("tan", Math.tan, tanl, -100...100, 0.7), ("asin", Math.asin, asinl, -1...1, 0.6),
      ("acos", Math.acos, acosl, -1...1, 0.6), ("atan", Math.atan, atanl, -100...100, 0.6),
      ("sinh", Math.sinh, sinhl, -20...20, 2), ("cosh", Math.cosh, coshl, -20...20, 2),
      ("tanh", Math.tanh, tanhl, -20...20, 2.5), ("exp", Math.exp, expl, -700...700, 0.6),
      ("exp2", Math.exp2, exp2l, -1000...1000, 0.6), ("expm1", Math.expm1, expm1l, -20...20, 1),
      ("log", Math.log, logl, 0...4, 0.6), ("log2", Math.log2, log2l, 0...4, 0.6),
      ("log10", Math.log10, log10l, 0...4, 2), ("log1p", Math.log1p, log1pl, -1...100, 1),
      ("sqrt", Math.sqrt, sqrtl, 0...1e6, 0.51), ("cbrt", Math.cbrt, cbrtl, -1e6...1e6, 4),
    ]

    @Test("each function is within its bound of the exact value", arguments: 0..<functions.count)
    func error(index: Int) {
      let (name, ours, exact, range, bound) = Self.functions[index]
      let seed: UInt64 = 6
      var random = SplitMix64(seed: seed)
      var (worst, at): (Float80, Double) = (0, 0)
      for _ in 0..<measuredInputs {
        let x = range.lowerBound + Double(random.next()) * 0x1p-64 * (range.upperBound - range.lowerBound)
        let wanted = exact(Float80(x))
        guard wanted != 0, wanted.isFinite else { continue }
        let error = (Float80(ours(x)) - wanted).magnitude / Float80(Double(wanted).ulp)
        if error > worst { (worst, at) = (error, x) }
      }
      if printsErrors { print("\(name): \(Double(worst)) ulp at \(at)") }
      #expect(worst <= bound, "seed \(seed): \(name)(\(at)) is off by \(worst) ulp")
    }
  }

  /// TACTUS_MATH_INPUTS takes so many inputs a function instead of 20,000, and prints the largest error found.
  private let printsErrors = getenv("TACTUS_MATH_INPUTS") != nil
  private let measuredInputs = getenv("TACTUS_MATH_INPUTS").flatMap { Int(String(cString: $0)) } ?? 20_000
#endif
