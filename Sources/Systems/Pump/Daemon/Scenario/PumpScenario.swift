@_spi(FromOutside) import Conversions
import Pump
import Tactus
import TactusDaemon
import Wire

/// The world of a pump's scenario, with the production loops of the pump and of its operator.
struct PumpScenario: ScenarioWorld {
  struct Setup {
    var simulation = PumpSimulation.Configuration()
    /// Whether the pump runs the original firmware, whose settings are its own.
    var isOriginal = false
    var dialect = PumpDialect.firmware
    var silenceLimit: Nanoseconds?
  }

  static let part: String? = "pump"
  static var standard: Setup { Setup() }
  static func duration(_ setup: Setup) -> Nanoseconds { .seconds(60) }
  var timeline: ScenarioTimeline
  private let simulation: PumpSimulation
  /// The requests whose answers have not arrived yet, by their numbers.
  private var asked: [UInt64: String] = [:]
  /// The instant at which the pressed button is to be released, or `nil` if it is not pressed.
  private var released: TickInstant?

  init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) throws {
    self.timeline = timeline
    var configuration = setup.simulation
    configuration.device =
      try setup.isOriginal
      ? .original : PumpDeviceSettings(dialect: setup.dialect, silenceLimit: setup.silenceLimit)
    configuration.seed = seed
    simulation = try PumpSimulation(configuration)
    simulation.world.setBody(celsius: configuration.world.bodyCelsius)
  }

  var now: TickInstant { simulation.now }

  mutating func run(to instant: TickInstant) {
    if let up = released, up <= instant {
      advance(to: up)
      simulation.world.press(false)
      released = nil
    }
    advance(to: instant)
  }

  mutating func finish() {
    simulation.stop()
    printNews()
    let snapshot = simulation.snapshot
    timeline.print(
      "line: connections \(snapshot.connections), commands \(snapshot.sent), not sent \(snapshot.sendFailures), replies "
        + "\(snapshot.lines), malformed \(snapshot.malformed), came to nothing \(snapshot.failures)")
    timeline.printTrace(simulation.traceHash)
  }

  private mutating func advance(to instant: TickInstant) {
    if instant > simulation.now { simulation.run(for: instant - simulation.now) }
    printNews()
  }

  /// Prints the notices and answers of both sides since the last call, in the order of time.
  private mutating func printNews() {
    var news: [(at: TickInstant, who: String, text: String)] = []
    for answer in simulation.takeAnswers() {
      guard let word = asked.removeValue(forKey: answer.number) else { continue }
      if case .refused(let reason) = answer.verdict {
        news.append((answer.at, "operator", "\(word) refused: \(reason)"))
      }
    }
    for told in simulation.takeDeviceNotices() + simulation.takeNotices() {
      switch told.notice {
      case .own(let state, _): news.append((told.at, "pump", "\(state)"))
      case .outputFails(let failure): news.append((told.at, "pump", "its output fails: \(failure)"))
      case .state(let state, let source):
        news.append((told.at, "operator", "\(state)" + (source.map { ", by \($0)" } ?? "")))
      case .contact(let contact): news.append((told.at, "operator", "\(contact)"))
      case .failed(let failure): news.append((told.at, "operator", "\(failure)"))
      }
    }
    for (_, one) in news.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
      timeline.say(one.at, one.who, one.text)
    }
  }

  // MARK: keys

  private static var celsius: ScenarioValue<Double> { .number(-60...150) }
  private static var perMillion: ScenarioValue<UInt32> {
    ScenarioValue<Int>.integer(0...1_000_000).map { UInt32(clamping: $0) }
  }

  static var keys: [ScenarioWord<Setup>] {
    let operating = ScenarioValue.configuration(with: "pump.role operator") { configuration in
      configuration.settings(of: Pump.self).flatMap { $0.wiring.role == .operator ? $0.rules.operating : nil }
    }
    let setup = ScenarioValue<Setup>.keys(
      of: Setup(),
      [
        ScenarioWord("config", operating) { $0.simulation.settings = $1 },
        ScenarioWord("firmware", .word(["solved": false, "original": true])) { $0.isOriginal = $1 },
        ScenarioWord("dialect", .word(["firmware": PumpDialect.firmware, "legacy": .legacy])) { $0.dialect = $1 },
        ScenarioWord("silence_limit_s", .number(1...3_600)) { $0.silenceLimit = .seconds($1) },
        ScenarioWord("water_celsius", celsius) { $0.simulation.world.waterCelsius = $1 },
        ScenarioWord("skin_celsius", celsius) { $0.simulation.world.skinCelsius = $1 },
        ScenarioWord("body_celsius", celsius) { $0.simulation.world.bodyCelsius = $1 },
        ScenarioWord("lost_per_million", perMillion) { $0.simulation.line.lostPerMillion = $1 },
        ScenarioWord("changed_per_million", perMillion) { $0.simulation.line.changedPerMillion = $1 },
      ])
    return [
      ScenarioWord(
        "pump",
        setup.checked(at: "firmware") { setup in
          setup.isOriginal && (setup.dialect == .legacy || setup.silenceLimit != nil)
            ? "expected solved with dialect legacy or silence_limit_s, got original" : nil
        }
      ) { $0 = $1 }
    ]
  }

  // MARK: events

  private enum Line: String, CaseIterable {
    case plugged
    /// The line is unplugged, and the operator's computer notices.
    case unplugged
    /// The line is cut without any sign.
    case cut
  }

  private static let faults: KeyValuePairs<String, PumpWorld.Fault> = [
    "water-open": .waterSensorOpen, "water-shorted": .waterSensorShorted, "skin-open": .skinSensorOpen,
    "skin-shorted": .skinSensorShorted, "dry-run": .dryRun, "stuck": .stuck, "inputs-gone": .inputsGone,
    "output-gone": .outputGone,
  ]

  static func events(_ setup: Setup) -> [ScenarioWord<Self>] {
    let speed = ScenarioValue<Int>.integer(0...100).map { PumpSpeed(percent: UInt8(clamping: $0)) }
    return [
      // A percentage, or `true` for the pump's initial speed.
      ScenarioWord("turn_on", speed.map { Optional($0) }.orTrue(nil)) { world, speed in
        world.ask(.turnOn(speed), speed.map { "on at \($0.percent) %" } ?? "on")
      },
      ScenarioWord("turn_off") { $0.ask(.turnOff, "off") },
      ScenarioWord("speed_percent", speed) { $0.ask(.setSpeed($1), "speed \($1.percent) %") },
      ScenarioWord("emergency_stop") { $0.ask(.emergencyStop, "emergency stop") },
      ScenarioWord("reset") { $0.ask(.reset, "reset") },
      ScenarioWord("line", .word) { $0.set($1) },
      ScenarioWord("fault", .word(faults)) { world, fault in
        world.say("world", "\(fault)")
        world.simulation.world.inject(fault)
      },
      ScenarioWord("mended") { world in
        world.say("world", "mended")
        for fault in PumpWorld.Fault.allCases { world.simulation.world.clear(fault) }
      },
      ScenarioWord("button") { world in
        world.say("person", "presses the button")
        world.simulation.world.press(true)
        world.released = world.now + .milliseconds(300)
      },
      ScenarioWord("body_celsius", celsius) { world, celsius in
        world.say("world", "the body tends to \(ScenarioTimeline.number(celsius)) °C")
        world.simulation.world.setBody(celsius: celsius)
      },
      ScenarioWord("skin_celsius", celsius) { world, celsius in
        world.say("world", "the skin is held at \(ScenarioTimeline.number(celsius)) °C")
        world.simulation.world.holdSkin(celsius: celsius)
      },
      ScenarioWord("skin_free") { world in
        world.say("world", "the skin is let go")
        world.simulation.world.holdSkin(celsius: nil)
      },
      .stall { $0.simulation.stall(PumpSimulation.operatorLoop, at: $0.now, by: $1) },
    ]
  }

  private mutating func ask(_ order: PumpOrder, _ word: String) {
    say("person", word)
    asked[simulation.request(order)] = word
  }

  private func set(_ line: Line) {
    say("line", line.rawValue)
    switch line {
    case .plugged: simulation.cable.plugIn()
    case .unplugged: simulation.cable.unplug()
    case .cut: simulation.cable.cut()
    }
  }

  // MARK: checks

  static func checks(_ setup: Setup) -> [ScenarioCheck<Self>] {
    let states = PumpSeen.StateWord.allCases
    let ofPump = states.filter { $0 != .unknown && $0 != .starting }
    return [
      // The operator's view: its state, and whether the pump has confirmed an off.
      ScenarioCheck("state", .word(states.map(\.scenarioName))) { $0.simulation.snapshot.state.word.scenarioName },
      ScenarioCheck("off_confirmed", .boolean) {
        $0.simulation.snapshot.state.off.map { "\($0.isConfirmed)" } ?? "no off"
      },
      ScenarioCheck(
        "fault",
        .word([
          "run-limit", "safety-shutoff", "overheat", "sensor-fault", "start-failed", "pump-error", "missed-releases",
          "external-stop",
        ])
      ) { if case .fault(let fault, _) = $0.simulation.snapshot.state { fault.name } else { "none" } },
      ScenarioCheck("reason", .part) { "\($0.simulation.snapshot.state)" },
      ScenarioCheck("contact", .word(PumpContact.names)) { $0.simulation.snapshot.contact.name },
      ScenarioCheck("source", .word(["app", "manual", "device", "host"])) {
        $0.simulation.snapshot.source.map { "\($0)" } ?? "nobody knows"
      },
      // The true state of the pump.
      ScenarioCheck("pump", .word(ofPump.map(\.scenarioName))) { $0.simulation.device.state.word.scenarioName },
      ScenarioCheck("motor_percent", .range) { Double($0.simulation.world.reading.duty.percent) },
      ScenarioCheck("skin_celsius", .range) { $0.simulation.world.reading.skinCelsius },
      ScenarioCheck("water_celsius", .range) { $0.simulation.world.reading.waterCelsius },
      // The running time since the last rest, and what is left of the run limit.
      ScenarioCheck("pumped_s", .range) { $0.simulation.snapshot.spent.inSeconds },
      ScenarioCheck("left_s", .range) { $0.simulation.snapshot.left?.inSeconds ?? .infinity },
      // Requests refused so far.
      ScenarioCheck("refused", .range) { Double($0.simulation.snapshot.ignored) },
    ]
  }
}

extension PumpSeen.StateWord {
  /// The state's name in a scenario file.
  fileprivate var scenarioName: String {
    switch self {
    case .emergencyStopped: "e-stop"
    case .shutDown: "shut-down"
    case .unknown, .off, .starting, .on, .fault: rawValue
    }
  }
}
