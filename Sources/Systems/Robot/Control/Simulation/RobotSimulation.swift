import Buses
@_spi(FromOutside) import Conversions
import Devices
import Tactus

/// A robot, its operators and the network between them, in one process and in simulated time. Loops and scheduler are those of
/// production; board, bus and wheels are simulated.
///
/// It is to be used from one thread. The same seed and the same calls give the same run.
public final class RobotSimulation {
  /// The simulated motor boards.
  public typealias Board = RobotBoard

  /// The inertial sensors of the simulated robot.
  public enum Inertial: Sendable {
    /// The robot has an accelerometer alone.
    case accelerometer
    /// The robot has an accelerometer and a gyroscope.
    case both
  }

  public struct Configuration: Sendable {
    public var settings: RobotSettings
    /// The board that drives the robot.
    public var board = Board.ybPcbCar
    /// The charge at which the loop reports a low battery, or `nil` if it never does.
    public var batteryLowPercent: Int?
    /// The inertial sensors that measure the robot's lean, or `nil` if there are none.
    public var inertial: Inertial?
    /// The limits of the camera mount, or `nil` for the board's own.
    public var mount: CameraMountSettings?
    /// Whether the loop reads the line sensor.
    public var readsLine = false
    public var parameters = DifferentialDrive.Parameters()
    public var conditions = SimulatedNetwork.Conditions()
    /// The number of operators, 1 or more, each with a socket of its own.
    public var operators = 1
    public var seed: UInt64 = 1

    public init(_ settings: RobotSettings = .standard) { self.settings = settings }
  }

  /// The address at which the robot listens.
  public static let robotEndpoint = Endpoint.ipv4(192, 168, 1, 2, port: 5005)
  /// The name of the robot's loop in `statistics`.
  public static let robotLoop = "robot"

  public let network: SimulatedNetwork
  public let bus: SimulatedI2CBus
  /// The serial line, which only an XGO Rider is on.
  public let line: SimulatedSerialPort
  /// The XGO Rider, or `nil` if the board is another.
  public let rider: XGORiderSimulator?
  /// The robot that the board drives.
  public let vehicle: SimulatedVehicle
  /// A person with the controls of the robot.
  public typealias Person = SimulatedOperator<OperatorInput, OperatorRequest, OperatorSnapshot>
  /// The operators, each with a socket of its own.
  public let operators: [Person]
  /// The lean of the robot, which its inertial sensors measure.
  public let lean = SimulatedLean()
  /// The axes of the simulated accelerometer, with its faults; empty if there is no accelerometer.
  public let accelerometer: [SimulatedSensor]
  private let gyroscope: [SimulatedSensor]
  private let runtime: Runtime
  private let simulation: Simulation

  private let settings: RulesBox<RobotSettings>
  private let requestBell = SimulatedInput()
  private let client: RobotLoop.Client
  private var requestNumber: UInt64 = 0

  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let robot = Self.robotEndpoint
    let operators = (0..<configuration.operators).map { index in
      Person(.ipv4(192, 168, 1, 20 + UInt8(clamping: index), port: 50_000), .rest, OperatorSnapshot())
    }
    let network = SimulatedNetwork(
      [robot] + operators.map(\.endpoint), conditions: configuration.conditions, seed: configuration.seed)
    let bus = SimulatedI2CBus(seed: configuration.seed)
    let board = configuration.board
    let line = SimulatedSerialPort()
    (vehicle, rider) = Self.attach(board, configuration.parameters, to: bus, line)
    self.line = line

