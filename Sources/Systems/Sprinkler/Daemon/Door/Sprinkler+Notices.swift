import Logging
import Service
import Sprinkler
import Tactus
import TactusDaemon
import Wire

// The control knows no daemon: what its type is to one is said here, and nowhere else.
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
      JSONValue.object([.init(name: "alarm", value: alarm.map { .text(lines.words(of: $0)) } ?? .null)]).bytes
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
    case .flowAlarm(let alarm): return line(.error, ["alarm": "\(lines.words(of: alarm))"], type: "flow", flow(alarm))
    case .flowNormal: return line(.notice, type: "flow", flow(nil))
    case .linesDiffer(let told, let read):
      let differing = lines.differing(told: told, read: read).map { $0.words() }.joined(separator: "; ")
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
