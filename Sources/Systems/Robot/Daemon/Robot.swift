import ArgumentParser
import Buses
@_spi(FromOutside) import Conversions
import Devices
import Logging
import Robot
import RobotDocuments
import Service
import ServiceDocuments
import Tactus
import TactusDaemon
import Wire

/// The balancing robot, section `motors:` of the configuration.
public enum Robot: DeviceSystem, Sections, ShapesLane, ConvertsRules, ChecksTogether, PreparesState, MayBeSimulated,
  Sees, AnswersInFull, Explains, TellsInFull, TakesFrames, Introduces, Reaches, HasCommands, HasDocuments,
  ShowsEntities, Plays
{
  public typealias State = RobotSnapshot
  public typealias Order = RobotOrder
  public typealias Refusal = IgnoreReason
  public typealias Notice = RobotNotice
  public typealias LoopRules = RobotSettings

  public static let name = "robot"
  public static let summary = "A robot on two wheels, driven over UDP and by clients of the service."
  public static let sections = [
    ConfigSection(name: "motors", doc: "The robot's motors. The robot runs when this section is present.")
  ]
  public static let lane = LaneKeys(
    "runtime.robot", "the motors' lane", priority: 80,
    safeStateAfter: (10, "the robot stops and is in fault until a reset"))
  public static let emergencyStop = Order.command(.emergencyStop)
  public static let reset = Order.command(.reset)
  public static let nothingToReset: Refusal? = .nothingToReset
  /// The order that the loop gets when a client disconnects. It stops the robot only if the client held control, which only the loop
  /// knows.
  public static let whenClientLeaves: Order? = .leave
  public static let terminal: [any ParsableCommand.Type] = [DriveCommand.self]
  public static var documents: SystemDocuments { SystemDocuments(name, robot_documents()) }

  public static var commands: [Command<Order>] {
    Command("drive", makesSafeIf: \Order.isStop, body: DriveBody.self, "Drives.") { $0.order }
    Command("stop", makesSafe: true, "Stops the motors.") { .command(.stop) }
    Command("look", body: LookBody.self, "Turns the camera mount.") { $0.order }
    Command("lights", body: LightsBody.self, "Gives the board's lights a colour.") { $0.order }
    Command(
      "beep", "Sounds the board's buzzer.",
      Parameter(
        "seconds", in: 0.05...5, default: 0.3, unit: .seconds,
        "How long; it replaces what is left of the last beep.")
    ) { .fitting(.beep(.seconds($0))) }
    Command(
      "height", "Raises or lowers the body.",
      Parameter("heightMm", in: Fittings.heights, unit: .millimetres, example: 90, "The height of the body.")
    ) { .fitting(.height(millimetres: $0)) }
    Command(
      "balance", "Levels the body's roll, or does not.",
      Parameter("on", "Whether the board levels the body's roll.")
    ) { .fitting(.balance($0)) }
  }

  public static func initialState(_ wiring: Wiring, _ rules: Rules) -> State {
    RobotSnapshot(loopRules(wiring, rules), fittings: Fittings(wiring.robotBoard, mount: wiring.mount))
  }

  public static func isSimulated(_ wiring: Wiring) -> Bool { wiring.backend == .sim }

  public static func isEmergencyStopped(_ state: State) -> Bool { state.isEmergencyStopped }

  public static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach { Reach() }

  public static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let wiring = bench.wiring
    let port = try bench.datagrams(\.port)
    let (motors, vehicle) = try motors(bench)
    if let vehicle {
      bench.simulates(routes: vehicle.routes)
      bench.share(vehicle)
      report(vehicle, mailbox)
    }
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let inertial = try InertialParts(bench)
    return [
      mailbox.loop(
        "robot.motors", every: .hertz(Double(wiring.rateHertz)), safeStateAfter: bench.safeStateAfter,
        inputs: [port.loopInput], ages: [commandAge]
      ) {
        RobotLoop(
          ends: $0, motors: motors(), port: port.port(), commandAge: commandAge.meter(),
          longestDatagram: wiring.longestDatagram, afterOutsideStop: bench.endedWithoutStop,
          batteryLowPercent: wiring.batteryLow, inertial: inertial?.sensors(), mount: wiring.mount,
          readsLine: wiring.lineSensor)
      }
    ] + (inertial?.twin(bench) ?? [])
  }

  /// Returns the maker of the motors, for the one loop that drives them, and the simulated vehicle, or `nil` for the vehicle unless the
  /// board is simulated.
  private static func motors(_ bench: Bench<Wiring>) throws -> (make: () -> Motors, vehicle: SimulatedVehicle?) {
    let wiring = bench.wiring
    let inversion = WheelInversion(left: wiring.invertLeft, right: wiring.invertRight)
    var parameters = wiring.backend == .xgoRider ? XGORiderSimulator.parameters : DifferentialDrive.Parameters()
    if let geometry = wiring.geometry {
      (parameters.track, parameters.topSpeed) = (geometry.wheelBaseMetres, geometry.topSpeedMetresPerSecond)
    }
    switch wiring.backend {
    case .ybPcbCar, .sim:
      let board = wiring.ybPcbCar
      let bus = try bus(bench) { (bus) throws(I2CError) in try board.stop(on: &bus) }
      let simulator =
        bench.isSimulated
        ? YBPcbCarSimulator(parameters: parameters, acceptsLegacyRegister: wiring.legacyRegister) : nil
      if let simulator { bus.attach(simulator.chip, at: wiring.address) }
      return ({ Motors(board, on: bus.port(), inversion: inversion) }, simulator?.vehicle)
    case .raspbotV2:
      let board = wiring.raspbotV2
      // A safe state silences the buzzer, because the board does not end a beep by itself.
      let bus = try bus(bench) { (bus) throws(I2CError) in
        try board.stop(on: &bus)
        try board.switchBuzzer(isOn: false, on: &bus)
      }
      let simulator = bench.isSimulated ? RaspbotV2Simulator(parameters: parameters) : nil
      if wiring.stopWithin != nil { simulator?.vehicle.setWall(2) }
      if let simulator { bus.attach(simulator.chip, at: wiring.address) }
      return ({ Motors(board, on: bus.port(), inversion: inversion) }, simulator?.vehicle)
    case .xgoRider:
      let board = XGORider()
      let device = wiring.serialDevice.split(separator: "/").last.map { String($0) }
      let line = try bench.serial(
        \.serialDevice, baud: 115_200, safe: .twice { (port) throws(SerialError) in try board.stop(on: &port) },
        simulated: device ?? "serial")
      let simulator = bench.isSimulated ? XGORiderSimulator(parameters: parameters) : nil
      if let simulator { line.attach(simulator.device) }
      return ({ Motors(board, on: line.port(), inversion: inversion) }, simulator?.vehicle)
    }
  }

  private static func bus(
    _ bench: Bench<Wiring>, stop: @escaping (inout I2CBus) throws(I2CError) -> Void
  ) throws -> I2CPart {
    try bench.i2c(
      \.i2cBus, chip: bench.wiring.address, at: \.givenI2CAddress, safe: .writes(stop),
      operations: [.writeByte, .writeBlock]
        + (bench.wiring.stopWithin == nil && !bench.wiring.lineSensor ? [] : [.readBlock]),
      simulated: "i2c-\(bench.wiring.i2cBus)")
  }

  /// Logs the position of a simulated robot, which cannot be watched otherwise: once a second while it moves, and once when it has
  /// stopped.
  private static func report(_ vehicle: SimulatedVehicle, _ mailbox: Inbox) {
    var wasMoving = false
    mailbox.eachSecond { newest, logger in
      let (speeds, snapshot) = (newest.state.speeds, vehicle.snapshot)
      let isMoving =
        !speeds.isZero || snapshot.speeds.left.magnitude > 0.001 || snapshot.speeds.right.magnitude > 0.001
      guard isMoving || wasMoving else { return }
      wasMoving = isMoving
      func rounded(_ value: Double) -> Logger.MetadataValue {
        .stringConvertible((value * 1000).rounded() / 1000 + 0)
      }
      logger.info(
        isMoving ? "simulated robot drives" : "simulated robot stands",
        metadata: [
          "left_percent": rounded(speeds.left.value), "right_percent": rounded(speeds.right.value),
          "left_m_s": rounded(snapshot.speeds.left), "right_m_s": rounded(snapshot.speeds.right),
          "x_m": rounded(snapshot.pose.x), "y_m": rounded(snapshot.pose.y),
        ])
    }
  }

  // MARK: scenarios

  /// Plays a scenario file as a robot scenario; a scenario without the part of another system is one.
  public static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    try file.play(in: RobotScenario.self, seed: seed)
  }

  public static let scenarioHelp =
    "one without any of these parts a robot, with its wheels, its network and its operators"
}

