import Tactus
import TactusControl
import Testing

let seeds: [UInt64] = [11, 12, 13, 14]

extension SplitMix64 {
  /// Uniform within the range.
  mutating func between(_ least: Double, _ greatest: Double) -> Double {
    least + Double(next() >> 11) * 0x1p-53 * (greatest - least)
  }
}

@Suite("PID")
struct PIDTests {
  /// What settings are made of, drawn.
  struct Drawn {
    let proportional, integral, derivative, setpointWeight: Double
    let derivativeFilter: Nanoseconds
    let antiWindup: PIDSettings.AntiWindup

    init(_ random: inout SplitMix64) {
      (proportional, integral) = (random.between(0.1, 4), random.between(1, 10))
      (derivative, setpointWeight) = (random.between(0, 0.05), random.between(0, 1))
      derivativeFilter = .microseconds(Int64(random.below(20_000)))
      antiWindup =
        random.chance(perMille: 500)
        ? .conditional : .backCalculation(trackingTime: .milliseconds(Int64(1 + random.below(500))))
    }

    func settings(limit: Double = 5) throws -> PIDSettings {
      try PIDSettings(
        proportional: proportional, integral: integral, derivative: derivative, derivativeFilter: derivativeFilter,
        setpointWeight: setpointWeight, minimumOutput: -limit, maximumOutput: limit, antiWindup: antiWindup,
        sampleTime: .milliseconds(1))
    }
  }