    let mailbox = try RobotLoop.Mailbox(
      state: RobotSnapshot(configuration.settings, fittings: Fittings(board)),
      rules: configuration.settings, notices: 1_024)
    let requestBell = requestBell
    let period = configuration.settings.tickPeriod
    let lean = lean
    let accelerometer = configuration.inertial == nil ? [] : (0..<3).map { _ in SimulatedSensor() }
    let gyroscope = configuration.inertial == .both ? (0..<3).map { _ in SimulatedSensor() } : []
    (self.accelerometer, self.gyroscope) = (accelerometer, gyroscope)
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let runtime = try Runtime {
      Lane("robot") {
        Loop(
          Self.robotLoop, every: .period(period), phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(network.input(robot)), .simulated(requestBell)], ages: [commandAge]
        ) {
          RobotLoop(
            ends: mailbox.loopEnds(requestBell: requestBell.doorbell), motors: motors(board, on: bus, line),
            port: network.port(robot), commandAge: commandAge.meter(),
            batteryLowPercent: configuration.batteryLowPercent,
            inertial: inertialSensors(accelerometer, gyroscope), mount: configuration.mount,
            readsLine: configuration.readsLine)
        }
      }
      if !accelerometer.isEmpty {
        Lane("inertial") {
          Loop("inertial", every: .hertz(50), phase: .milliseconds(3)) {
            lean.twin(accelerometer: drivers(accelerometer)!, gyroscope: drivers(gyroscope))
          }
        }
      }
      for (number, person) in operators.enumerated() {
        Lane("operator-\(number)") {
          // The operator's ticks are off the robot's beat, as those of an independent sender are.
          Loop(
            "operator-\(number)", every: .hertz(20), phase: .milliseconds(7 + 11 * Int64(number)),
            inputs: [.simulated(network.input(person.endpoint))]
          ) {
            // An arbitrary date: the robot never compares a timestamp with its own clock.
            OperatorLoop(
              port: network.port(person.endpoint), robot: robot, wallClockAtStart: 1_700_000_000_250_000,
              input: person.mailbox.controls.reader(), requests: person.mailbox.requests.reader(),
              snapshot: person.mailbox.snapshots.writer())
          }
        }
      }
    }
    self.network = network
    self.bus = bus
    self.operators = operators
    settings = mailbox.rules
    self.runtime = runtime
    client = mailbox.client()
    simulation = try runtime.simulation(seed: configuration.seed)
  }

  /// Puts a simulated board on the bus or the line, which retains it. Returns its robot.
  private static func attach(
    _ board: Board, _ parameters: DifferentialDrive.Parameters, to bus: SimulatedI2CBus,
    _ line: SimulatedSerialPort
  ) -> (SimulatedVehicle, XGORiderSimulator?) {
    switch board {
    case .ybPcbCar:
      let simulator = YBPcbCarSimulator(parameters: parameters)
      bus.attach(simulator.chip, at: YBPcbCar.standardAddress)
      return (simulator.vehicle, nil)
    case .raspbotV2:
      let simulator = RaspbotV2Simulator(parameters: parameters)
      bus.attach(simulator.chip, at: RaspbotV2.standardAddress)
      return (simulator.vehicle, nil)
    case .xgoRider:
      let simulator = XGORiderSimulator()
      line.attach(simulator.device)
      return (simulator.vehicle, simulator)
    }
  }

  /// The instant up to which all events have been simulated.
  public var now: TickInstant { simulation.now }

  /// Simulates the next `duration` and returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: every loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes the robot's first tick at or after `instant` take longer by `by`.
  public func stallRobot(at instant: TickInstant, by: Nanoseconds) {
    simulation.stall(loop: Self.robotLoop, at: instant, by: by)
  }

  /// The newest snapshot of the robot, as other threads of a daemon read it.
  public var robot: RobotSnapshot { client.newest().state }

  /// The robot's position and motion in the simulated world at `now`.
  public var world: SimulatedVehicleSnapshot {
    vehicle.advance(to: now)
    return vehicle.snapshot
  }

  /// Replaces the settings from the next tick on.
  public func set(_ new: RobotSettings) { settings.set(new) }

  /// Sends a request of a client inside the daemon now, which releases the robot's loop. Returns the number of the request, counted from
  /// 1. More than 64 requests between two ticks are a programming error.
  @discardableResult
  public func request(_ order: RobotOrder, client: UInt32) -> UInt64 {
    requestNumber += 1
    let isTaken = self.client.send(
      Request(number: requestNumber, issued: now, makesSafe: order.isStop, client: client, order: order))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return requestNumber
  }

  /// Returns the loop's answers since the last call. More than 256 are a programming error.
  public func takeAnswers() -> [Answer<IgnoreReason>] { client.takeAnswers() }

  /// Returns the notices for the log since the last call.
  public func takeNotices() -> [Told<RobotNotice>] { client.takeNotices() }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over every tick so far; equal runs have equal hashes.
  public var traceHash: UInt64 { simulation.traceHash }
}

private func motors(
  _ board: RobotSimulation.Board, on bus: SimulatedI2CBus, _ line: SimulatedSerialPort
) -> Motors {
  switch board {
  case .ybPcbCar: Motors(YBPcbCar(), on: bus.port())
  case .raspbotV2: Motors(RaspbotV2(), on: bus.port())
  case .xgoRider: Motors(XGORider(), on: line.port())
  }
}

/// Returns the inertial sensors of the loop, or `nil` without an accelerometer.
private func inertialSensors(_ accelerometer: [SimulatedSensor], _ gyroscope: [SimulatedSensor]) -> InertialSensors? {
  guard let accelerometer = axes(accelerometer) else { return nil }
  return InertialSensors(accelerometer: accelerometer, gyroscope: axes(gyroscope))
}

/// Returns the input of three sensors, or `nil` if the list of them is empty.
private func axes(_ sensors: [SimulatedSensor]) -> AxesInput? {
  guard sensors.count == 3 else { return nil }
  let limit = Nanoseconds.milliseconds(500)
  return AxesInput(
    x: sensors[0].port(staleAfter: limit), y: sensors[1].port(staleAfter: limit), z: sensors[2].port(staleAfter: limit))
}

/// Returns the end by which a twin sets three sensors, or `nil` if the list of them is empty.
private func drivers(_ sensors: [SimulatedSensor]) -> SimulatedAxesDriver? {
  guard sensors.count == 3 else { return nil }
  return SimulatedAxesDriver(x: sensors[0].driver(), y: sensors[1].driver(), z: sensors[2].driver())
}
