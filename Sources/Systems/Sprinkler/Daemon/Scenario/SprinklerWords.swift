import Sprinkler

/// The texts and number formats of the calendar.
enum SprinklerWords {
  /// Returns a number with at most three decimals.
  static func number(_ value: Double) -> String {
    let thousandths = Int(saturating: (value * 1_000).rounded())
    guard thousandths % 1_000 != 0 else { return "\(thousandths / 1_000)" }
    var decimals = String(1_000 + thousandths.magnitude % 1_000).dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    return (thousandths < 0 ? "-" : "") + "\(thousandths.magnitude / 1_000).\(decimals)"
  }

  /// Returns a number of seconds as minutes with one decimal.
  static func minutes(_ seconds: Double) -> String {
    let tenths = Int(saturating: (seconds / 6).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Returns a second of the day as `HH:MM`.
  static func time(_ second: Int) -> String {
    let (hour, minute) = (second / 3_600, second / 60 % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }

  static func outcome(_ outcome: RunOutcome) -> String {
    switch outcome {
    case .completed: "completed"
    case .stopped: "stopped"
    case .replaced: "replaced"
    case .rainDelay: "rain delay"
    case .emergencyStop: "e-stop"
    case .fault: "fault"
    case .shutdown: "shut down"
    case .powerCut: "power cut"
    case .crash: "crash"
    case .dayLimit: "day limit"
    case .disabled: "disabled"
    case .seasonalLevel: "seasonal level"
    case .missed: "missed"
    case .runLimit: "run limit"
    case .overlap: "overlap"
    case .externalStop: "external stop"
    case .wrongClock: "wrong clock"
    case .wetSoil: "wet soil"
    case .noDeficit: "no deficit"
    case .timeLimit: "time limit"
    }
  }

  static func command(_ command: SprinklerCommand) -> String {
    switch command {
    case .setRainDelay(let seconds): "rain delay for \(number(Double(seconds) / 3_600)) h"
    case .cancelRainDelay: "rain delay lifted"
    case .zoneOn(let zone, let seconds, _): "zone \(zone) by hand, \(minutes(Double(seconds ?? 0))) min"
    case .runProgram(let id): "program \(id) by hand"
    case .stopAll: "everything stopped by hand"
    case .pause(let seconds): "paused for \(minutes(Double(seconds))) min"
    case .setLevels(let levels): "seasonal level \(levels.seasonalPercent) %"
    default: "\(command)"
    }
  }
}