  @Test("each step is the textbook's difference equation", arguments: seeds)
  func equation(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let settings = Drawn(&random)
      var pid = PID(try settings.settings())
      let (h, filter) = (0.001, settings.derivativeFilter.inSeconds)
      var (integral, filtered, last): (Double, Double, Double?) = (0, 0, nil)
      for _ in 0..<200 {
        let (r, y, ff) = (random.between(-3, 3), random.between(-3, 3), random.between(-1, 1))
        let proportional = settings.proportional * (settings.setpointWeight * r - y)
        filtered = (filter * filtered + (y - (last ?? y))) / (filter + h)
        let v = proportional + integral - settings.derivative * filtered + ff
        let u = min(max(v, -5), 5)
        let e = r - y
        switch settings.antiWindup {
        case .conditional: if v == u || (v > u) != (e > 0) { integral += settings.integral * h * e }
        case .backCalculation(let time): integral += settings.integral * h * e + h / time.inSeconds * (u - v)
        }
        last = y
        let output = pid.step(setpoint: r, measurement: y, feedForward: ff)
        #expect((output - u).magnitude < 1e-9 && (pid.integral - integral).magnitude < 1e-9, "seed \(seed)")
        guard (pid.integral - integral).magnitude < 1e-9 else { return }
      }
    }
  }

  @Test("closed loop: a lag is brought to its setpoint without a lasting error", arguments: seeds)
  func converges(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<10 {
      let drawn = Drawn(&random)
      var pid = PID(try drawn.settings())
      let (gain, constant, disturbance) = (random.between(0.5, 2), random.between(0.05, 0.5), random.between(-0.5, 0.5))
      let target = random.between(-2, 2)
      var y = random.between(-1, 1)
      for _ in 0..<60_000 {
        y += 0.001 / constant * (gain * pid.step(setpoint: target, measurement: y) + disturbance - y)
      }
      #expect((y - target).magnitude < 1e-3, "seed \(seed): \(drawn)")
    }
  }

  @Test("whatever comes in, the output is within its limits and the state finite", arguments: seeds)
  func hostile(seed: UInt64) throws {
    var arguments = Arguments(seed: seed)
    for _ in 0..<50 {
      var pid = PID(try Drawn(&arguments.random).settings())
      for _ in 0..<200 {
        let (r, y, ff) = (arguments.double(), arguments.double(), arguments.double())
        switch arguments.random.below(20) {
        case 0: pid.track(output: arguments.double(), setpoint: r, measurement: y, feedForward: ff)
        case 1: pid.adopt(try Drawn(&arguments.random).settings())
        case 2: pid.reset(integral: arguments.double())
        default:
          let output = pid.step(setpoint: r, measurement: y, feedForward: ff)
          #expect(output == pid.output, "seed \(seed)")
        }
        #expect(pid.output >= -5 && pid.output <= 5, "seed \(seed)")
        #expect(pid.integral.isFinite && pid.slope.isFinite, "seed \(seed)")
      }
    }
  }

  @Test("an input that is not finite leaves no trace: the output is held, then everything goes on", arguments: seeds)
  func rejected(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      var clean = PID(try Drawn(&random).settings())
      var disturbed = clean
      for step in 0..<200 {
        let (r, y, ff) = (random.between(-3, 3), random.between(-3, 3), random.between(-1, 1))
        for count in 0..<Int(random.below(3)) {
          let bad = [Double.nan, .infinity, -.infinity][Int(random.below(3))]
          let before = disturbed.output
          let held =
            switch random.below(4) {
            case 0: disturbed.step(setpoint: bad, measurement: y, feedForward: ff)
            case 1: disturbed.step(setpoint: r, measurement: bad, feedForward: ff)
            case 2: disturbed.step(setpoint: r, measurement: y, feedForward: bad)
            default:
              {
                disturbed.track(output: .nan, setpoint: r, measurement: y)
                return disturbed.output
              }()
            }
          #expect(held == before && disturbed.rejectedSteps == count + 1, "seed \(seed), step \(step)")
        }
        let wanted = clean.step(setpoint: r, measurement: y, feedForward: ff)
        #expect(disturbed.step(setpoint: r, measurement: y, feedForward: ff) == wanted, "seed \(seed), step \(step)")
        #expect(disturbed.rejectedSteps == 0)
      }
    }
  }

  @Test("a first step that is rejected leaves no measurement behind: the next one is the first")
  func rejectedFirst() throws {
    let settings = try PIDSettings(proportional: 1, integral: 1, derivative: 1, sampleTime: .milliseconds(1))
    var (disturbed, clean) = (PID(settings), PID(settings))
    #expect(disturbed.step(setpoint: .nan, measurement: 1) == 0 && disturbed.rejectedSteps == 1)
    #expect(disturbed.step(setpoint: 1, measurement: .infinity) == 0 && disturbed.rejectedSteps == 2)
    #expect(disturbed.step(setpoint: 0, measurement: 2) == clean.step(setpoint: 0, measurement: 2))
    #expect(disturbed.slope == 0 && disturbed.rejectedSteps == 0)
  }

  @Test("conditional: at the limit the integral stands still, and leaves with the error's sign")
  func conditional() throws {
    var pid = PID(
      try PIDSettings(proportional: 1, integral: 10, minimumOutput: -1, maximumOutput: 1, sampleTime: .milliseconds(1)))
    for _ in 0..<100_000 { #expect(pid.step(setpoint: 5, measurement: 0) == 1) }
    #expect(pid.integral < 0.06)
    // Without the rule the integral would be 5,000 and take as long to come back.
    #expect(pid.step(setpoint: -0.5, measurement: 0) < 0)
  }

  @Test("back-calculation: the excess beyond the limit settles at I × error × tracking time")
  func backCalculation() throws {
    let settings = try PIDSettings(
      proportional: 1, integral: 10, minimumOutput: -1, maximumOutput: 1,
      antiWindup: .backCalculation(trackingTime: .milliseconds(20)), sampleTime: .milliseconds(1))
    var pid = PID(settings)
    for _ in 0..<10_000 { #expect(pid.step(setpoint: 5, measurement: 0) == 1) }
    // Output wanted: 1 × 5 + integral = limit 1 + excess 10 × 5 × 0.02.
    #expect((5 + pid.integral - (1 + 1)).magnitude < 1e-9)
  }

  @Test("a step of the setpoint gives no derivative kick, one of the measurement does")
  func kick() throws {
    var pid = PID(try PIDSettings(proportional: 0, derivative: 1, sampleTime: .milliseconds(1)))
    #expect(pid.step(setpoint: 0, measurement: 1) == 0)
    #expect(pid.step(setpoint: 100, measurement: 1) == 0)
    #expect((pid.step(setpoint: 100, measurement: 1.5) + 500).magnitude < 1e-9)
  }

  @Test("the derivative's filter: a ramp's slope after its time constant to 63 %")
  func filter() throws {
    var pid = PID(
      try PIDSettings(
        proportional: 0, derivative: 1, derivativeFilter: .milliseconds(100), sampleTime: .microseconds(10)))
    for step in 0...10_000 { _ = pid.step(setpoint: 0, measurement: 3 * Double(step) * 1e-5) }
    #expect((pid.slope - 3 * 0.632).magnitude < 0.002)
  }

  @Test("other gains, limits within, another sample time: no bump", arguments: seeds)
  func adopt(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      var pid = PID(try Drawn(&random).settings(limit: 1e6))
      let (r, ff) = (random.between(-3, 3), random.between(-1, 1))
      var y = 0.0
      for _ in 0..<50 {
        y += random.between(-0.001, 0.001)
        _ = pid.step(setpoint: r, measurement: y, feedForward: ff)
      }
      var other = pid
      let going = pid.step(setpoint: r, measurement: y, feedForward: ff)
      other.adopt(try Drawn(&random).settings(limit: 1e6))
      let changed = other.step(setpoint: r, measurement: y, feedForward: ff)
      // Both differentiators decay a little in that step, each by its own filter; nothing else may differ.
      let decay = 0.05 * pid.slope.magnitude + 0.05 * other.slope.magnitude + 0.05 * 2
      #expect((changed - going).magnitude < decay, "seed \(seed)")
    }
  }

  @Test("other gains at rest: the very same output")
  func adoptAtRest() throws {
    var pid = PID(try PIDSettings(proportional: 2, integral: 5, sampleTime: .milliseconds(1)))
    for _ in 0..<100 { _ = pid.step(setpoint: 1, measurement: 0.5) }
    let next = pid.output + 0.5 * 5 * 0.001
    pid.adopt(try PIDSettings(proportional: 7, integral: 0.5, setpointWeight: 0.2, sampleTime: .milliseconds(2)))
    #expect((pid.step(setpoint: 1, measurement: 0.5) - next).magnitude < 1e-12)
  }

  @Test("without an integral gain nothing takes over: the output is what the new gains give")
  func adoptProportional() throws {
    var pid = PID(try PIDSettings(proportional: 2, sampleTime: .milliseconds(1)))
    _ = pid.step(setpoint: 1, measurement: 0.5)
    pid.adopt(try PIDSettings(proportional: 3, sampleTime: .milliseconds(1)))
    #expect(pid.step(setpoint: 1, measurement: 0.5) == 1.5 && pid.integral == 0)
  }

  @Test("tighter limits, then a measurement that is not finite: the output that is held lies within the new limits")
  func adoptTighterLimits() throws {
    for integral in [0.0, 5] {
      var pid = PID(
        try PIDSettings(
          proportional: 10, integral: integral, minimumOutput: -8, maximumOutput: 8, sampleTime: .milliseconds(1)))
      #expect(pid.step(setpoint: 1, measurement: 0) == 8)
      pid.adopt(
        try PIDSettings(
          proportional: 10, integral: integral, minimumOutput: -2, maximumOutput: 2, sampleTime: .milliseconds(1)))
      #expect(pid.output == 2, "integral gain \(integral)")
      #expect(pid.step(setpoint: 1, measurement: .nan) == 2, "integral gain \(integral)")
    }
  }

  @Test("from manual to automatic: the first step gives what was tracked, within the limits", arguments: seeds)
  func track(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      var pid = PID(try Drawn(&random).settings())
      let (r, y, ff) = (random.between(-3, 3), random.between(-3, 3), random.between(-1, 1))
      let manual = random.between(-7, 7)
      for _ in 0..<5 { pid.track(output: manual, setpoint: r, measurement: y, feedForward: ff) }
      let first = pid.step(setpoint: r, measurement: y, feedForward: ff)
      #expect((first - Math.clamp(manual, from: -5, to: 5)).magnitude < 1e-9, "seed \(seed)")
    }
  }

  @Test("reset: as new, with the integral part given")
  func reset() throws {
    let settings = try PIDSettings(proportional: 1, integral: 1, derivative: 1, sampleTime: .milliseconds(1))
    var (used, new) = (PID(settings), PID(settings))
    for step in 0..<10 { _ = used.step(setpoint: 1, measurement: Double(step)) }
    used.reset()
    #expect(used.step(setpoint: 1, measurement: 3) == new.step(setpoint: 1, measurement: 3))
    used.reset(integral: 4)
    #expect(used.step(setpoint: 1, measurement: 1) == 4)
  }

  @Test("settings out of range are errors that name the setting and its range")
  func errors() {
    func setting(_ make: () throws(ControlSettingError) -> PIDSettings) -> ControlSetting? {
      do { _ = try make() } catch { return error.setting }
      return nil
    }
    let ms = Nanoseconds.milliseconds(1)
    #expect(setting { () throws(ControlSettingError) in try .init(proportional: .nan, sampleTime: ms) } == .gain)
    #expect(
      setting { () throws(ControlSettingError) in try .init(proportional: 1, integral: .infinity, sampleTime: ms) }
        == .gain)
    #expect(
      setting { () throws(ControlSettingError) in try .init(proportional: 1, derivative: .nan, sampleTime: ms) }
        == .gain)
    #expect(setting { () throws(ControlSettingError) in try .init(proportional: 1, sampleTime: .zero) } == .sampleTime)
    #expect(
      setting { () throws(ControlSettingError) in
        try .init(proportional: 1, derivativeFilter: .milliseconds(-1), sampleTime: ms)
      } == .derivativeFilter)
    #expect(
      setting { () throws(ControlSettingError) in try .init(proportional: 1, setpointWeight: 1.5, sampleTime: ms) }
        == .setpointWeight)
    #expect(
      setting { () throws(ControlSettingError) in
        try .init(proportional: 1, minimumOutput: 1, maximumOutput: 1, sampleTime: ms)
      } == .minimumOutput)
    #expect(
      setting { () throws(ControlSettingError) in
        try .init(proportional: 1, maximumOutput: .nan, sampleTime: ms)
      } == .minimumOutput)
    #expect(
      setting { () throws(ControlSettingError) in
        try .init(proportional: 1, antiWindup: .backCalculation(trackingTime: .microseconds(999)), sampleTime: ms)
      } == .trackingTime)
    let error = ControlSettingError(.cutoff, 600)
    #expect(error.description == "frequency (Hz): expected above 0 and below half the sample rate, got 600.0")
  }
}
