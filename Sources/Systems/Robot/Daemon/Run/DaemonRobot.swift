import Buses
import BusesLinux
import Logging
import Robot
import Service
import Tactus
import TactusDaemon

/// The robot in the daemon: its motors, its port, its lane.
final class DaemonRobot: LoopSystem {
  let name = "robot"
  let loopName = RobotSystem.loopName
  let simulation: SimulatedSurroundings?
  private let robot: RobotSystem
  private let socket: LinuxDatagramSocket
  /// What stands between the socket and the loop of a simulated robot.
  private let datagrams: ImpairedDatagrams?
  private var notices: RingReader<RobotNotice>
  private var simulatedWasMoving = false

  /// Opens the bus and the port. Nothing is written to the motors yet.
  ///
  /// - Parameter afterOutsideStop: whether the program before this one ended without stopping the motors itself.
  init(_ motors: Configuration.Motors, address: String, simulate: Bool, afterOutsideStop: Bool) throws {
    let hardware = try MotorHardware(motors, simulate: simulate)
    robot = try RobotSystem(motors, hardware: hardware, afterOutsideStop: afterOutsideStop)
    socket = try LinuxDatagramSocket(address: address, port: motors.port)
    notices = robot.channel.noticeReader()
    guard simulate || motors.backend == .sim else {
      (simulation, datagrams) = (nil, nil)
      return
    }
    let stall = LaneStall()
    let datagrams = ImpairedDatagrams(socket.port(), clock: .monotonic, stall: stall.served)
    var buses = [SimulatedBus("robot-udp", .datagram(datagrams))]
    if let bus = hardware.simulatedBus { buses.append(SimulatedBus("i2c-\(motors.i2cBus)", .i2c(bus))) }
    if let line = hardware.simulatedLine {
      let name = motors.serialDevice.split(separator: "/").last.map { String($0) } ?? "serial"
      buses.append(SimulatedBus(name, .serial(line)))
    }
    self.datagrams = datagrams
    simulation = SimulatedSurroundings(buses: buses, lanes: ["robot": stall], routes: hardware.simulated?.routes ?? [])
  }

  var endpoints: [Endpoint] { [socket.localEndpoint] }
  var startMetadata: Logger.Metadata { ["listen": .string("\(socket.localEndpoint)")] }
  var heartbeat: LatestVersion { robot.channel.state.version }

  func lane(bell: DoorbellButton) -> Lane {
    let port = datagrams?.port() ?? socket.port()
    // A kernel socket has a descriptor.
    let input = LoopInput.descriptor(port.descriptor!)
    return robot.lane(port: port, input: input, bell: bell, counting: simulation.countedMisses(lane: "robot"))
  }

  func started() {}
  func finishKeeping() -> KeptOutcome { .known }
  var heldLines: [LinuxGPIOLines] { [] }
  var brokerParticipants: [any BrokerParticipant] { [] }
  var heartbeatPeriod: Nanoseconds { .zero }
  func beat(at now: TickInstant) {}
  var served: any ServedSystem { robot.door }

  var metrics: any MetricSource {
    let snapshot = robot.channel.state
    return RobotMetrics(
      {
        var reader = snapshot.reader()
        return reader.read()
      }, now: { MonotonicClock.now })
  }

  func takeAnswers(at now: TickInstant) { robot.door.takeAnswers(at: now) }

  func takeNotices(_ logger: Logger) -> [Event] {
    var events: [Event] = []
    while let notice = notices.pop() {
      logger.log(notice)
      events.append(robot.door.edge(notice))
    }
    return events
  }

  /// A simulated robot cannot be watched otherwise: once a second while it moves, and once when it has stopped.
  func report(_ logger: Logger) {
    guard let snapshot = robot.hardware.simulated?.snapshot else { return }
    let speeds = newest.speeds
    let isMoving = !speeds.isZero || abs(snapshot.speeds.left) > 0.001 || abs(snapshot.speeds.right) > 0.001
    guard isMoving || simulatedWasMoving else { return }
    simulatedWasMoving = isMoving
    func rounded(_ value: Double) -> Logger.MetadataValue { .stringConvertible((value * 1000).rounded() / 1000 + 0) }
    logger.info(
      isMoving ? "simulated robot drives" : "simulated robot stands",
      metadata: [
        "left_percent": rounded(speeds.left.value), "right_percent": rounded(speeds.right.value),
        "left_m_s": rounded(snapshot.speeds.left), "right_m_s": rounded(snapshot.speeds.right),
        "x_m": rounded(snapshot.pose.x), "y_m": rounded(snapshot.pose.y),
      ])
  }

  func finish(_ logger: Logger) {}

  /// A higher limit of speed, a faster ramp and a longer failsafe wait until the robot stands.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.motors else { return nil }
    let keys = KeyChange.between(robot.inFile.value.reloadable, new.reloadable)
    return robot.settings.change(of: name, keys, to: new.robotSettings) { [inFile = robot.inFile] in inFile.value = new
    }
  }

  var unconfirmed: (message: String, state: String)? {
    let state = newest.state
    if case .shutDown(.confirmed) = state { return nil }
    return ("the motors have not confirmed their stop", "\(state)")
  }

  private var newest: RobotSnapshot {
    var reader = robot.channel.state.reader()
    return reader.read()
  }
}

extension Logger {
  /// One line for a change of the robot.
  fileprivate func log(_ notice: RobotNotice) {
    switch notice.subject {
    case .state(let state):
      var metadata: Logger.Metadata = ["system": "robot", "state": .string("\(state)")]
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      log(level: state.logLevel, "robot", metadata: metadata)
    case .motorsFail(let failure):
      warning("motor write failed", metadata: ["system": "robot", "failure": .string("\(failure)")])
    case .motorsAnswer:
      self.notice("the motors answer again", metadata: ["system": "robot"])
    }
  }
}

extension RobotState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .stopped, .driving, .shutDown: .info
    case .emergencyStopped: .warning
    case .fault: .error
    }
  }
}
