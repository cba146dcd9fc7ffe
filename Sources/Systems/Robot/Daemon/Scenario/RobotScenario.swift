import Buses
@_spi(FromOutside) import Conversions
import Devices
import Robot
import Service
import Tactus
import TactusDaemon
import Wire

/// The world of a robot's scenario, with the production loops of robot and operators. A file without the part of another
/// system is such a scenario.
struct RobotScenario: ScenarioWorld {
  typealias Setup = RobotSimulation.Configuration

  static let part: String? = nil
  static var standard: Setup { Setup() }
  static func duration(_ setup: Setup) -> Nanoseconds { .seconds(10) }
  var timeline: ScenarioTimeline
  private let simulation: RobotSimulation
  private var conditions: SimulatedNetwork.Conditions
  private var isLinkUp = true

  init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) throws(RuntimeError) {
    self.timeline = timeline
    conditions = setup.conditions
    var configuration = setup
    configuration.seed = seed
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
        switch notice.notice {
        case .state(let state): "\(state)"
        case .motorsFail(let failure): "motor write failed: \(failure)"
        case .batteryLow(let percent): "the battery is low: \(percent) %"
        case .motorsAnswer: "the motors answer again"
        }
      timeline.say(notice.at, "robot", text)
    }
  }

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

  // MARK: keys

  static var keys: [ScenarioWord<Setup>] {
    [
      ScenarioWord("config", .configuration(with: "motors") { $0.settings(of: Robot.self) }) {
        $0.settings = Robot.loopRules($1.wiring, $1.rules)
        $0.board = $1.wiring.robotBoard
        $0.mount = $1.wiring.mount
        $0.readsLine = $1.wiring.lineSensor
        $0.batteryLowPercent = $1.wiring.batteryLow
        $0.inertial = $1.wiring.simulatedInertial
      },
      ScenarioWord("operators", .integer(1...8)) { $0.operators = $1 },
      ScenarioWord("network", network) { $0.conditions = $1 },
    ]
  }

  private static var network: ScenarioValue<SimulatedNetwork.Conditions> {
    .keys(
      of: SimulatedNetwork.Conditions(),
      [
        ScenarioWord("delay_ms", .number(0...60_000)) { $0.delay = .seconds($1 / 1000) },
        ScenarioWord("jitter_ms", .number(0...60_000)) { $0.jitter = .seconds($1 / 1000) },
        ScenarioWord("loss_percent", perMille) { $0.lossPerMille = $1 },
        ScenarioWord("duplication_percent", perMille) { $0.duplicationPerMille = $1 },
        ScenarioWord("reordering_percent", perMille) { $0.reorderingPerMille = $1 },
      ])
  }

  /// The form of a percentage, which becomes a number of thousandths.
  private static var perMille: ScenarioValue<Int> {
    ScenarioValue<Double>.number(0...100).map { Int(saturating: ($0 * 10).rounded()) }
  }

  // MARK: events

  static func events(_ setup: Setup) -> [ScenarioWord<Self>] {
    let person = ScenarioCompany("operator", .integer(0...setup.operators - 1), or: 0)
    func asks(_ name: String, _ request: OperatorRequest) -> ScenarioWord<Self> {
      ScenarioWord(name, .alwaysTrue, with: person) { world, _, person in
        world.simulation.operators[person].request(request)
        world.say(world.name(of: person), "\(request)")
      }
    }
    return [
      ScenarioWord("joystick", .pair(-1...1), with: person) { $0.set(.joystick(x: $1.0, y: $1.1), by: $2) },
      ScenarioWord("wheels", .pair(-100...100), with: person) { world, speeds, person in
        world.set(.wheels(WheelSpeeds(left: Percent(speeds.0), right: Percent(speeds.1))), by: person)
      },
      ScenarioWord("rest", .alwaysTrue, with: person) { world, _, person in world.set(.rest, by: person) },
      asks("stop", .stop),
      asks("emergency_stop", .emergencyStop),
      asks("reset", .reset),
      ScenarioWord("link", .word(["up": true, "down": false])) { world, isUp in
        world.isLinkUp = isUp
        world.setConditions()
        world.say("link", isUp ? "up" : "down")
      },
      ScenarioWord("network", network) { world, new in
        world.conditions = new
        world.setConditions()
        world.say(
          "network",
          "delay \(new.delay), jitter \(new.jitter), loss \(new.lossPerMille) ‰, duplication \(new.duplicationPerMille) "
            + "‰, reordering \(new.reorderingPerMille) ‰")
      },
      .stall { $0.simulation.stallRobot(at: $0.now, by: $1) },
    ] + ofBoard(setup.board) + (setup.inertial == nil ? [] : inertial)
  }

  private static func ofBoard(_ board: RobotSimulation.Board) -> [ScenarioWord<Self>] {
    switch board {
    case .ybPcbCar: [onBus(at: YBPcbCar.standardAddress), look]
    case .raspbotV2: [onBus(at: RaspbotV2.standardAddress), look, beep] + distance
    case .xgoRider: balance
    }
  }

  private static func onBus(at address: I2CAddress) -> ScenarioWord<Self> {
    ScenarioWord("bus", bus(address)) { world, bus in world.inject(bus) }
  }

  /// A client of the service turns the camera mount.
  private static var look: ScenarioWord<Self> {
    ScenarioWord("look", .pair(0...180)) { world, angles in
      let (pan, tilt) = (Int(saturating: angles.0), Int(saturating: angles.1))
      world.simulation.request(.fitting(.look(pan: pan, tilt: tilt)), client: 1)
      world.say("client", "look: pan \(pan), tilt \(tilt) degrees")
    }
  }

  /// A client of the service sounds the buzzer.
  private static var beep: ScenarioWord<Self> {
    ScenarioWord("beep_s", .number(0.05...5)) { world, seconds in
      world.simulation.request(.fitting(.beep(.seconds(seconds))), client: 1)
      world.say("client", "beep for \(ScenarioTimeline.number(seconds)) s")
    }
  }

  /// Events that change the battery and the attitude of an XGO Rider.
  private static var balance: [ScenarioWord<Self>] {
    [
      ScenarioWord("battery_percent", .integer(0...100)) { world, percent in
        world.simulation.rider?.batteryPercent = UInt8(clamping: percent)
        world.say("battery", "\(percent) %")
      },
      ScenarioWord("roll_deg", .number(-180...180)) { world, degrees in
        world.simulation.rider?.rollDegrees = Float(degrees)
        world.say("world", "rolled by \(ScenarioTimeline.number(degrees)) degrees")
      },
      ScenarioWord("pitch_deg", .number(-180...180)) { world, degrees in
        world.simulation.rider?.pitchDegrees = Float(degrees)
        world.say("world", "pitched by \(ScenarioTimeline.number(degrees)) degrees")
      },
      ScenarioWord("board_answers", .word(["yes": true, "no": false])) { world, answers in
        world.simulation.rider?.leavesReadsUnanswered = !answers
        world.say("board", answers ? "answers" : "leaves reads unanswered")
      },
    ]
  }

  /// Events that change the attitude that inertial sensors of the kernel measure. The robot turns at 180 degrees a second.
  private static var inertial: [ScenarioWord<Self>] {
    [
      ScenarioWord("roll_deg", .number(-180...180)) { world, degrees in
        world.simulation.lean.rollDegrees = degrees
        world.say("world", "rolls to \(ScenarioTimeline.number(degrees)) degrees")
      },
      ScenarioWord("pitch_deg", .number(-90...90)) { world, degrees in
        world.simulation.lean.pitchDegrees = degrees
        world.say("world", "pitches to \(ScenarioTimeline.number(degrees)) degrees")
      },
      ScenarioWord("accelerometer", .word(["ok": false, "gone": true])) { world, isGone in
        for sensor in world.simulation.accelerometer { sensor.inject(isGone ? .gone : .none) }
        world.say("accelerometer", isGone ? "gone" : "works")
      },
    ]
  }

  /// Events that change the distance ahead. The wall crosses the x axis, along which the robot starts.
  private static var distance: [ScenarioWord<Self>] {
    [
      ScenarioWord("wall_m", .number(-1_000...1_000)) { world, x in
        world.simulation.vehicle.setWall(x)
        world.say("world", "a wall at \(ScenarioTimeline.number(x)) m")
      },
      ScenarioWord("no_wall", .alwaysTrue) { world, _ in
        world.simulation.vehicle.setWall(nil)
        world.say("world", "no wall")
      },
      ScenarioWord("distance_sensor", .word(["ok": false, "dead": true])) { world, isDead in
        world.simulation.vehicle.setDistanceSensor(isDead: isDead)
        world.say("distance sensor", isDead ? "dead" : "works")
      },
    ]
  }

  private func name(of person: Int) -> String {
    simulation.operators.count == 1 ? "operator" : "operator \(person)"
  }

  /// Sets the controls of an operator, which stay so until they are set again.
  private func set(_ input: OperatorInput, by person: Int) {
    simulation.operators[person].set(input)
    let (left, right) = (input.speeds.left.value, input.speeds.right.value)
    say(
      name(of: person),
      "controls: left \(ScenarioTimeline.number(left)) %, right \(ScenarioTimeline.number(right)) %")
  }

  /// Applies the conditions of the network. While the link is down, no datagram passes in either direction.
  private func setConditions() {
    var inForce = conditions
    if !isLinkUp { inForce.lossPerMille = 1000 }
    simulation.network.conditions = inForce
  }

  /// A fault of the bus, or `nil` for none, with its description.
  private typealias Bus = (fault: SimulatedI2CBus.Fault?, text: String)

  private static func bus(_ address: I2CAddress) -> ScenarioValue<Bus> {
    let silent = SimulatedI2CBus.Fault.noAcknowledge(address: address, count: nil)
    return .word([
      "ok": (nil, "works"), "stuck": (.stuck, "stuck"), "no-acknowledge": (silent, "the board does not answer"),
    ]).orMapping(
      ScenarioWord("refuse_percent", perMille) {
        $0 = (.randomNoAcknowledge(perMille: $1), "\($1) ‰ of the transfers are not acknowledged")
      })
  }

  private func inject(_ bus: Bus) {
    simulation.bus.clearFaults()
    if let fault = bus.fault { simulation.bus.inject(fault) }
    say("bus", bus.text)
  }

  // MARK: checks

  static func checks(_ setup: Setup) -> [ScenarioCheck<Self>] {
    [
      ScenarioCheck("state", .word(["stopped", "driving", "e-stop", "fault"])) { $0.simulation.robot.state.name },
      ScenarioCheck("reason", .part) { "\($0.simulation.robot.state)" },
      ScenarioCheck("link", .word(["none", "alive", "lost"])) {
        $0.simulation.operators[0].snapshot.connection.name
      },
      ScenarioCheck("left_percent", .range) { $0.simulation.robot.speeds.left.value },
      ScenarioCheck("right_percent", .range) { $0.simulation.robot.speeds.right.value },
      ScenarioCheck("speed_m_s", .range) {
        ($0.simulation.world.speeds.left + $0.simulation.world.speeds.right) / 2
      },
      ScenarioCheck("x_m", .range) { $0.simulation.world.pose.x },
      ScenarioCheck("y_m", .range) { $0.simulation.world.pose.y },
      ScenarioCheck("distance_mm", .range) {
        $0.simulation.robot.ahead.map { Double($0.millimetres) } ?? .nan
      },
      ScenarioCheck("roll_deg", .range) { $0.simulation.robot.board.roll?.value ?? .nan },
      ScenarioCheck("pitch_deg", .range) { $0.simulation.robot.board.pitch?.value ?? .nan },
      ScenarioCheck("pan_deg", .range) { $0.simulation.world.pan.map { Double($0) } ?? .nan },
      ScenarioCheck("tilt_deg", .range) { $0.simulation.world.tilt.map { Double($0) } ?? .nan },
      ScenarioCheck("buzzing", .word(["yes", "no"])) { $0.simulation.world.isBuzzing ? "yes" : "no" },
      ScenarioCheck("battery_percent", .range) { $0.simulation.robot.board.battery?.value ?? .nan },
      // `skipped` counts releases of the robot's loop, and `write_failures` motor writes that failed after their retries.
      ScenarioCheck("skipped", .range) {
        Double($0.simulation.statistics[RobotSimulation.robotLoop]?.counters.skipped ?? 0)
      },
      ScenarioCheck("write_failures", .range) { Double($0.simulation.robot.counters.writeFailures) },
    ]
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
