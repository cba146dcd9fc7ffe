import Pump
import Tactus
import TactusDaemon
import Wire

/// A pump's scenario being played: the production loops of both sides.
struct PumpScenarioRun: ScenarioRun {
  let scenario: PumpScenario.Script
  var timeline: ScenarioTimeline
  private let simulation: PumpSimulation
  /// Requests whose answer is still to come.
  private var asked: [UInt64: String] = [:]
  /// The button's way up again.
  private var released: TickInstant?

  /// - Parameter print: takes each line of the timeline.
  init(_ scenario: PumpScenario.Script, print: @escaping (String) -> Void) throws(RuntimeError) {
    self.scenario = scenario
    timeline = ScenarioTimeline(print: print)
    var configuration = scenario.setup
    configuration.seed = scenario.seed
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
    summarize()
  }

  private mutating func advance(to instant: TickInstant) {
    if instant > simulation.now { simulation.run(for: instant - simulation.now) }
    printNews()
  }

  /// What both sides have told since, in the order of time.
  private mutating func printNews() {
    var news: [(at: TickInstant, who: String, text: String)] = []
    for answer in simulation.takeAnswers() {
      guard let word = asked.removeValue(forKey: answer.number) else { continue }
      if case .ignored(let reason) = answer.verdict {
        news.append((answer.at, "operator", "\(word) refused: \(reason)"))
      }
    }
    for notice in simulation.takeDeviceNotices() {
      let text =
        switch notice.subject {
        case .state(let state): "\(state)"
        case .outputFails(let failure): "its output fails: \(failure)"
        }
      news.append((notice.at, "pump", text))
    }
    for notice in simulation.takeNotices() {
      let text =
        switch notice.subject {
        case .state(let state, let source): "\(state)" + (source.map { ", by \($0)" } ?? "")
        case .contact(let contact): "\(contact)"
        case .failed(let failure): "\(failure)"
        }
      news.append((notice.at, "operator", text))
    }
    for (_, one) in news.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
      timeline.say(one.at, one.who, one.text)
    }
  }

  mutating func apply(_ action: PumpScenario.Action) {
    let world = simulation.world
    switch action {
    case .request(let order):
      let word = Self.word(order)
      say("person", word)
      asked[simulation.request(order)] = word
    case .line(let line):
      say("line", line.rawValue)
      switch line {
      case .plugged: simulation.cable.plugIn()
      case .unplugged: simulation.cable.unplug()
      case .cut: simulation.cable.cut()
      }
    case .fault(let fault):
      say("world", "\(fault)")
      world.inject(fault)
    case .mended:
      say("world", "mended")
      for fault in PumpWorld.Fault.allCases { world.clear(fault) }
    case .button:
      say("person", "presses the button")
      world.press(true)
      released = simulation.now + .milliseconds(300)
    case .body(let celsius):
      say("world", "the body tends to \(ScenarioTimeline.number(celsius)) °C")
      world.setBody(celsius: celsius)
    case .skin(let celsius):
      say("world", celsius.map { "the skin is held at \(ScenarioTimeline.number($0)) °C" } ?? "the skin is let go")
      world.holdSkin(celsius: celsius)
    case .stall(let span):
      simulation.stall(PumpSimulation.operatorLoop, at: simulation.now, by: span)
      say("loop", "the next tick takes \(span) longer")
    }
  }

  private static func word(_ order: PumpRequest.Order) -> String {
    switch order {
    case .turnOn(let speed?): "on at \(speed.percent) %"
    case .turnOn(nil): "on"
    case .turnOff: "off"
    case .setSpeed(let speed): "speed \(speed.percent) %"
    case .emergencyStop: "emergency stop"
    case .reset: "reset"
    case .readTemperatures, .watched, .quit, .query: "\(order)"
    }
  }

  // MARK: expectations

  mutating func check(_ check: PumpScenario.Check, at: Nanoseconds) {
    let snapshot = simulation.snapshot
    switch check {
    case .state(let expected): timeline.compare(at, "state", expected, snapshot.state.scenarioName)
    case .offConfirmed(let expected):
      let isConfirmed = snapshot.state.off.map { "\($0.isConfirmed)" } ?? "no off"
      timeline.compare(at, "off_confirmed", "\(expected)", isConfirmed)
    case .fault(let expected):
      var got = "none"
      if case .fault(let fault, _) = snapshot.state { got = fault.name }
      timeline.compare(at, "fault", expected, got)
    case .reason(let part): timeline.find(at, "reason", part, in: "\(snapshot.state)")
    case .contact(let expected): timeline.compare(at, "contact", expected, snapshot.contact.name)
    case .source(let expected):
      timeline.compare(at, "source", expected, snapshot.source.map { "\($0)" } ?? "nobody knows")
    case .pump(let expected): timeline.compare(at, "pump", expected, simulation.device.state.scenarioName)
    case .quantity(let quantity, let range): timeline.measure(at, quantity.rawValue, range, value(of: quantity))
    }
  }

  private func value(of quantity: PumpScenario.Quantity) -> Double {
    switch quantity {
    case .motor: Double(simulation.world.reading.duty.percent)
    case .skin: simulation.world.reading.skinCelsius
    case .water: simulation.world.reading.waterCelsius
    case .pumped: Double(simulation.snapshot.spent.count) / 1e9
    case .left: simulation.snapshot.left.map { Double($0.count) / 1e9 } ?? .infinity
    case .refused: Double(simulation.snapshot.ignored)
    }
  }

  private func summarize() {
    let snapshot = simulation.snapshot
    timeline.print(
      "line: connections \(snapshot.connections), commands \(snapshot.sent), not sent \(snapshot.sendFailures), replies "
        + "\(snapshot.lines), malformed \(snapshot.malformed), came to nothing \(snapshot.failures)")
    timeline.printTrace(simulation.traceHash)
  }
}
