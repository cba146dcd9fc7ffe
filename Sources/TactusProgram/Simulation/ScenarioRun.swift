import Buses
import Devices
import Robot
import Tactus
import Wire

/// A scenario being played: production loops in simulated time, and the timeline of what happened.
struct ScenarioRun {
  let scenario: Scenario
  /// Takes each line of the timeline.
  let print: (String) -> Void
  private let simulation: RobotSimulation
  private var conditions: SimulatedNetwork.Conditions
  private var isLinkUp = true
  private(set) var failures = 0

  init(_ scenario: Scenario, print: @escaping (String) -> Void) throws(RuntimeError) {
    self.scenario = scenario
    self.print = print
    conditions = scenario.conditions
    var setup = RobotSimulation.Configuration(scenario.settings)
    setup.conditions = scenario.conditions
    setup.operators = scenario.operators
    setup.seed = scenario.seed
    simulation = try RobotSimulation(setup)
  }

  /// Plays it to the end. True when every expectation was met.
  mutating func play() -> Bool {
    print("\(scenario.name) (seed \(scenario.seed))")
    var events = scenario.events[...]
    var expectations = scenario.expectations[...]
    let end = TickInstant.zero + scenario.duration
    while true {
      let nextEvent = events.first.map { TickInstant.zero + $0.at } ?? .distantFuture
      let nextExpectation = expectations.first.map { TickInstant.zero + $0.at } ?? .distantFuture
      let next = min(nextEvent, nextExpectation)
      guard next <= end else { break }
      advance(to: next)
      if nextEvent <= nextExpectation {
        apply(events.removeFirst())
      } else {
        check(expectations.removeFirst())
      }
    }
    advance(to: end)
    for late in expectations { fail(late.at, "after the end of the scenario: never checked") }
    for late in events { fail(late.at, "after the end of the scenario: never happened") }
    simulation.stop()
    printNotices()
    summarize()
    return failures == 0
  }

  private func advance(to instant: TickInstant) {
    if instant > simulation.now { simulation.run(for: instant - simulation.now) }
    printNotices()
  }

  private func printNotices() {
    for notice in simulation.takeNotices() {
      let text =
        switch notice.subject {
        case .state(let state): "\(state)"
        case .motorsFail(let failure): "motor write failed: \(failure)"
        case .motorsAnswer: "the motors answer again"
        }
      line(notice.at, "robot", text)
    }
  }

  private mutating func apply(_ event: Scenario.Event) {
    let person = simulation.operators[event.person]
    let who = scenario.operators == 1 ? "operator" : "operator \(event.person)"
    switch event.action {
    case .controls(let input):
      person.set(input)
      say(who, "controls: left \(number(input.speeds.left.value)) %, right \(number(input.speeds.right.value)) %")
    case .stop: ask(person, .stop, who)
    case .emergencyStop: ask(person, .emergencyStop, who)
    case .reset: ask(person, .reset, who)
    case .link(let isUp):
      isLinkUp = isUp
      setConditions()
      say("link", isUp ? "up" : "down")
    case .network(let new):
      conditions = new
      setConditions()
      say(
        "network",
        "delay \(new.delay), jitter \(new.jitter), loss \(new.lossPerMille) ‰, duplication \(new.duplicationPerMille) ‰, "
          + "reordering \(new.reorderingPerMille) ‰")
    case .bus(let fault): inject(fault)
    case .stall(let span):
      simulation.stallRobot(at: simulation.now, by: span)
      say("loop", "the next tick takes \(span) longer")
    }
  }

  private func ask(_ person: SimulatedOperator, _ request: OperatorRequest, _ who: String) {
    person.request(request)
    say(who, "\(request)")
  }

  private func setConditions() {
    var inForce = conditions
    if !isLinkUp { inForce.lossPerMille = 1000 }
    simulation.network.conditions = inForce
  }

  private func inject(_ fault: Scenario.BusFault) {
    simulation.bus.clearFaults()
    switch fault {
    case .none: say("bus", "works")
    case .stuck:
      simulation.bus.inject(.stuck)
      say("bus", "stuck")
    case .noAcknowledge:
      simulation.bus.inject(.noAcknowledge(address: YBPcbCar.standardAddress, count: nil))
      say("bus", "the board does not answer")
    case .refuses(let perMille):
      simulation.bus.inject(.randomNoAcknowledge(perMille: perMille))
      say("bus", "\(perMille) ‰ of the transfers are not acknowledged")
    }
  }

  // MARK: expectations

