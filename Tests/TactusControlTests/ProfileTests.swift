import Tactus
import TactusControl
import Testing

@Suite("Profiles")
struct ProfileTests {
  /// Samples a motion evenly and holds it against its limits and against itself: the velocity is the position's derivative.
  static func expectSound(
    _ what: String, duration: Nanoseconds, velocityLimit: Double, accelerationLimit: Double, scale: Double,
    state: (Nanoseconds) -> MotionState
  ) {
    let count: Int64 = 500
    let step = max(1, duration.count / count)
    var last = state(.zero)
    var velocity = last.velocity
    for index in 1...count {
      let now = state(Nanoseconds(step * index))
      let middle = state(Nanoseconds(step * index - step / 2))
      let time = Nanoseconds(step).inSeconds
      #expect(now.velocity.magnitude <= velocityLimit * (1 + 1e-9), "\(what)")
      #expect(now.acceleration.magnitude <= accelerationLimit * (1 + 1e-9), "\(what)")
      // Simpson's rule is exact but where the acceleration or jerk jumps within the step.
      let moved = time / 6 * (last.velocity + 4 * middle.velocity + now.velocity)
      let slack = accelerationLimit * time * time + 1e-9 * scale
      #expect((now.position - last.position - moved).magnitude < slack, "\(what) at \(Nanoseconds(step * index))")
      #expect(
        (now.velocity - last.velocity).magnitude <= accelerationLimit * time * (1 + 1e-6) + 1e-9 * scale, "\(what)")
      // The acceleration is the velocity's derivative; where it jumps, at two instants at most, half a step is off.
      velocity += (last.acceleration + now.acceleration) / 2 * time
      #expect((now.velocity - velocity).magnitude < 4 * accelerationLimit * time + 1e-9 * scale, "\(what)")
      last = now
    }
  }

  @Test("trapezoid: sound, within its limits, exactly at its start and target", arguments: seeds)
  func trapezoid(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<25 {
      let (from, to) = (random.between(-10, 10), random.between(-10, 10))
      let (limit, acceleration) = (random.between(0.1, 20), random.between(0.1, 50))
      let velocity = random.chance(perMille: 300) ? 0 : random.between(-limit, limit)
      let profile = try TrapezoidProfile(
        from: from, velocity: velocity, to: to, velocityLimit: limit, accelerationLimit: acceleration)
      let what = "seed \(seed): \(profile)"
      #expect(profile.state(at: .zero) == MotionState(position: from, velocity: velocity), "\(what)")
      #expect(profile.state(at: profile.duration) == MotionState(position: to), "\(what)")
      #expect(profile.state(at: profile.duration + .seconds(5 as Int64)) == MotionState(position: to), "\(what)")
      #expect(profile.isOver(at: profile.duration) && !profile.isOver(at: profile.duration - Nanoseconds(1)))
      let last = profile.state(at: profile.duration - Nanoseconds(1))
      #expect(
        (last.position - to).magnitude < 1e-9 * acceleration && last.velocity.magnitude < 1e-8 * acceleration, "\(what)"
      )
      Self.expectSound(
        what, duration: profile.duration, velocityLimit: limit, accelerationLimit: acceleration, scale: 10
      ) { profile.state(at: $0) }
    }
  }

  @Test(
    "trapezoid: the fastest way, since it always accelerates fully, one way and then the other, or moves at the limit",
    arguments: seeds)
  func trapezoidFastest(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<25 {
      let (limit, acceleration) = (random.between(0.1, 5), random.between(0.1, 5))
      let profile = try TrapezoidProfile(
        from: random.between(-5, 5), velocity: random.between(-limit, limit), to: random.between(-5, 5),
        velocityLimit: limit, accelerationLimit: acceleration)
      var changes = 0
      var last = 0.0
      for index in 1..<1_000 {
        let state = profile.state(at: Nanoseconds(profile.duration.count * Int64(index) / 1_000))
        if state.acceleration == 0 {
          #expect((state.velocity.magnitude - limit).magnitude < 1e-9, "seed \(seed): \(profile)")
        } else {
          #expect(state.acceleration.magnitude == acceleration, "seed \(seed): \(profile)")
          if last != 0, state.acceleration != last { changes += 1 }
          last = state.acceleration
        }
      }
      #expect(changes <= 1, "seed \(seed): \(profile)")
    }
  }

  @Test("trapezoid: faster than the limit at the start, it brakes to it first; too fast for the target, it comes back")
  func trapezoidFast() throws {
    let fast = try TrapezoidProfile(from: 0, velocity: 4, to: 100, velocityLimit: 1, accelerationLimit: 2)
    #expect(fast.state(at: .milliseconds(500)).velocity == 3 && fast.state(at: .milliseconds(500)).acceleration == -2)
    #expect(fast.state(at: .seconds(10 as Int64)).velocity == 1)
    #expect(fast.state(at: fast.duration).position == 100)
    let past = try TrapezoidProfile(from: 0, velocity: 4, to: 1, velocityLimit: 4, accelerationLimit: 2)
    #expect((past.state(at: .seconds(2 as Int64)).position - 4).magnitude < 1e-12)
    #expect(past.state(at: past.duration) == MotionState(position: 1))
    let back = try TrapezoidProfile(from: 0, velocity: -4, to: 1, velocityLimit: 2, accelerationLimit: 2)
    #expect(back.state(at: .milliseconds(500)).velocity == -3 && back.state(at: back.duration).position == 1)
  }

  @Test("already there at rest: over at once")
  func nothingToDo() throws {
    let trapezoid = try TrapezoidProfile(from: 3, to: 3, velocityLimit: 1, accelerationLimit: 1)
    #expect(trapezoid.duration == .zero && trapezoid.state(at: .zero) == MotionState(position: 3))
    let curve = try SCurveProfile(from: 3, to: 3, velocityLimit: 1, accelerationLimit: 1, jerkLimit: 1)
    #expect(curve.duration == .zero && curve.state(at: .zero) == MotionState(position: 3))
    #expect(curve.isOver(at: .zero) && trapezoid.isOver(at: .zero))
  }

  @Test("trapezoid: a new target under way goes on from the state that the old one has", arguments: seeds)
  func retarget(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var profile = try TrapezoidProfile(from: 0, to: 1, velocityLimit: 2, accelerationLimit: 4)
    for _ in 0..<200 {
      let at = Nanoseconds(Int64(random.below(UInt64(profile.duration.count + 1))))
      let state = profile.state(at: at)
      profile = try TrapezoidProfile(
        from: state.position, velocity: state.velocity, to: random.between(-3, 3), velocityLimit: 2,
        accelerationLimit: 4)
      let next = profile.state(at: .microseconds(1))
      #expect((next.velocity - state.velocity).magnitude < 4.1e-6, "seed \(seed)")
      #expect((next.position - state.position).magnitude < 2.1e-6, "seed \(seed)")
    }
  }

  @Test("S-curve: sound, within its limits, monotone, exactly at its start and target", arguments: seeds)
  func curve(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<25 {
      let (from, to) = (random.between(-10, 10), random.between(-10, 10))
      let (limit, acceleration) = (random.between(0.1, 20), random.between(0.1, 50))
      let jerk = Math.pow(10, random.between(-1, 4))
      let profile = try SCurveProfile(
        from: from, to: to, velocityLimit: limit, accelerationLimit: acceleration, jerkLimit: jerk)
      let what = "seed \(seed): \(profile)"
      #expect(profile.state(at: .zero) == MotionState(position: from), "\(what)")
      #expect(profile.state(at: profile.duration) == MotionState(position: to), "\(what)")
      #expect(profile.isOver(at: profile.duration) && !profile.isOver(at: profile.duration - Nanoseconds(1)))
      Self.expectSound(
        what, duration: profile.duration, velocityLimit: limit, accelerationLimit: acceleration, scale: 10
      ) { profile.state(at: $0) }
      var last = profile.state(at: .zero)
      let step = Nanoseconds(profile.duration.count / 1_000)
      for index in 1...1_000 {
        let now = profile.state(at: step * Int64(index))
        let change = (now.acceleration - last.acceleration).magnitude
        #expect(change <= jerk * step.inSeconds * (1 + 1e-6) + 1e-9 * acceleration, "\(what)")
        #expect((now.position - last.position) * (to - from) >= -1e-12, "\(what)")
        last = now
      }
    }
  }

  @Test(
    "S-curve: the fastest way, since always the jerk, the acceleration or the velocity is at its limit",
    arguments: seeds)
  func curveFastest(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<25 {
      let (limit, acceleration) = (random.between(0.1, 5), random.between(0.1, 20))
      let jerk = Math.pow(10, random.between(-1, 4))
      let profile = try SCurveProfile(
        from: 0, to: random.between(-5, 5), velocityLimit: limit, accelerationLimit: acceleration, jerkLimit: jerk)
      let step = Nanoseconds(max(1, profile.duration.count / 2_000))
      var idle = 0
      for index in 1..<1_999 {
        let (before, now) = (profile.state(at: step * Int64(index - 1)), profile.state(at: step * Int64(index)))
        let slope = (now.acceleration - before.acceleration).magnitude / step.inSeconds
        let isAtJerk = (slope / jerk - 1).magnitude < 1e-3
        let isAtAcceleration = (now.acceleration.magnitude / acceleration - 1).magnitude < 1e-9
        let isAtVelocity = (now.velocity.magnitude / limit - 1).magnitude < 1e-9
        if !isAtJerk && !isAtAcceleration && !isAtVelocity { idle += 1 }
      }
      // Steps in which one part ends and the next begins.
      #expect(idle <= 8, "seed \(seed): \(idle) steps of \(profile)")
    }
  }

  @Test("S-curve: with a boundless jerk it takes as long as the trapezoid")
  func curveToTrapezoid() throws {
    for to in [0.1, 5.0] {
      let curve = try SCurveProfile(from: 0, to: to, velocityLimit: 1, accelerationLimit: 2, jerkLimit: 1e12)
      let trapezoid = try TrapezoidProfile(from: 0, to: to, velocityLimit: 1, accelerationLimit: 2)
      #expect((curve.duration - trapezoid.duration).count.magnitude < 1_000)
    }
  }

  @Test("limits of 0, what is not finite, a way of centuries: errors")
  func errors() {
    func trapezoid(
      from: Double = 0, velocity: Double = 0, to: Double = 1, limit: Double = 1, acceleration: Double = 1
    ) -> ControlSetting? {
      do {
        _ = try TrapezoidProfile(
          from: from, velocity: velocity, to: to, velocityLimit: limit, accelerationLimit: acceleration)
      } catch { return error.setting }
      return nil
    }
    func curve(
      from: Double = 0, to: Double = 1, limit: Double = 1, acceleration: Double = 1, jerk: Double = 1
    ) -> ControlSetting? {
      do {
        _ = try SCurveProfile(
          from: from, to: to, velocityLimit: limit, accelerationLimit: acceleration, jerkLimit: jerk)
      } catch { return error.setting }
      return nil
    }
    #expect(trapezoid() == nil && curve() == nil)
    #expect(trapezoid(from: .nan) == .position && trapezoid(to: .infinity) == .position)
    #expect(trapezoid(velocity: .nan) == .velocity && trapezoid(limit: 0) == .velocityLimit)
    #expect(trapezoid(acceleration: -1) == .accelerationLimit && trapezoid(to: 1e300) == .travelTime)
    #expect(trapezoid(to: 1e10) == .travelTime && trapezoid(to: 8e9) == nil)
    #expect(trapezoid(velocity: 1e200) == .travelTime)
    #expect(curve(from: .infinity) == .position && curve(to: .nan) == .position && curve(limit: .nan) == .velocityLimit)
    #expect(curve(acceleration: 0) == .accelerationLimit && curve(jerk: 0) == .jerkLimit)
    #expect(curve(to: 1e300) == .travelTime && curve(from: -1.7e308, to: 1.7e308) == .travelTime)
  }
}
