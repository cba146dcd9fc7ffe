import Buses
import Devices
import Tactus
import TactusControl
import TactusDaemon

/// Reads the level switch and the thermometer, and sets the heater and the agitator, at 10 Hz.
struct KettleLoop: ~Copyable, ControlLoop {
  var ends: Kettle.Ends
  var heater: PWMOutput
  var agitator: GPIOLines
  var level: GPIOEvents
  var spi: SPIPort
  let programme: Programme
  var state: Kettle.State
  var thermometer = MAX31865()
  var controller: PID?

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let now = tick.started
    ends.begin(tick)
    (spi.now, level.now) = (now, now)
    state.celsius = try? thermometer.celsius(on: &spi)
    state.isFull = (try? level.read()) == 0
    while let request = ends.next() {
      let (verdict, notice) = state.machine.obey(request.order, isFull: state.isFull, at: now)
      if let notice { ends.report(notice) }
      ends.answer(request, verdict)
    }
    let (target, notice) = state.machine.step(
      celsius: state.celsius, isFull: state.isFull, programme, seconds: 0.1, at: now)
    if let notice { ends.report(notice) }
    state.target = target
    drive(power(target), at: now)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    state.machine.interrupt()
    state.target = nil
    drive(0, at: tick.started)
  }

  /// Returns the heater's power in percent. A mash whose temperature is unknown for a moment is not heated.
  @_noLocks @_noAllocation
  private mutating func power(_ target: Double?) -> Double {
    guard let target, let celsius = state.celsius else {
      controller = nil
      return 0
    }
    let rules = ends.rules
    do throws(ControlSettingError) {
      let settings = try PIDSettings(
        proportional: rules.gain, integral: rules.integral, minimumOutput: 0, maximumOutput: rules.most,
        sampleTime: .milliseconds(100))
      if controller == nil { controller = PID(settings) }
      controller?.adopt(settings)
      return controller?.step(setpoint: target, measurement: celsius) ?? 0
    } catch {
      return 0
    }
  }

  @_noLocks @_noAllocation
  private mutating func drive(_ percent: Double, at now: TickInstant) {
    (heater.now, agitator.now) = (now, now)
    var isDone = true
    do throws(PWMError) {
      try heater.set(active: Nanoseconds(Int64(Double(heater.period.count) * percent / 100)))
      state.power = percent
    } catch {
      (isDone, state.failures) = (false, state.failures &+ 1)
    }
    do throws(GPIOError) {
      try agitator.set(0, state.target != nil)
    } catch {
      (isDone, state.failures) = (false, state.failures &+ 1)
    }
    ends.finish(state, isSafe: isDone && percent == 0 && state.target == nil)
  }
}
