import Tactus
import TactusControl
import Testing

/// What the compiler has proved, run: `scripts/test --sanitize` has RealtimeSanitizer watch these ticks, and a call of the C library
/// that locks or allocates ends the process.
@Suite("Control mathematics in ticks that run")
struct ControlSanitizerTests {
  @Test("every function and every block, 20,000 ticks of each")
  func everything() throws {
    let period = Nanoseconds.milliseconds(1)
    let pid = PID(try PIDSettings(proportional: 1, integral: 1, sampleTime: period))
    let (limiter, integrator) = (try RateLimiter(rising: 1, sampleTime: period), try Integrator(sampleTime: period))
    let (relay, button) = (try Hysteresis(lower: 0, upper: 1), Debouncer(stableFor: .milliseconds(20)))
    let lowPass = try LowPass(cutoff: 10, sampleTime: period)
    let biquad = Biquad(try .lowPass(cutoff: 10, sampleTime: period))
    let trapezoid = try TrapezoidProfile(from: 0, to: 1, velocityLimit: 1, accelerationLimit: 2)
    let curve = try SCurveProfile(from: 0, to: 1, velocityLimit: 1, accelerationLimit: 2, jerkLimit: 3)
    let ramp = try StepRamp(rateLimit: 400, accelerationLimit: 2_000)
    let runtime = try Runtime {
      Lane("control") {
        Loop("math", every: .hertz(1000)) { MathInTick() }
        Loop("control", every: .hertz(1000)) {
          ControlInTick(
            pid: pid, limiter: limiter, integrator: integrator, relay: relay, button: button, lowPass: lowPass,
            biquad: biquad)
        }
        Loop("motion", every: .hertz(1000)) { MotionInTick(trapezoid: trapezoid, curve: curve, ramp: ramp) }
      }
    }
    try runtime.simulate(for: .seconds(20))
    for name in ["math", "control", "motion"] {
      #expect(try #require(runtime.statistics[name]).counters.ran >= 20_000)
    }
  }
}
