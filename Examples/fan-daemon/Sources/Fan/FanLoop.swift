import Buses
import Devices
import Tactus
import TactusDaemon

/// Reads the tachometer and the thermistor, and sets the duty, at 20 Hz.
struct FanLoop: ~Copyable, ControlLoop {
  var ends: Fan.Ends
  var motor: PWMOutput
  var tachometer: Tachometer
  var thermistor: Thermistor
  var bus: I2CBus
  var machine = Fan.Machine()
  var state = Fan.State()

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let now = tick.started
    ends.begin(tick)
    measure(at: now)
    while let request = ends.next() { ends.answer(request, machine.obey(request.order, at: now)) }
    let (duty, notice) = machine.step(celsius: state.celsius, rpm: state.rpm, ends.rules, at: now)
    if let notice { ends.report(notice) }
    drive(duty, at: now)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    _ = machine.obey(.emergencyStop, at: tick.started)
    drive(0, at: tick.started)
  }

  @_noLocks @_noAllocation
  private mutating func measure(at now: TickInstant) {
    bus.now = now
    do throws(GPIOError) {
      state.rpm = try tachometer.rpm(at: now)
    } catch {
      (state.rpm, state.failures) = (0, state.failures &+ 1)
    }
    do throws(I2CError) {
      state.celsius = try thermistor.celsius(on: &bus)
    } catch {
      (state.celsius, state.failures) = (nil, state.failures &+ 1)
    }
  }

  @_noLocks @_noAllocation
  private mutating func drive(_ percent: Double, at now: TickInstant) {
    motor.now = now
    state.machine = machine
    do throws(PWMError) {
      try motor.set(active: Nanoseconds(Int64(Double(motor.period.count) * percent / 100)))
      state.duty = percent
      ends.finish(state, isSafe: percent == 0)
    } catch {
      state.failures &+= 1
      ends.finish(state, isSafe: false)
    }
  }
}
