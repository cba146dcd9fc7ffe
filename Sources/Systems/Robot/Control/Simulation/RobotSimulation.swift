import Buses
import Devices
import Tactus

/// A robot, its operators and the network between them in one process and in simulated time: production loops, production
/// scheduler, simulated board, bus and wheels.
///
/// For one thread. The same seed and the same calls give the same run.
public final class RobotSimulation {
  public struct Configuration: Sendable {
    public var settings: RobotSettings
    public var parameters = DifferentialDrive.Parameters()
    public var conditions = SimulatedNetwork.Conditions()
    /// Each with a socket of its own, 1….
    public var operators = 1
    public var seed: UInt64 = 1

    public init(_ settings: RobotSettings = .standard) { self.settings = settings }
  }

  /// Where the robot listens.
  public static let robotEndpoint = Endpoint.ipv4(192, 168, 1, 2, port: 5005)
  /// The robot's loop in `statistics`.
  public static let robotLoop = "robot"

  public let network: SimulatedNetwork
  public let bus: SimulatedI2CBus
  public let board: YBPcbCarSimulator
  public let operators: [SimulatedOperator]
  private let runtime: Runtime
  private let simulation: Simulation

  private let settings: RulesBox<RobotSettings>
  private let requestBell = SimulatedInput()
  private let client: RobotLoop.Channel.Client
  private var requestNumber: UInt64 = 0

  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let robot = Self.robotEndpoint
    let operators = (0..<configuration.operators).map { index in
      SimulatedOperator(.ipv4(192, 168, 1, 20 + UInt8(clamping: index), port: 50_000))
    }
    let network = SimulatedNetwork(
      [robot] + operators.map(\.endpoint), conditions: configuration.conditions, seed: configuration.seed)
    let board = YBPcbCarSimulator(parameters: configuration.parameters)
    let bus = SimulatedI2CBus(seed: configuration.seed)
    bus.attach(board.chip, at: YBPcbCar.standardAddress)

    let settings = RulesBox(configuration.settings)
    let channel = RobotLoop.channel(configuration.settings)
    let requestBell = requestBell
    let period = configuration.settings.tickPeriod
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let runtime = try Runtime {
      Lane("robot") {
        Loop(
          Self.robotLoop, every: .period(period), phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(network.input(robot)), .simulated(requestBell)], ages: [commandAge]
        ) {
          RobotLoop(
            motors: Motors(YBPcbCar(), on: bus.port()), port: network.port(robot), settings: settings.input(),
            channel: channel.loopEnds(requestBell: requestBell.doorbell), commandAge: commandAge.meter())
        }
      }
      for (number, person) in operators.enumerated() {
        Lane("operator-\(number)") {
          // Off the robot's beat, as a sender of its own is.
          Loop(
            "operator-\(number)", every: .hertz(20), phase: .milliseconds(7 + 11 * Int64(number)),
            inputs: [.simulated(network.input(person.endpoint))]
          ) { person.loop(robot: robot, on: network) }
        }
      }
    }
    self.network = network
    self.board = board
    self.bus = bus
    self.operators = operators
    self.settings = settings
    self.runtime = runtime
    client = channel.client()
    simulation = try runtime.simulation(seed: configuration.seed)
  }

  /// The instant up to which everything has happened.
  public var now: TickInstant { simulation.now }

  /// Runs everything that happens in the next `duration`; returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: every loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes the robot's first tick at or after `instant` take `by` longer.
  public func stallRobot(at instant: TickInstant, by: Nanoseconds) {
    simulation.stall(loop: Self.robotLoop, at: instant, by: by)
  }

  /// The device side as other threads of a daemon see it.
  public var robot: RobotSnapshot { client.newest() }

  /// Where the robot is in the world at `now`.
  public var world: SimulatedVehicleSnapshot {
    board.vehicle.advance(to: now)
    return board.vehicle.snapshot
  }

  /// New settings, in force from the next tick on.
  public func set(_ new: RobotSettings) { settings.set(new) }

  /// A request of a client inside the daemon, made now: it releases the robot's loop. Returns its number, counted from 1.
  /// More than 64 between two ticks are our bug.
  @discardableResult
  public func request(_ command: RobotRequest.Command, client: UInt32) -> UInt64 {
    requestNumber += 1
    let isTaken = self.client.send(RobotRequest(number: requestNumber, issued: now, command, client: client))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return requestNumber
  }

  /// The loop's answers since the last call; more than 256 are our bug.
  public func takeAnswers() -> [RobotAnswer] { client.takeAnswers() }

  /// What the log would have got since the last call.
  public func takeNotices() -> [RobotNotice] { client.takeNotices() }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over every tick so far: equal for equal runs.
  public var traceHash: UInt64 { simulation.traceHash }
}
