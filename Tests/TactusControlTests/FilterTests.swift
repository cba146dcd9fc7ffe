import Tactus
import TactusControl
import Testing

@Suite("Filters")
struct FilterTests {
  static let sampleTime = Nanoseconds.milliseconds(1)

  /// Amplitude of the output for a sine of amplitude 1, after what it settles in.
  static func amplitude(at frequency: Double, _ step: (Double) -> Double) -> Double {
    var most = 0.0
    for index in 0..<20_000 {
      let output = step(Math.sin(2 * .pi * frequency * Double(index) * 0.001))
      if index > 10_000 { most = max(most, output.magnitude) }
    }
    return most
  }

  @Test("low-pass, first order: a step reaches 63.2 % after 1 / (2π·cut-off)")
  func lowPassStep() throws {
    var filter = try LowPass(cutoff: 1 / (2 * .pi * 0.1), sampleTime: Self.sampleTime)
    #expect(filter.step(0) == 0)
    for _ in 0..<100 { _ = filter.step(1) }
    #expect((try #require(filter.output) - (1 - Math.exp(-1))).magnitude < 1e-12)
  }

  @Test("low-pass, first order: the gain at frequencies well below half the sample rate is 1 ÷ √(1 + (f ÷ cut-off)²)")
  func lowPassGain() throws {
    for frequency in [1.0, 5, 10, 20] {
      var filter = try LowPass(cutoff: 5, sampleTime: Self.sampleTime)
      let gain = Self.amplitude(at: frequency) { filter.step($0) }
      let wanted = 1 / Math.hypot(1, frequency / 5)
      #expect((gain / wanted - 1).magnitude < 0.03, "\(frequency) Hz: \(gain), not \(wanted)")
    }
  }

  @Test("biquads: the gain of sines is the transfer function's, 0.707 at the cut-off, 0 in the notch")
  func biquadGain() throws {
    let root = Math.sqrt(0.5)
    let lowPass = try BiquadCoefficients.lowPass(cutoff: 40, sampleTime: Self.sampleTime)
    let highPass = try BiquadCoefficients.highPass(cutoff: 40, sampleTime: Self.sampleTime)
    let notch = try BiquadCoefficients.notch(frequency: 50, quality: 5, sampleTime: Self.sampleTime)
    #expect((lowPass.gain(at: 40, sampleTime: Self.sampleTime) - root).magnitude < 1e-12)
    #expect((highPass.gain(at: 40, sampleTime: Self.sampleTime) - root).magnitude < 1e-12)
    #expect(notch.gain(at: 50, sampleTime: Self.sampleTime) < 1e-12)
    // A decade away: −40 dB for the one, nothing for the other.
    #expect((lowPass.gain(at: 4, sampleTime: Self.sampleTime) - 1).magnitude < 1e-3)
    #expect(lowPass.gain(at: 400, sampleTime: Self.sampleTime) < 0.01)
    #expect((highPass.gain(at: 4, sampleTime: Self.sampleTime) - 0.01).magnitude < 1e-3)
    // The notch is −3 dB at the edges of frequency ÷ quality, 10 Hz here (narrowed a little by the bilinear transform).
    #expect((notch.gain(at: 45.2, sampleTime: Self.sampleTime) - root).magnitude < 0.03)
    for coefficients in [lowPass, highPass, notch] {
      for frequency in [3.0, 17, 40, 50, 120, 300] {
        var filter = Biquad(coefficients)
        let gain = Self.amplitude(at: frequency) { filter.step($0) }
        let wanted = coefficients.gain(at: frequency, sampleTime: Self.sampleTime)
        #expect((gain - wanted).magnitude < 0.06 * wanted + 1e-9, "\(frequency) Hz: \(gain), not \(wanted)")
      }
    }
  }

