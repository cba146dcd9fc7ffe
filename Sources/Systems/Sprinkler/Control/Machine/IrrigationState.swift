import Buses
import Tactus

// The states of the valves, and the transitions between them.
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

// Texts for people.

extension IrrigationState: CustomStringConvertible {
  /// The state in one line, such as `watering` or `fault: no water flows while zone 3 is open`.
  public var description: String {
    switch self {
    case .idle: "idle"
    case .watering: "watering"
    case .paused: "paused"
    case .fault(let cause): "fault: \(cause)"
    case .emergencyStopped: "emergency stop"
    case .shutDown: "shut down"
    }
  }
}

extension IrrigationFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .lines(let error): "the lines do not take what they are told: \(error)"
    case .lineDiffers(let line, let isActive):
      "line \(Int(clamping: line) + 1) is \(isActive ? "on" : "off"), whatever it is told"
    case .flow(let alarm): "\(alarm)"
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    }
  }
}

extension FlowAlarm: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noFlow(let zone): "no water flows while zone \(zone) is open"
    case .highFlow(let zone): "too much water flows while zone \(zone) is open"
    case .leak: "water flows while all is closed"
    case .belowLimit(let verdict): "\(verdict), which is less than its limit"
    case .aboveLimit(let verdict): "\(verdict), which is more than its limit"
    }
  }
}

extension ZoneFlowVerdict: CustomStringConvertible {
  public var description: String {
    "\(SprinklerScheduler.number(litresPerMinute)) l/min flow while zone \(zone) is open"
  }
}

extension IrrigationRefusal: CustomStringConvertible {
  /// The reason, and the way out if there is one, as a part of a sentence about the zone or the sprinkler.
  public var description: String {
    switch self {
    case .noSuchZone: "there is no such zone"
    case .zoneDisabled: "it is disabled"
    case .zoneHasNoLine: "it has no line at present"
    case .invalidDuration: "a run lasts 1…86,400 s"
    case .invalidAmount: "a run has more than 0 and at most 100,000 l"
    case .longerThanMaximum: "it may not run that long"
    case .dayLimitReached: "it has run all it may today"
    case .rainDelay: "there is a rain delay"
    case .paused: "it is paused; resume first"
    case .notPaused: "it is not paused"
    case .queueFull: "too many runs are queued or open"
    case .noticesNotTaken: "the daemon is behind with its book-keeping"
    case .zoneNotRunning: "it is not running"
    case .noSuchRun: "no such run is queued or open"
    case .nothingToSkip: "nothing is open"
    case .noSuchLine: "there is no such line"
    case .lineTaken: "the pin is another zone's"
    case .noSuchGroup: "there is no such group"
    case .zoneOpen: "its pin changes only while it is closed"
    case .inFault: "it is in fault; reset it"
    case .emergencyStopped: "it is emergency-stopped; reset it"
    case .offNotConfirmed: "the lines have not taken the off yet"
    case .nothingToReset: "it is neither emergency-stopped nor in fault"
    case .stale: "the request waited too long for the loop; send it again"
    case .shutDown: "the daemon is shutting down"
    }
  }
}

extension IrrigationSettingsError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .lineCount(let count): "lines: expected 1…64, got \(count)"
    case .masterLine(let line, let count): "master valve: expected one of the lines 0…\(count - 1), got \(line)"
    case .masterLead(let value): "master valve's lead: expected −600…600 s, got \(value)"
    case .masterLag(let value): "master valve's lag: expected −600…600 s, got \(value)"
    case .stationDelay(let value): "station delay: expected 0…3600 s, got \(value)"
    case .maximumOpen(let count): "valves open at a time: expected 1…64, got \(count)"
    case .group(let group, let count): "group: expected 0…15 with 1…64 valves open, got group \(group) with \(count)"
    case .pulsesPerLitre(let value): "pulses per litre: expected above 0, up to 100000, got \(value)"
    case .flowTime(let value): "time of a flow watch: expected 1…3600 s, got \(value)"
    case .flowRate(let value): "limit of a flow watch: expected above 0, up to 10000 l/min, got \(value)"
    }
  }
}
