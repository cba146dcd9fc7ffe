import Buses
import Devices
import Robot
import Service
import Tactus
import TactusDaemon
import Wire

/// A robot's scenario being played: the production loops of robot and operators.
struct RobotScenarioRun: ScenarioRun {
  let scenario: RobotScenario.Script
  var timeline: ScenarioTimeline
  private let simulation: RobotSimulation
  private var conditions: SimulatedNetwork.Conditions
  private var isLinkUp = true

  /// - Parameter print: takes each line of the timeline.
  init(_ scenario: RobotScenario.Script, print: @escaping (String) -> Void) throws(RuntimeError) {
    self.scenario = scenario
    timeline = ScenarioTimeline(print: print)
    conditions = scenario.setup.conditions
    var configuration = RobotSimulation.Configuration(scenario.setup.settings)
    configuration.conditions = scenario.setup.conditions
    configuration.operators = scenario.setup.operators
    configuration.seed = scenario.seed
    simulation = try RobotSimulation(configuration)
  }

  var now: TickInstant { simulation.now }

  func run(to instant: TickInstant) {
    if instant > simulation.now { simulation.run(for: instant - simulation.now) }
    printNotices()
  }

  func finish() {
    simulation.stop()
    printNotices()
    summarize()
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

  mutating func apply(_ event: RobotScenario.Event) {
    let person = simulation.operators[event.person]
    let who = scenario.setup.operators == 1 ? "operator" : "operator \(event.person)"
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

  private func inject(_ fault: RobotScenario.BusFault) {
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

  mutating func check(_ check: RobotScenario.Check, at: Nanoseconds) {
    switch check {
    case .state(let expected): timeline.compare(at, "state", expected, simulation.robot.state.name)
    case .link(let expected):
      timeline.compare(at, "link", expected, simulation.operators[0].snapshot.connection.name)
    case .reason(let part): timeline.find(at, "reason", part, in: "\(simulation.robot.state)")
    case .quantity(let quantity, let range): timeline.measure(at, quantity.rawValue, range, value(of: quantity))
    }
  }

  private func value(of quantity: RobotScenario.Quantity) -> Double {
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
    timeline.printTrace(simulation.traceHash)
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
