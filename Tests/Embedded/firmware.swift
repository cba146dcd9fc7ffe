// The smallest firmware around the leg's machine and codec: what scripts/embedded links, to know how large they are. A real
// one calls these three from its radio's, its timer's and its PWM driver's code.

import Leg
import Tactus
import Wire

/// The compiler cannot make a global of a throwing initialiser without code that runs first; a firmware calls `leg_begin`.
nonisolated(unsafe) private var machine = LegMachine(.standard)

@_cdecl("leg_begin")
public func begin() { machine = LegMachine(.standard) }

/// A frame has come. Returns the pulse in µs, 0 for off, −1 for no change.
@_cdecl("leg_frame")
public func frame(_ bytes: UnsafeRawPointer, _ count: Int32, _ now: Int64) -> Int32 {
  let event: LegEvent
  do throws(LegFrameError) {
    event = .order(.command(try LegCommand.decode(UnsafeRawBufferPointer(start: bytes, count: Int(count)))))
  } catch {
    event = .order(.invalidFrame)
  }
  return apply(machine.step(event, at: TickInstant(nanoseconds: now)))
}

/// The timer: at every period, and at the deadline that `leg_deadline` names.
@_cdecl("leg_tick")
public func tick(_ now: Int64) -> Int32 { apply(machine.step(.tick, at: TickInstant(nanoseconds: now))) }

/// Nanoseconds, or the largest number for none.
@_cdecl("leg_deadline")
public func deadline() -> Int64 { machine.nextDeadline?.nanoseconds ?? .max }

/// Fills 12 bytes of telemetry.
@_cdecl("leg_report")
public func report(_ bytes: UnsafeMutableRawPointer, _ now: Int64) {
  let action = machine.step(.report, at: TickInstant(nanoseconds: now))
  action.telemetry?.encode(into: UnsafeMutableRawBufferPointer(start: bytes, count: 12))
}

private func apply(_ action: LegAction) -> Int32 {
  switch action.output {
  case .none: -1
  case .off: 0
  case .pulse(let pulse): Int32(pulse.microseconds)
  }
}
