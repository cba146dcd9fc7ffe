import Buses
import Tactus

// What an operator reads.

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