  private mutating func check(_ expectation: Scenario.Expectation) {
    for check in expectation.checks {
      switch check {
      case .state(let expected): compare(expectation.at, "state", expected, simulation.robot.state.name)
      case .link(let expected):
        compare(expectation.at, "link", expected, simulation.operators[0].snapshot.connection.name)
      case .reason(let part):
        let text = "\(simulation.robot.state)"
        if text.contains(part) {
          pass("reason \(part)")
        } else {
          fail(expectation.at, "reason: expected \(part), got \(text)")
        }
      case .quantity(let quantity, let range):
        let value = self.value(of: quantity)
        let expected =
          range.lowerBound == range.upperBound
          ? number(range.lowerBound) : "\(number(range.lowerBound))…\(number(range.upperBound))"
        if range.contains(value) {
          pass("\(quantity.rawValue) \(number(value)) in \(expected)")
        } else {
          fail(expectation.at, "\(quantity.rawValue): expected \(expected), got \(number(value))")
        }
      }
    }
  }

  private func value(of quantity: Scenario.Quantity) -> Double {
    switch quantity {
    case .leftPercent: simulation.robot.speeds.left.value
    case .rightPercent: simulation.robot.speeds.right.value
    case .speed: (simulation.world.speeds.left + simulation.world.speeds.right) / 2
    case .x: simulation.world.pose.x
    case .y: simulation.world.pose.y
    case .skipped: Double(simulation.statistics[RobotSimulation.robotLoop]?.counters.skipped ?? 0)
    case .writeFailures: Double(simulation.robot.counters.writeFailures)
    }
  }

  private mutating func compare(_ at: Nanoseconds, _ name: String, _ expected: String, _ got: String) {
    if expected == got { pass("\(name) \(got)") } else { fail(at, "\(name): expected \(expected), got \(got)") }
  }

  private func pass(_ text: String) { say("ok", text) }

  private mutating func fail(_ at: Nanoseconds, _ text: String) {
    failures += 1
    line(.zero + at, "FAILED", text)
  }

  // MARK: lines

  private func say(_ who: String, _ text: String) { line(simulation.now, who, text) }

  private func line(_ at: TickInstant, _ who: String, _ text: String) {
    let microseconds = (at - .zero).count / 1_000
    let decimals = String(1_000_000 + microseconds % 1_000_000).dropFirst().prefix(3)
    let time = "\(microseconds / 1_000_000).\(decimals) s"
    let indent = String(repeating: " ", count: max(0, 12 - time.count))
    let padding = String(repeating: " ", count: max(1, 12 - who.count))
    print("\(indent)\(time)  \(who)\(padding)\(text)")
  }

  private func number(_ value: Double) -> String {
    let thousandths = (value * 1000).rounded()
    guard abs(thousandths) < 1e15 else { return "\(value)" }
    let whole = Int(thousandths.magnitude)
    var text = "\(whole / 1000)"
    if whole % 1000 != 0 {
      var decimals = String(1000 + whole % 1000).dropFirst()
      while decimals.last == "0" { decimals.removeLast() }
      text += "." + decimals
    }
    return (thousandths < 0 ? "−" : "") + text
  }

  private func summarize() {
    let counters = simulation.robot.counters
    let network = simulation.network.statistics
    if let loop = simulation.statistics[RobotSimulation.robotLoop]?.counters {
      print(
        "loop: released \(loop.released) = ran \(loop.ran) + skipped \(loop.skipped) + pending \(loop.pending); "
          + "by input \(loop.byInput), by deadline \(loop.byDeadline)")
    }
    print(
      "network: sent \(network.sent), delivered \(network.delivered), lost \(network.lost), duplicated "
        + "\(network.duplicated); robot: datagrams \(counters.datagrams), accepted \(counters.accepted), ignored "
        + "\(counters.ignored), motor writes \(counters.writes), failed \(counters.writeFailures)")
    print("trace \(String(simulation.traceHash, radix: 16)): the same for the same file and seed")
    print(failures == 0 ? "every expectation was met" : "\(failures) expectation\(failures == 1 ? "" : "s") not met")
  }
}

extension RobotState {
  /// The state's name in a scenario file.
  fileprivate var name: String {
    switch self {
    case .stopped, .shutDown: "stopped"
    case .driving: "driving"
    case .emergencyStopped: "e-stop"
    case .fault: "fault"
    }
  }
}

extension Connection {
  fileprivate var name: String {
    switch self {
    case .noReplyYet: "none"
    case .alive: "alive"
    case .lost: "lost"
    }
  }
}
