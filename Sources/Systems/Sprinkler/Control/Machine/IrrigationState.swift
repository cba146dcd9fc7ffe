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

/// The state of the valves. Each case carries the values that exist only in that state. Valves are open in `watering` only.
public enum IrrigationState: Sendable, Hashable, BitwiseCopyable {
  /// Every line is off; runs may wait in the queue for their time.
  case idle
  /// The valve of a zone or the master valve is open.
  case watering
  /// Every line is off until this instant; the interrupted runs then continue.
  case paused(until: TickInstant)
  /// Every line is off until a reset.
  case fault(IrrigationFault)
  /// An emergency stop turned every line off; latched until a reset.
  case emergencyStopped
  /// The daemon is shutting down, and every line is off.
  case shutDown
}

/// The cause of a fault.
public enum IrrigationFault: Sendable, Hashable, BitwiseCopyable {
  /// Writing or reading the lines failed.
  case lines(GPIOError)
  /// Three consecutive read-backs of this line, 0…, differed from the level written: a short circuit or a burnt-out driver.
  case lineDiffers(line: UInt8, isActive: Bool)
  case flow(FlowAlarm)
  /// The runtime skipped this many releases of the loop in a row.
  case missedReleases(Int64)
}

/// A flow of water, or a lack of flow, that the state of the valves does not explain.
public enum FlowAlarm: Sendable, Hashable, BitwiseCopyable {
  /// A valve is open but no water flows: the valve does not open, the pump is dry or the main is closed. Carries the first open zone.
  case noFlow(ZoneID)
  /// More water flows than the open valves let through: a burst pipe. Carries the first open zone.
  case highFlow(ZoneID)
  /// Water flows although all valves are closed.
  case leak
  /// Less water flows than the zone's own limit, set or learnt: a blocked filter or emitter, a valve that opens in part.
  case belowLimit(ZoneFlowVerdict)
  /// More water flows than the zone's own limit, set or learnt: a burst pipe or a broken sprinkler.
  case aboveLimit(ZoneFlowVerdict)
}
