import Tactus
import TactusControl
import Testing

@Suite("Step ramp")
struct StepRampTests {
  private static func after(_ microseconds: Int64) -> TickInstant { .zero + .microseconds(microseconds) }

  /// 400 steps/s after 0.2 s and 40 steps.
  private static func running() throws -> StepRamp {
    var ramp = try StepRamp(rateLimit: 500, accelerationLimit: 2_000)
    ramp.approach(400, at: .zero)
    return ramp
  }

  @Test("from rest: the rate rises evenly to the target, and the position is the area below it")
  func start() throws {
    let ramp = try Self.running()
    // Instants between two steps: 0.5, 10.5, 22.5 and 440.5 steps are the areas.
    for (microseconds, rate, steps) in [
      (0, 0.0, 0), (22_361, 44.722, 0), (102_470, 204.94, 10), (150_000, 300, 22), (1_201_250, 400, 440),
    ] as [(Int64, Double, Int)] {
      let now = Self.after(microseconds)
      #expect((ramp.rate(at: now) - rate).magnitude < 1e-9, "\(microseconds)")
      #expect(ramp.position(at: now) == steps, "\(microseconds)")
    }
  }

  @Test("braking, turning back, and a change within the ramp begin from the present rate and position")
  func changes() throws {
    var ramp = try Self.running()
    ramp.approach(0, at: Self.after(1_201_250))
    // 440.5 and 30 of 40 steps, then all of them.
    #expect(ramp.rate(at: Self.after(1_301_250)) == 200 && ramp.position(at: Self.after(1_301_250)) == 470)
    #expect(ramp.rate(at: Self.after(1_401_250)) == 0 && ramp.position(at: Self.after(9_000_000)) == 480)
    ramp.approach(-300, at: Self.after(9_000_000))
    // 22.5 steps back in 0.15 s, then 300 a second.
    #expect(ramp.rate(at: Self.after(9_155_000)) == -300 && ramp.position(at: Self.after(9_155_000)) == 456)
    ramp.approach(300, at: Self.after(9_155_000))
    // In 0.1 s of its 0.3 s: from −300 to −100 and 20 steps back.
    #expect((ramp.rate(at: Self.after(9_255_000)) + 100).magnitude < 1e-9)
    #expect(ramp.position(at: Self.after(9_255_000)) == 436)
  }

  @Test("the same steps however often it is asked for them and for the same rate; a late tick loses none")
  func ticks() throws {
    let whole = try Self.running()
    var (ramp, stepped, isHigh) = (try Self.running(), 0, false)
    for tick in 0..<2_000 as Range<Int64> where !(700..<740).contains(tick) {
      let now = Self.after(tick * 1_000)
      ramp.approach(400, at: now)
      if isHigh {
        isHigh = false
      } else if ramp.position(at: now) > stepped {
        (isHigh, stepped) = (true, stepped + 1)
      }
      if tick < 700 { #expect((whole.position(at: now) - stepped).magnitude <= 1, "\(tick)") }
    }
    let end = Self.after(1_999_000)
    #expect(ramp.position(at: end) == whole.position(at: end))
    #expect((whole.position(at: end) - stepped).magnitude <= 1)
  }

  @Test("a halt has no ramp and keeps the position; a rate beyond the limit is the limit, one that is not finite none")
  func limits() throws {
    var ramp = try Self.running()
    let now = Self.after(1_201_250)
    ramp.halt(at: now)
    #expect(ramp.rate(at: now) == 0 && ramp.target == 0 && ramp.position(at: Self.after(5_000_000)) == 440)
    ramp.approach(9_000, at: now)
    #expect(ramp.target == 500)
    ramp.approach(.nan, at: now)
    ramp.approach(-.infinity, at: now)
    #expect(ramp.target == 500 && ramp.rate(at: Self.after(9_000_000)) == 500)
    #expect(throws: ControlSettingError(.velocityLimit, 0)) { try StepRamp(rateLimit: 0, accelerationLimit: 1) }
    #expect(throws: ControlSettingError(.accelerationLimit, -1)) { try StepRamp(rateLimit: 1, accelerationLimit: -1) }
  }
}
