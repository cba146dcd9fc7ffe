import Tactus
import TactusControl

// The proof that the module can stand in a tick: each function of an embedder's module is compiled here under the promise,
// and the build fails when one could lock or allocate.

struct MathInTick: ControlLoop {
  var x = 0.5
  var y: Float = 0.5
  var count = 0
  var span = Nanoseconds.zero

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
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
