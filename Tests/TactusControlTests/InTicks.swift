import Tactus
import TactusControl

// The proof that the module can stand in a tick: each function of an embedder's module is compiled here under the promise,
// and the build fails when one could lock or allocate.

struct MathInTick: ControlLoop, NoOutput {
  var x = 0.5
  var y: Float = 0.5
  var count = 0
  var span = Nanoseconds.zero

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    x = Double(tick.index % 2_000 - 1_000) / 100
    y = Float(x)
    floats()
    x = Math.sin(x) + Math.cos(x) + Math.tan(x) + Math.asin(x) + Math.acos(x) + Math.atan(x) + Math.atan2(x, 2)
    x += Math.sinh(x) + Math.cosh(x) + Math.tanh(x) + Math.exp(x) + Math.exp2(x) + Math.expm1(x)
    x += Math.log(x) + Math.log2(x) + Math.log10(x) + Math.log1p(x) + Math.pow(x, 2) + Math.hypot(x, 2)
    x += Math.sqrt(x) + Math.cbrt(x) + Math.round(x) + Math.roundToEven(x) + Math.floor(x) + Math.ceil(x)
    x += Math.trunc(x) + Math.remainder(x, 2) + Math.fmod(x, 2) + Math.clamp(x, from: -1, to: 1)
    x += Math.wrapped(x) + Math.turn(from: x, to: 1)
    count = Math.integer(x) ?? 0
    span = Nanoseconds(clampingSeconds: x) ?? .zero
    x = span.inSeconds
  }

  @_noLocks @_noAllocation
  mutating func floats() {
    y = Math.sin(y) + Math.cos(y) + Math.tan(y) + Math.asin(y) + Math.acos(y) + Math.atan(y) + Math.atan2(y, 2)
    y += Math.sinh(y) + Math.cosh(y) + Math.tanh(y) + Math.exp(y) + Math.exp2(y) + Math.expm1(y)
    y += Math.log(y) + Math.log2(y) + Math.log10(y) + Math.log1p(y) + Math.pow(y, 2) + Math.hypot(y, 2)
    y += Math.sqrt(y) + Math.cbrt(y) + Math.round(y) + Math.roundToEven(y) + Math.floor(y) + Math.ceil(y)
    y += Math.trunc(y) + Math.remainder(y, 2) + Math.fmod(y, 2) + Math.clamp(y, from: -1, to: 1)
    y += Math.wrapped(y) + Math.turn(from: y, to: 1)
    count = Math.integer(y) ?? 0
  }
}

struct ControlInTick: ControlLoop, NoOutput {
  var pid: PID
  var limiter: RateLimiter
  var integrator: Integrator
  var relay: Hysteresis
  var button: Debouncer
  var lowPass: LowPass
  var biquad: Biquad
  var measurement = 0.0
  var output = 0.0

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if tick.index % 100 == 0 { starts() }
    if tick.index % 1_000 == 0 { schedule() }
    measurement = Math.sin(tick.started.nanoseconds == 0 ? .nan : Double(tick.index) / 50)
    measurement = biquad.step(lowPass.step(measurement))
    output = pid.step(setpoint: limiter.step(toward: 1), measurement: measurement, feedForward: integrator.step(output))
    output += pid.output + pid.integral + pid.slope + Double(pid.rejectedSteps) + limiter.value + integrator.value
    if relay.step(output) || relay.isOn { pid.track(output: 0, setpoint: 1, measurement: measurement) }
    if button.step(output > 1, at: tick.started), button.isActive { pid.reset() }
    if let settled = lowPass.output, let passed = biquad.output, settled > passed { biquad.settle(at: settled) }
  }

  @_noLocks @_noAllocation
  mutating func starts() {
    lowPass.reset()
    biquad.reset()
    limiter.jump(to: 0)
    integrator.reset()
  }

  var nextDeadline: TickInstant? { @_noLocks @_noAllocation get { button.settlesAt } }

  /// Made in a tick, for gains that follow the working point.
  @_noLocks @_noAllocation
  mutating func schedule() {
    do {
      pid.adopt(
        try PIDSettings(
          proportional: output, integral: 1, antiWindup: .backCalculation(trackingTime: .milliseconds(5)),
          sampleTime: .milliseconds(1)))
      limiter = try RateLimiter(rising: 1, sampleTime: .milliseconds(1))
      integrator = try Integrator(sampleTime: .milliseconds(1))
      relay = try Hysteresis(lower: 0, upper: 1)
      lowPass = try LowPass(cutoff: 10, sampleTime: .milliseconds(1))
      biquad = Biquad(try BiquadCoefficients.lowPass(cutoff: 10, sampleTime: .milliseconds(1)))
      biquad = Biquad(try BiquadCoefficients.highPass(cutoff: 10, sampleTime: .milliseconds(1)))
      biquad = Biquad(try BiquadCoefficients.notch(frequency: 10, sampleTime: .milliseconds(1)))
    } catch {
      output = error.value
    }
    button = Debouncer(stableFor: .milliseconds(20))
  }
}

struct MotionInTick: ControlLoop, NoOutput {
  var trapezoid: TrapezoidProfile
  var curve: SCurveProfile
  var ramp: StepRamp
  var attitude = Quaternion.identity
  var begun = TickInstant.zero
  var output = Vector3.zero
  var plane = Vector2(1, 0)
  var four = Vector4(1, 2, 3, 4)

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let elapsed = tick.started - begun
    let state = curve.isOver(at: elapsed) ? trapezoid.state(at: elapsed) : curve.state(at: elapsed)
    do {
      if trapezoid.isOver(at: elapsed) {
        trapezoid = try TrapezoidProfile(
          from: state.position, velocity: state.velocity, to: -state.position, velocityLimit: 1, accelerationLimit: 2)
        curve = try SCurveProfile(
          from: state.position, to: 0, velocityLimit: 1, accelerationLimit: 2, jerkLimit: 3)
      }
    } catch {
      output.x = error.value
    }
    turn()
    ramp.approach(tick.index % 100 == 0 ? -ramp.target : 50, at: tick.started)
    if ramp.position(at: tick.started) > 1_000 || ramp.rate(at: tick.started) > 49 { ramp.halt(at: tick.started) }
    attitude.step(rate: Vector3(state.velocity, 0, state.acceleration), for: .milliseconds(1))
    output = attitude.rotate(output + Vector3(1, 0, 0) * 2 - output / 3)
    output = output.cross(output.normalized ?? .zero) * output.dot(output) * output.length
    plane = plane.rotated(by: plane.length) * plane.cross(plane.normalized ?? plane) * plane.dot(plane)
    four = (four.normalized ?? four) * four.dot(four) * four.length
  }

  @_noLocks @_noAllocation
  mutating func turn() {
    let (roll, pitch, yaw) = attitude.angles
    if let level = Quaternion(roll: 0, pitch: 0, yaw: yaw), let tilt = Quaternion(axis: output, angle: roll) {
      attitude = (level * tilt).renormalized.interpolated(to: attitude.inverse, share: pitch)
    }
    if let other = Quaternion(rotation: output), let raw = Quaternion(w: 1, x: 0, y: 0, z: roll) {
      output.x = other.angle(to: raw) + raw.w + raw.x + raw.y + raw.z
    }
  }
}
