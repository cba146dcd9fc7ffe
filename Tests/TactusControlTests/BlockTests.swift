import Tactus
import TactusControl
import Testing

@Suite("Rate limiter, integrator, hysteresis, debouncer")
struct BlockTests {
  static let sampleTime = Nanoseconds.milliseconds(1)

  @Test("rate limiter: never faster than its rates, and at the target exactly", arguments: seeds)
  func rate(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let (rising, falling) = (random.between(0.1, 100), random.between(0.1, 100))
      var limiter = try RateLimiter(
        rising: rising, falling: falling, from: random.between(-1, 1), sampleTime: Self.sampleTime)
      for _ in 0..<20 {
        let target = random.between(-1, 1)
        var steps = 0
        while limiter.value != target {
          let before = limiter.value
          let change = limiter.step(toward: target) - before
          #expect(change <= rising * 0.001 * (1 + 1e-9) + 1e-15 && change >= -falling * 0.001 * (1 + 1e-9) - 1e-15)
          steps += 1
          guard steps < 30_000 else { break }
        }
        #expect(limiter.value == target, "seed \(seed): \(target)")
      }
    }
  }

  @Test("rate limiter: the time to a target is its distance ÷ rate; falling as rising unless told otherwise")
  func rateTime() throws {
    var limiter = try RateLimiter(rising: 10, sampleTime: Self.sampleTime)
    for _ in 0..<50 { _ = limiter.step(toward: 1) }
    #expect((limiter.value - 0.5).magnitude < 1e-12)
    for _ in 0..<50 { _ = limiter.step(toward: -1) }
    #expect(limiter.value.magnitude < 1e-12)
  }

  @Test("rate limiter: NaN holds, an infinite target is approached at the rate, a jump is at once")
  func rateNotFinite() throws {
    var limiter = try RateLimiter(rising: 10, from: 2, sampleTime: Self.sampleTime)
    #expect(limiter.step(toward: .nan) == 2 && limiter.step(toward: .infinity) == 2.01)
    #expect((limiter.step(toward: -.infinity) - 2).magnitude < 1e-12)
    limiter.jump(to: 7)
    limiter.jump(to: .nan)
    #expect(limiter.value == 7)
    #expect(throws: ControlSettingError(.rate, 0)) { try RateLimiter(rising: 0, sampleTime: Self.sampleTime) }
    #expect(throws: ControlSettingError(.rate, -1)) {
      try RateLimiter(rising: 1, falling: -1, sampleTime: Self.sampleTime)
    }
    #expect(throws: ControlSettingError(.sampleTime, 0)) { try RateLimiter(rising: 1, sampleTime: .zero) }
    #expect(throws: ControlSettingError(.value, .infinity)) {
      try RateLimiter(rising: 1, from: .infinity, sampleTime: Self.sampleTime)
    }
  }

  @Test("integrator: exact for a line, the trapezoids' sum for anything", arguments: seeds)
  func integral(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (slope, start) = (random.between(-2, 2), random.between(-2, 2))
    var line = try Integrator(sampleTime: Self.sampleTime)
    for index in 0...1_000 { _ = line.step(start + slope * Double(index) * 0.001) }
    #expect((line.value - (start + slope / 2)).magnitude < 1e-12, "seed \(seed)")
    var any = try Integrator(from: 3, sampleTime: Self.sampleTime)
    var (sum, last): (Double, Double?) = (3, nil)
    for _ in 0..<1_000 {
      let input = random.between(-5, 5)
      if let last { sum += 0.001 * (last + input) / 2 }
      last = input
      #expect((any.step(input) - sum).magnitude < 1e-12, "seed \(seed)")
    }
  }

  @Test("integrator: held within its limits, leaves them at once; what is not finite changes nothing")
  func integralLimits() throws {
    var integrator = try Integrator(from: 9, minimum: -1, maximum: 1, sampleTime: Self.sampleTime)
    #expect(integrator.value == 1)
    for _ in 0..<5_000 { _ = integrator.step(100) }
    #expect(integrator.value == 1)
    for bad in [Double.nan, .infinity, -.infinity] { #expect(integrator.step(bad) == 1) }
    #expect((integrator.step(-200) - 0.95).magnitude < 1e-12)
    integrator.reset(to: -7)
    #expect(integrator.value == -1 && integrator.step(1000) == -1)
    var late = try Integrator(sampleTime: Self.sampleTime)
    for input in [Double.nan, 1, 1] { _ = late.step(input) }
    #expect(late.value == 0.001)
    var free = try Integrator(sampleTime: .seconds(4 as Int64))
    for _ in 0..<3 { #expect(free.step(.greatestFiniteMagnitude).isFinite) }
    #expect(throws: ControlSettingError(.sampleTime, 0)) { try Integrator(sampleTime: .zero) }
    #expect(throws: ControlSettingError(.limit, 2)) {
      try Integrator(minimum: 2, maximum: 1, sampleTime: Self.sampleTime)
    }
    #expect(throws: ControlSettingError.self) { try Integrator(from: .nan, sampleTime: Self.sampleTime) }
  }

  @Test(
    "hysteresis: on from the upper threshold, off from the lower one, unchanged between and for NaN", arguments: seeds)
  func hysteresis(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var relay = try Hysteresis(lower: 18, upper: 20)
    var wanted = false
    for _ in 0..<2_000 {
      let value = [random.between(15, 23), 18, 20, .nan, .infinity, -.infinity][Int(random.below(8)) % 6]
      if value >= 20 { wanted = true } else if value <= 18 { wanted = false }
      #expect(relay.step(value) == wanted, "seed \(seed): \(value)")
    }
    #expect(throws: ControlSettingError(.threshold, 2)) { try Hysteresis(lower: 2, upper: 1) }
    #expect(throws: ControlSettingError(.threshold, .infinity)) { try Hysteresis(lower: 2, upper: .infinity) }
    var point = try Hysteresis(lower: 1, upper: 1)
    let (at, below) = (point.step(1), point.step(0.5))
    #expect(at && !below)
  }

  @Test("debouncer: a level counts once it has lasted, by the instants; bounces begin anew", arguments: seeds)
  func debounce(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var button = Debouncer(stableFor: .milliseconds(20))
    var (now, level, changed, counted): (Int64, Bool, Int64, Bool) = (0, false, 0, false)
    for _ in 0..<5_000 {
      now += Int64(random.below(8_000_000))
      if random.chance(perMille: 200) { (level, changed) = (!level, now) }
      let due = level != counted && now - changed >= 20_000_000
      #expect(button.step(level, at: TickInstant(nanoseconds: now)) == due, "seed \(seed), \(now)")
      if due { counted = level }
      #expect(button.isActive == counted)
      let settles = level != counted ? TickInstant(nanoseconds: changed + 20_000_000) : nil
      #expect(button.settlesAt == settles, "seed \(seed), \(now)")
    }
  }

  @Test("debouncer: with no time to last, the first sample counts")
  func debounceAtOnce() {
    var button = Debouncer(stableFor: .zero)
    let hasChanged = button.step(true, at: .zero)
    #expect(hasChanged && button.isActive && button.settlesAt == nil)
    let changesAgain = button.step(true, at: .zero)
    #expect(!changesAgain)
  }
}