  @Test("biquad: the output is the difference equation's", arguments: seeds)
  func equation(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let c = try BiquadCoefficients.lowPass(
        cutoff: random.between(1, 490), quality: random.between(0.3, 5), sampleTime: Self.sampleTime)
      var filter = Biquad(c)
      let start = random.between(-1, 1)
      var (x1, x2) = (start, start)
      var (y1, y2) = (filter.step(start), filter.step(start))
      for _ in 0..<200 {
        let x = random.between(-1, 1)
        let y = c.b0 * x + c.b1 * x1 + c.b2 * x2 - c.a1 * y1 - c.a2 * y2
        #expect((filter.step(x) - y).magnitude < 1e-9, "seed \(seed)")
        (x2, x1, y2, y1) = (x1, x, y1, y)
      }
    }
  }

  @Test("no transient: a constant is passed (or taken out) from the first sample on")
  func noTransient() throws {
    var (lowPass, notch) = (
      Biquad(try .lowPass(cutoff: 10, sampleTime: Self.sampleTime)),
      Biquad(try .notch(frequency: 50, sampleTime: Self.sampleTime))
    )
    var highPass = Biquad(try .highPass(cutoff: 10, sampleTime: Self.sampleTime))
    var first = try LowPass(cutoff: 10, sampleTime: Self.sampleTime)
    for _ in 0..<100 {
      #expect((lowPass.step(20) - 20).magnitude < 1e-9 && (notch.step(20) - 20).magnitude < 1e-9)
      #expect(highPass.step(20).magnitude < 1e-9 && (first.step(20) - 20).magnitude < 1e-12)
    }
  }

  @Test("stable: bounded inputs at any cut-off give bounded outputs", arguments: seeds)
  func stable(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let (cutoff, quality) = (random.between(0.001, 499.9), random.between(0.1, 10))
      var filters = [
        Biquad(try .lowPass(cutoff: cutoff, quality: quality, sampleTime: Self.sampleTime)),
        Biquad(try .highPass(cutoff: cutoff, quality: quality, sampleTime: Self.sampleTime)),
        Biquad(try .notch(frequency: cutoff, quality: quality, sampleTime: Self.sampleTime)),
      ]
      for _ in 0..<500 {
        for index in filters.indices {
          let output = filters[index].step(random.chance(perMille: 500) ? 1 : -1)
          #expect(output.magnitude < 100, "seed \(seed): \(cutoff) Hz, \(quality)")
        }
      }
    }
  }

  @Test("an input that is not finite, or overflows, leaves no trace", arguments: seeds)
  func notFinite(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var clean = (
      try LowPass(cutoff: 20, sampleTime: Self.sampleTime),
      Biquad(try .lowPass(cutoff: 20, sampleTime: Self.sampleTime))
    )
    var disturbed = clean
    #expect(disturbed.0.step(.nan).isNaN && disturbed.0.output == nil)
    #expect(disturbed.1.step(.infinity) == .infinity && disturbed.1.output == nil)
    for _ in 0..<2_000 {
      let input = random.between(-1, 1)
      #expect(clean.0.step(input) == disturbed.0.step(input), "seed \(seed)")
      #expect(clean.1.step(input) == disturbed.1.step(input), "seed \(seed)")
      let bad = [Double.nan, .infinity, -.infinity][Int(random.below(3))]
      #expect(disturbed.0.step(bad) == clean.0.output && disturbed.1.step(bad) == clean.1.output, "seed \(seed)")
    }
    // A finite input whose result is finite, and whose state would not be.
    var steep = Biquad(try .highPass(cutoff: 20, quality: 10, sampleTime: Self.sampleTime))
    _ = steep.step(0)
    var untouched = steep
    _ = steep.step(.greatestFiniteMagnitude)
    for _ in 0..<100 {
      let input = random.between(-1, 1)
      #expect(steep.step(input) == untouched.step(input), "seed \(seed)")
    }
  }

  @Test("reset: the next input is a first one")
  func reset() throws {
    var (first, second) = (
      try LowPass(cutoff: 20, sampleTime: Self.sampleTime),
      Biquad(try .lowPass(cutoff: 20, sampleTime: Self.sampleTime))
    )
    (_, _) = (first.step(1), second.step(1))
    first.reset()
    second.reset()
    #expect(first.step(5) == 5 && (second.step(5) - 5).magnitude < 1e-12)
  }

  @Test("a frequency of half the sample rate or more, a quality of 0: errors")
  func errors() {
    #expect(throws: ControlSettingError(.cutoff, 500)) { try LowPass(cutoff: 500, sampleTime: Self.sampleTime) }
    #expect(throws: ControlSettingError(.cutoff, 0)) { try LowPass(cutoff: 0, sampleTime: Self.sampleTime) }
    #expect(throws: ControlSettingError(.sampleTime, 0)) { try LowPass(cutoff: 5, sampleTime: .zero) }
    #expect(throws: ControlSettingError.self) {
      try BiquadCoefficients.lowPass(cutoff: .nan, sampleTime: Self.sampleTime)
    }
    #expect(throws: ControlSettingError(.cutoff, 600)) {
      try BiquadCoefficients.highPass(cutoff: 600, sampleTime: Self.sampleTime)
    }
    #expect(throws: ControlSettingError(.quality, 0)) {
      try BiquadCoefficients.notch(frequency: 50, quality: 0, sampleTime: Self.sampleTime)
    }
    #expect(throws: ControlSettingError(.sampleTime, -0.001)) {
      try BiquadCoefficients.notch(frequency: 50, sampleTime: .milliseconds(-1))
    }
  }

  /// What an accelerometer says at rest with this roll and pitch in degrees.
  private static func gravity(roll: Double, pitch: Double) -> Vector3 {
    let (r, p) = (roll * .pi / 180, pitch * .pi / 180)
    return Vector3(-Math.sin(p), Math.cos(p) * Math.sin(r), Math.cos(p) * Math.cos(r)) * AttitudeFilter.gravity
  }

  @Test("attitude: the first acceleration is taken whole; roll is to the right, pitch forwards")
  func attitude() throws {
    let attitudes: [(Double, Double)] = [(0, 0), (30, 0), (-30, 10), (0, -80), (170, 5), (90, 0)]
    for (roll, pitch) in attitudes {
      var filter = try AttitudeFilter()
      #expect(filter.roll == nil && filter.pitch == nil)
      filter.step(acceleration: Self.gravity(roll: roll, pitch: pitch), rate: nil, for: .zero)
      let (said, leaned) = (try #require(filter.roll) * 180 / .pi, try #require(filter.pitch) * 180 / .pi)
      #expect((said - roll).magnitude < 1e-9 && (leaned - pitch).magnitude < 1e-9, "\(roll), \(pitch)")
    }
  }

  @Test("attitude: without a gyroscope 63 % of a tilt after the smoothing time; with one all of it at once")
  func attitudeTurns() throws {
    var (alone, both) = (try AttitudeFilter(), try AttitudeFilter())
    let level = Self.gravity(roll: 0, pitch: 0)
    alone.step(acceleration: level, rate: nil, for: .zero)
    both.step(acceleration: level, rate: Vector3(0, 0, 0), for: .zero)
    let small = Self.gravity(roll: 1, pitch: 0)
    for _ in 0..<100 { alone.step(acceleration: small, rate: nil, for: .milliseconds(1)) }
    let roll: Double = try #require(alone.roll) * 180 / .pi
    let wanted: Double = 1 - Math.exp(-1.0)
    #expect((roll - wanted).magnitude < 0.002)
    // 90°/s to the right and 45°/s forwards for half a second, while the accelerometer still says level.
    let rate = Vector3(.pi / 2, 0, 0)
    both.step(acceleration: .zero, rate: rate, for: .milliseconds(500))
    #expect((try #require(both.roll) - .pi / 4).magnitude < 1e-9)
    both.reset()
    both.step(acceleration: level, rate: Vector3(0, 0, 0), for: .zero)
    for _ in 0..<100 { both.step(acceleration: .zero, rate: Vector3(0, .pi / 4, 0), for: .milliseconds(10)) }
    #expect((try #require(both.pitch) - .pi / 4).magnitude < 1e-9)
  }

  @Test("attitude: with a gyroscope a push of half a second moves it by less than 0.7 of what it does without")
  func attitudePush() throws {
    var (alone, both) = (try AttitudeFilter(), try AttitudeFilter())
    // 3 m/s² forwards.
    let pushed = Vector3(3, 0, AttitudeFilter.gravity)
    for acceleration in [Self.gravity(roll: 0, pitch: 0)] + Array(repeating: pushed, count: 25) {
      alone.step(acceleration: acceleration, rate: nil, for: .milliseconds(20))
      both.step(acceleration: acceleration, rate: Vector3(0, 0, 0), for: .milliseconds(20))
    }
    let (with, without) = (try #require(both.pitch).magnitude, try #require(alone.pitch).magnitude)
    #expect(without * 180 / .pi > 16 && with < 0.7 * without, "\(with), \(without)")
  }

  @Test("attitude: a fall, a crash and what is no number leave it as it was; a negative time is none")
  func attitudeNonsense() throws {
    var filter = try AttitudeFilter()
    filter.step(acceleration: Vector3(.nan, 0, 9), rate: nil, for: .zero)
    filter.step(acceleration: .zero, rate: nil, for: .zero)
    #expect(filter.up == nil)
    filter.step(acceleration: Self.gravity(roll: 20, pitch: 0), rate: nil, for: .zero)
    let up = filter.up
    let accelerations: [Vector3] = [
      Vector3(0, 0, 4.8), Vector3(0, 0, -15), Vector3(1e300, 1e300, 1e300), Vector3(.infinity, 0, 0),
      Vector3(0, .nan, 9.8),
    ]
    let rates: [Vector3?] = [nil, Vector3(.nan, 0, 0), Vector3(.infinity, 0, 0)]
    for nonsense in accelerations {
      for rate in rates {
        filter.step(acceleration: nonsense, rate: rate, for: .seconds(1))
        #expect(filter.up == up, "\(nonsense), \(String(describing: rate))")
      }
    }
    filter.step(acceleration: Self.gravity(roll: -60, pitch: 0), rate: nil, for: .seconds(-1))
    let difference = try #require(filter.up) - (try #require(up))
    #expect(difference.length < 1e-12)
    #expect(throws: ControlSettingError(.timeConstant, 0)) { try AttitudeFilter(timeConstant: .zero) }
    #expect(throws: ControlSettingError(.timeConstant, -1)) { try AttitudeFilter(smoothing: .seconds(-1)) }
  }
}