extension Robot {
  /// Takes a binary frame as a robot datagram, as on UDP, with the client as its source. Returns whether the frame was meant for the
  /// robot. A frame with an `echo` gets the same reply as on UDP, refused or not; for one without, only a refusal is reported.
  public static func receive(_ frame: [UInt8], from caller: Caller, _ door: FrameDoor<Robot>) -> Bool {
    // A frame that begins with a control character or within a UTF-8 character is no text, and belongs to another system.
    guard !(frame.first.map { $0 < 0x09 || $0 & 0xC0 == 0x80 } ?? false) else { return false }
    let message: RobotMessage
    do {
      message = try frame.withUnsafeBytes { bytes throws(DatagramError) in try RobotMessage.decode(bytes) }
    } catch {
      door.refuse(APIError(.badRequest, "BAD_DATAGRAM", "not a robot datagram: \(error)"))
      return true
    }
    let order = message.order
    door.send(order, makesSafe: order.isStop) { result in
      switch result {
      case .failure(let error): door.refuse(error)
      case .success((let answer, let published)):
        if let echo = message.echo {
          door.reply(RobotReply(echo: echo, answer, published).bytes)
        } else if case .refused(let reason) = answer.verdict {
          door.refuse(reason, in: published.state)
        }
      }
    }
    return true
  }
}

extension RobotMessage {
  /// The order of a datagram on a WebSocket, whose arrival alone decides when a stop was sent.
  fileprivate var order: RobotOrder {
    switch command {
    case .drive, .twist: .command(command, timestamp: timestamp)
    case .stop, .emergencyStop, .reset, .query: .command(command)
    }
  }
}

extension RobotReply {
  fileprivate var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.maximumEncodedLength) { buffer, count in
      count = encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
