import Buses
import Devices
import Robot
import Tactus
import Wire

/// A scenario being played: production loops in simulated time, and the timeline of what happened.
struct ScenarioRun {
  let scenario: Scenario
  private var timeline: ScenarioTimeline
  private let simulation: RobotSimulation
  private var conditions: SimulatedNetwork.Conditions
  private var isLinkUp = true

  /// - Parameter print: takes each line of the timeline.
  init(_ scenario: Scenario, print: @escaping (String) -> Void) throws(RuntimeError) {
    self.scenario = scenario
    timeline = ScenarioTimeline(print: print)
    conditions = scenario.conditions
    var setup = RobotSimulation.Configuration(scenario.settings)
    setup.conditions = scenario.conditions
    setup.operators = scenario.operators
    setup.seed = scenario.seed
    simulation = try RobotSimulation(setup)
  }

  /// Plays it to the end. True when every expectation was met.
  mutating func play() -> Bool {
    timeline.print("\(scenario.name) (seed \(scenario.seed))")
    var schedule = ScenarioSchedule(scenario.events, scenario.expectations, duration: scenario.duration)
    while let (at, step) = schedule.next() {
      advance(to: at)
      switch step {
      case .event(let event): apply(event)
      case .expectation(let expectation): check(expectation)
      }
    }
    advance(to: schedule.end)
    for (at, text) in schedule.late { timeline.fail(at, text) }
    simulation.stop()
    printNotices()
    summarize()
    return timeline.conclude()
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
      timeline.say(notice.at, "robot", text)
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
      case .state(let expected):
        timeline.compare(expectation.at, "state", expected, simulation.robot.state.name)
      case .link(let expected):
        timeline.compare(expectation.at, "link", expected, simulation.operators[0].snapshot.connection.name)
      case .reason(let part): timeline.find(expectation.at, "reason", part, in: "\(simulation.robot.state)")
      case .quantity(let quantity, let range):
        timeline.measure(expectation.at, quantity.rawValue, range, value(of: quantity))
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

  // MARK: lines

  private func say(_ who: String, _ text: String) { timeline.say(simulation.now, who, text) }

  private func number(_ value: Double) -> String { ScenarioTimeline.number(value) }

  private func summarize() {
    let counters = simulation.robot.counters
    let network = simulation.network.statistics
    if let loop = simulation.statistics[RobotSimulation.robotLoop]?.counters {
      timeline.print(
        "loop: released \(loop.released) = ran \(loop.ran) + skipped \(loop.skipped) + pending \(loop.pending); "
          + "by input \(loop.byInput), by deadline \(loop.byDeadline)")
    }
    timeline.print(
      "network: sent \(network.sent), delivered \(network.delivered), lost \(network.lost), duplicated "
        + "\(network.duplicated); robot: datagrams \(counters.datagrams), accepted \(counters.accepted), ignored "
        + "\(counters.ignored), motor writes \(counters.writes), failed \(counters.writeFailures)")
    timeline.print("trace \(String(simulation.traceHash, radix: 16)): the same for the same file and seed")
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
