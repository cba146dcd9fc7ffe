import Buses
import Tactus

// What an operator reads.

extension IrrigationState: CustomStringConvertible {
  /// One line: `watering`, `fault: no water flows while zone 3 is open`.
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

  /// What makes the valves usable again; nil when they are.
  public func wayOut(_ confirmation: Confirmation) -> String? {
    switch self {
    case .idle, .watering: return nil
    case .paused: return "resume, or wait"
    case .fault, .emergencyStopped:
      guard confirmation.isConfirmed else {
        return "the lines have not confirmed the off: check the relay board's power and wiring, then reset"
      }
      if case .fault = self { return "remove the cause, then reset" }
      return "reset"
    case .shutDown: return "start the daemon again"
    }
  }
}

extension IrrigationFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .lines(let error): "the lines do not take what they are told: \(error)"
    case .lineDiffers(let line, let isActive): "line \(line) is \(isActive ? "on" : "off"), whatever it is told"
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
    }
  }
}

extension IrrigationRefusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSuchZone: "there is no such zone"
    case .zoneDisabled: "the zone is disabled"
    case .zoneHasNoLine: "the zone has no line"
    case .invalidDuration: "a duration is 1…86400 s"
    case .longerThanMaximum: "longer than the zone may run at a time"
    case .dayLimitReached: "the zone has run as long as it may today"
    case .rainDelay: "a rain delay is active"
    case .paused: "watering is paused"
    case .notPaused: "watering is not paused"
    case .queueFull: "256 runs are queued"
    case .noticesNotTaken: "the log does not keep up"
    case .zoneNotRunning: "the zone is not running"
    case .noSuchRun: "there is no such run"
    case .nothingToSkip: "nothing is open"
    case .noSuchLine: "there is no such line"
    case .lineTaken: "another zone, or the master valve, has the line"
    case .noSuchGroup: "groups are 0…15"
    case .zoneOpen: "the zone is open"
    case .inFault: "in fault"
    case .emergencyStopped: "emergency stop"
    case .offNotConfirmed: "the lines have not confirmed the off"
    case .nothingToReset: "there is nothing to reset"
    case .stale: "it waited too long"
    case .shutDown: "shut down"
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
