@_spi(FromOutside) import Conversions
import Logging
import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Wire

// The module of the control does not depend on the daemon, so the conformance is declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension IrrigationNotice: @retroactive DeviceNotice {
  public enum Kind: String, NoticeWord {
    case opened, closed, dropped, extended, state, masterOpened, masterClosed, flowAlarm, flowNormal, linesDiffer,
      linesAgree

    public var isTrouble: Bool { self == .flowAlarm || self == .linesDiffer }
    public var sentence: String {
      switch self {
      case .opened: "zone on"
      case .closed: "zone off"
      case .dropped: "a run ended before it began"
      case .extended: "run extended"
      case .state: "sprinkler"
      case .masterOpened: "master valve open"
      case .masterClosed: "master valve closed"
      case .flowAlarm: "flow alarm"
      case .flowNormal: "the flow is normal again"
      case .linesDiffer: "the lines read back differ from the levels written"
      case .linesAgree: "the lines read back agree with the levels written again"
      }
    }
  }

  public var kind: Kind {
    switch subject {
    case .opened, .reopened: .opened
    case .ended(let ended): ended.opened == nil ? .dropped : .closed
    case .extended: .extended
    case .state: .state
    case .master(let isOpen): isOpen ? .masterOpened : .masterClosed
    case .flowAlarm: .flowAlarm
    case .flowNormal: .flowNormal
    case .linesDiffer: .linesDiffer
    case .linesAgree: .linesAgree
    }
  }
}

extension Sprinkler {
  public static func inFull(_ told: Told<IrrigationNotice>, _ look: Look<Sprinkler>) -> ToldInFull {
    let desk = look.shared(SprinklerDesk.self)
    let lines =
      desk?.lines ?? NamedLines(description: look.wiring.description(look.rules, .utc, isSimulated: true), zones: [])
    func line(
      _ level: Logger.Level, _ metadata: Logger.Metadata = [:], type: String? = nil, _ body: [UInt8] = []
    ) -> ToldInFull {
      ToldInFull(level: level, told.notice.kind.sentence, metadata: metadata, type: type, body: body)
    }
    func zone(_ zone: ZoneID, _ metadata: Logger.Metadata) -> ToldInFull {
      line(.info, metadata, type: desk == nil ? nil : "zone", desk.map { encodeJSON($0.event(of: zone)) } ?? [])
    }
    func flow(_ alarm: FlowAlarm?) -> [UInt8] {
      JSONValue.object([.init(name: "alarm", value: alarm.map { .text(lines.text(of: $0)) } ?? .null)]).bytes
    }
    switch told.notice.subject {
    case .opened(let run), .reopened(let run, _):
      return zone(run.zone, ["zoneId": "\(run.zone)", "seconds": "\(run.seconds)", "run": "\(run.id)"])
    case .extended(let run, _): return zone(run.zone, ["zoneId": "\(run.zone)", "run": "\(run.id)"])
    case .ended(let ended):
      var metadata: Logger.Metadata = [
        "zoneId": "\(ended.run.zone)", "ran_s": "\((ended.ran.inSeconds * 1_000).rounded() / 1_000)",
        "outcome": "\(ended.outcome)", "run": "\(ended.run.id)",
      ]
      if look.wiring.flowPin != nil, ended.opened != nil {
        let litres = Double(ended.pulses) / look.wiring.pulsesPerLitre
        metadata["litres"] = "\((litres * 1_000).rounded() / 1_000)"
      }
      return ended.opened == nil ? line(.info, metadata) : zone(ended.run.zone, metadata)
    case .state(let state):
      let seen = StateSeen(state, lines)
      return line(
        state.logLevel, ["state": "\(seen.logged)"], type: "sprinkler.state", SprinklerFields.change.json(seen))
    case .master(let isOpen):
      return line(.info, type: "master", JSONValue.object([.init(name: "isOn", value: .boolean(isOpen))]).bytes)
    case .flowAlarm(let alarm): return line(.error, ["alarm": "\(lines.text(of: alarm))"], type: "flow", flow(alarm))
    case .flowNormal: return line(.notice, type: "flow", flow(nil))
    case .linesDiffer(let told, let read):
      let differing = lines.differing(told: told, read: read).map { $0.faultText() }.joined(separator: "; ")
      return line(
        .error, ["told": "\(String(told, radix: 2))", "read": "\(String(read, radix: 2))", "lines": "\(differing)"])
    case .linesAgree: return line(.notice)
    }
  }
}

extension IrrigationState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .idle, .watering, .paused, .shutDown: .info
    case .emergencyStopped: .warning
    case .fault: .error
    }
  }
}

extension IrrigationNotice {
  /// Whether the notice reports a change of the machine's state.
  public var isOfState: Bool {
    if case .state = subject { return true }
    return false
  }

  /// The event for the schedule, or `nil` if the notice does not concern the schedule.
  public var event: SprinklerEvent? {
    switch subject {
    case .opened(let run), .reopened(let run, _): .opened(run: run.id)
    case .ended(let ended):
      .ended(
        run: ended.run.id, ranSeconds: ended.ran.inSeconds, outcome: ended.outcome, pulses: ended.pulses)
    case .extended, .state, .master, .flowAlarm, .flowNormal, .linesDiffer, .linesAgree: nil
    }
  }
}

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

// Events for subscribers, in addition to the state.
extension SprinklerDesk {
  /// The values that the last events reported, so that only changes are reported.
  struct LastTold {
    var rain: RainDelay?
    /// The last reported countdown of each open zone, in seconds.
    var countdowns: [ZoneID: Int] = [:]
  }

  /// Returns an event for each second of an open zone's countdown, and for each change of the rain delay. The app of
  /// the requirement depends on these events.
  func events(_ published: Published<SprinklerSnapshot>, at now: TickInstant) -> [Event] {
    let (newest, records) = (published.state, view.records)
    // A countdown of 0 is not an event; the event of the closed valve reports it.
    let countdowns = records.zones.compactMap { zone in
      newest[zone.id].remaining(at: now).map { (zone: zone.id, seconds: $0.wholeSecondsUp) }
    }.filter { $0.seconds > 0 }
    let (hasRainChanged, reached) = lastTold.withLock { told in
      let news = (told.rain != records.rainDelay, countdowns.filter { told.countdowns[$0.zone] != $0.seconds })
      told.rain = records.rainDelay
      told.countdowns = Dictionary(uniqueKeysWithValues: countdowns.map { ($0.zone, $0.seconds) })
      return news
    }
    let rain =
      hasRainChanged
      ? [
        Event(
          .edge, type: "rain", system: Sprinkler.name, at: newest.at, body: SprinklerFields.rain.json(seen().rain))
      ] : []
    return reached.map { zone, seconds in
      let event = ZoneEvent(id: Int(zone.number), isOn: true, remainingSec: seconds)
      return Event(.state, type: "zone", system: Sprinkler.name, at: now, json: event)
    } + rain
  }

  /// Returns the zone's present state for an event: `{"type":"zone","id":3,"isOn":true,"remainingSec":899}`.
  func event(of zone: ZoneID) -> ZoneEvent {
    let newest = newest
    let status = newest[zone]
    let remaining = status.remaining(at: max(now, newest.at))?.wholeSecondsUp
    lastTold.withLock { $0.countdowns[zone] = remaining }
    return ZoneEvent(id: Int(zone.number), isOn: status.isOn, remainingSec: remaining ?? 0)
  }
}

struct ZoneEvent: Encodable {
  let id: Int
  let isOn: Bool
  /// The time until the valve closes, in seconds; 0 if it is closed.
  let remainingSec: Int
}
