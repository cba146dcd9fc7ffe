import Logging
import Sprinkler
import WallTime

extension SprinklerNotice {
  /// Writes the notice as one line to the system's log.
  func log(_ logger: Logger, description text: (WallInstant) -> String) {
    func line(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
      logger.log(level: level, message, metadata: metadata)
    }
    switch self {
    case .programStarted(let id, let name, let due, let runs):
      line(
        .info, "a schedule has started",
        ["schedule": "\(id)", "name": "\(name)", "due": "\(text(due))", "runs": "\(runs)"])
    case .programSkipped(let id, let name, let due, let why, let runs):
      line(
        .notice, "a schedule was skipped",
        ["schedule": "\(id)", "name": "\(name)", "due": "\(text(due))", "why": "\(why.word)", "runs": "\(runs)"])
    case .soil(let id, let name, let zone, let why):
      line(
        .notice, "the soil's rules looked at a start",
        ["schedule": "\(id)", "name": "\(name)", "zone": "\(zone)", "why": "\(why)"])
    case .deficit(let id, let name, let zone, let why):
      line(
        .info, "the deficit decided on a start",
        ["schedule": "\(id)", "name": "\(name)", "zone": "\(zone)", "why": "\(why)"])
    case .flowLearnt(let zone, let words):
      line(.notice, "a zone's flow is learnt", ["zone": "\(zone)", "flow": "\(words)"])
    case .rainDelaySet(let delay):
      line(
        .notice, "a rain delay is in force",
        ["until": "\(text(delay.until))", "reason": "\(delay.why ?? "by hand")"])
    case .rainSensor(let word):
      switch word {
      case .unknown: line(.warning, "the rain sensor's line cannot be read: schedules run as they are", [:])
      case .stuck:
        line(.warning, "the rain sensor is always wet, as with a broken wire: schedules run as they are", [:])
      default: line(.notice, "the rain sensor has changed", ["state": "\(word.rawValue)"])
      }
    case .rainDelayOver: line(.notice, "the rain delay is over", [:])
    case .clockStepped(let seconds): line(.warning, "the time of day was set", ["seconds": "\(seconds)"])
    case .clockBelieved(let word):
      switch word {
      case "unconfirmed":
        line(.info, "the time of day is not confirmed yet: schedules that are due wait", [:])
      default: line(.info, "the time of day is confirmed", ["clock": "\(word)"])
      }
    case .startTakenBack(let id, let name, let due, let was):
      line(
        .warning, "a start that a wrong clock had written off is due again at its time",
        ["schedule": "\(id)", "name": "\(name)", "due": "\(text(due))", "was": "\(was.word)"])
    case .longAbsence(let from, let to):
      line(
        .warning, "starts during a long absence were not caught up on", ["from": "\(text(from))", "to": "\(text(to))"])
    case .interrupted(let run, let zone, let end, let ran, let left, let isResumed):
      line(
        .warning,
        isResumed
          ? "a run that a power cut interrupted goes on"
          : end == .powerCut ? "a run ended by a power cut" : "a run ended by a crash: its rest does not follow",
        ["run": "\(run)", "zone": "\(zone)", "ran_s": "\(ran)", "left_s": "\(left)"])
    case .queueNotResumed(let runs):
      line(
        .warning, "the queue of a recovered store is not run: what it holds may have been done",
        ["runs": "\(runs.map(String.init).joined(separator: " "))"])
    }
  }
}
