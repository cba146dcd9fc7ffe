import Buses
import Tactus
import TactusControl
import TactusDaemon

/// Reads the flow sensor and the float switch, and sets step, direction and enable, at 200 Hz.
struct DoserLoop: ~Copyable, ControlLoop {
  /// Steps a second. A step takes two ticks, one with the line high and one with it low.
  static let most = 95.0

  var ends: Doser.Ends
  var step: GPIOLines
  var direction: GPIOLines
  var enable: GPIOLines
  var flow: GPIOEvents
  var float: GPIOEvents
  var ramp: StepRamp
  let stepsPerMillilitre: Double
  let pulsesPerMillilitre: Double
  let isReversed: Bool
  var state: Doser.State
  var pulses = GPIOPulseCount()
  var batch = GPIOEdgeBatch()
  var stepped = 0
  var isHigh = false

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let now = tick.started
    ends.begin(tick)
    let counted = measure(at: now)
    state.machine.note(day: ends.day)
    while let request = ends.next() {
      let (verdict, notice) = state.machine.obey(
        request.order, isEmpty: state.isEmpty, most: ends.rules.mostADay, at: now)
      if let notice { ends.report(notice) }
      ends.answer(request, verdict)
    }
    let (turns, notice) = state.machine.step(
      moved: advance(at: now), pulses: counted, perMillilitre: pulsesPerMillilitre, isEmpty: state.isEmpty,
      storedUpTo: ends.storedUpTo)
    if let notice { ends.report(notice) }
    if turns { ramp.approach(ends.rules.rate / 60 * stepsPerMillilitre, at: now) }
    drive(turns: turns, at: now)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    ends.beginSafeState(tick)
    if let notice = state.machine.interrupt() { ends.report(notice) }
    drive(turns: false, at: tick.started)
  }

  /// Returns the millilitres of the step that begins now, if one does.
  @_noLocks @_noAllocation
  private mutating func advance(at now: TickInstant) -> Double {
    isHigh = !isHigh && ramp.position(at: now) > stepped
    guard isHigh else { return 0 }
    stepped += 1
    return 1 / stepsPerMillilitre
  }

  /// Returns the pulses since the last tick. A float switch that cannot be read counts as empty, and a flow sensor as still.
  @_noLocks @_noAllocation
  private mutating func measure(at now: TickInstant) -> Int {
    (flow.now, float.now) = (now, now)
    let before = pulses.count
    do throws(GPIOError) {
      var isFull = true
      while isFull {
        isFull = try flow.receive(into: &batch)
        for index in 0..<batch.count { pulses.add(batch[index]) }
      }
      state.isEmpty = try float.read() == 0
    } catch {
      (state.isEmpty, state.failures) = (true, state.failures &+ 1)
    }
    return Int(pulses.count - before)
  }

  @_noLocks @_noAllocation
  private mutating func drive(turns: Bool, at now: TickInstant) {
    (step.now, direction.now, enable.now) = (now, now, now)
    if !turns {
      ramp.halt(at: now)
      (stepped, isHigh) = (ramp.position(at: now), false)
    }
    var isDone = true
    do throws(GPIOError) {
      try direction.set(0, isReversed)
      try enable.set(0, turns)
      try step.set(0, isHigh)
    } catch {
      (isDone, state.failures) = (false, state.failures &+ 1)
    }
    ends.finish(state, isSafe: isDone && !turns)
  }
}
