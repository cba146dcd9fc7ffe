import Sprinkler
import TactusDaemon

/// The texts and number formats of the calendar.
enum SprinklerWords {
  /// Returns a number with at most three decimals, and with a hyphen as its minus sign.
  static func number(_ value: Double) -> String { ScenarioTimeline.number(value).replacing("−", with: "-") }

  /// Returns a number of seconds as minutes with one decimal.
  static func minutes(_ seconds: Double) -> String {
    let tenths = Int(saturating: (seconds / 6).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Returns a second of the day as `HH:MM`.
  static func time(_ second: Int) -> String { ScheduleWords.text(.clock(minute: second / 60)) }

  static func outcome(_ outcome: RunOutcome) -> String {
    switch outcome {
    case .emergencyStop: "e-stop"
    case .shutdown: "shut down"
    default: outcome.word.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
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
