import Buses
import Tactus

// What the valves may do, and what changes it.
//
//                 a run's turn
//   ┌──────┐ ───────────────────▶ ┌──────────┐
//   │ idle │ ◀─────────────────── │ watering │
//   └──────┘   the last run's end └──────────┘
//     │  ▲                          ▲   │
//     │  │ its time is over, resume │   │ pause
//     │  │                          │   │
//     │  └───────── ┌────────┐ ─────┘   │
//     └───────────▶ │ paused │ ◀────────┘
//                   └────────┘
//   From these three: lines failed or differ, flow alarm, releases missed ▶ fault; from all: e-stop ▶ emergencyStopped.
//   fault, emergencyStopped: reset, once the off is confirmed ▶ idle. From all: shutdown ▶ shutDown, which has no way out.
//   Entering any of the last three ends every run, queued ones too; so does a stop from outside, in any state.

/// The valves' state. Each case carries what is legal only there. Nothing but `watering` opens.
public enum IrrigationState: Sendable, Hashable, BitwiseCopyable {
  /// Every line is off; runs may wait in the queue for their time.
  case idle
  /// A valve is open, or the master valve is.
  case watering
  /// Every line is off until then; what was open goes on after it.
  case paused(until: TickInstant)
  /// Until reset.
  case fault(IrrigationFault)
  /// Latched until a reset.
  case emergencyStopped
  /// The daemon is going down.
  case shutDown
}

/// What made the machine give up watering.
public enum IrrigationFault: Sendable, Hashable, BitwiseCopyable {
  /// The lines do not take what they are told.
  case lines(GPIOError)
  /// A line was read back three times otherwise than told, 0…: shorted, or its driver burnt out.
  case lineDiffers(line: UInt8, isActive: Bool)
  case flow(FlowAlarm)
  /// The runtime gave up so many releases of the loop in a row.
  case missedReleases(Int64)
}

/// A flow of water, or a lack of it, that the valves do not explain.
public enum FlowAlarm: Sendable, Hashable, BitwiseCopyable {
  /// A valve is open and no water flows: a valve that does not open, a dry pump, a closed main. The first open zone.
  case noFlow(ZoneID)
  /// More flows than open valves let through: a burst pipe. The first open zone.
  case highFlow(ZoneID)
  /// All is closed and water flows.
  case leak
}
