import Buses
import Devices
import Tactus

/// Legs on one chip, an operator for each, and the network between them in one process and in simulated time: production
/// loops, production scheduler, simulated chip, bus and servos.
///
/// For one thread. The same seed and the same calls give the same run.
public final class LegSimulation {
  public struct Configuration: Sendable {
    public var legs: [LegConfiguration]
    public var timing = PCA9685Timing.servo
    public var parameters = PCA9685Simulator.Parameters()
    /// A line of the simulated header that is wired to the chip's output-enable pin, or `nil` if the pin is tied low.
    public var outputEnable: GPIOLineName?
    /// The battery's sensor; its inputs are at ground at first.
    public var battery: LegBattery?
    public var conditions = SimulatedNetwork.Conditions()
    public var pingsByThemselves = true
    public var seed: UInt64 = 1

    public init(_ legs: [LegConfiguration]) { self.legs = legs }

    /// So many legs with the standard rules, on channels 0, 1 and so on, 1…16.
    public init(legs count: Int = 1) { legs = (0..<count).map { LegConfiguration(channel: try! ServoChannel($0)) } }
  }

  /// Where leg 0 listens; leg k listens k ports further.
  public static let firstEndpoint = Endpoint.ipv4(192, 168, 1, 2, port: 5010)
  /// The legs' loop in `statistics`.
  public static let legLoop = "leg"

  public let network: SimulatedNetwork
  public let bus: SimulatedI2CBus
  public let chip: PCA9685Simulator
  public let header = SimulatedGPIOBank()
  public let converter = ADS1115Simulator()
  private let enable: SimulatedGPIOLines?
  /// One for each leg.
  public let operators: [SimulatedLegOperator]
  private let runtime: Runtime
  private let simulation: Simulation

  private let requestBell = SimulatedInput()
  private let client: LegLoop.Channel.Client
  private var requestNumber: UInt64 = 0

  /// An output-enable line that the header does not have is our bug.
  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let count = configuration.legs.count
    let legs = (0..<count).map { index in
      var endpoint = Self.firstEndpoint
      endpoint.port += UInt16(clamping: index)
      return endpoint
    }
    let operators = (0..<count).map { index in
      SimulatedLegOperator(.ipv4(192, 168, 1, 20 + UInt8(clamping: index), port: 50_000))
    }
    let network = SimulatedNetwork(
      legs + operators.map(\.endpoint), conditions: configuration.conditions, seed: configuration.seed)
    let chip = PCA9685Simulator(configuration.parameters)
    let bus = SimulatedI2CBus(seed: configuration.seed)
    bus.attach(chip.chip, at: PCA9685.standardAddress)

    if let battery = configuration.battery { bus.attach(converter.chip, at: battery.converter.address) }
    let header = header
    let enable = configuration.outputEnable.map { try! header.outputs([GPIOLine($0, isActiveLow: true)]) }
    self.enable = enable

    let channel = LegLoop.channel(legs: count)
    let requestBell = requestBell
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let runtime = try Runtime {
      Lane("leg") {
        Loop(
          Self.legLoop, every: .hertz(50), phase: .zero, safeStateAfter: 3,
          inputs: legs.map { .simulated(network.input($0)) } + [.simulated(requestBell)], ages: [commandAge]
        ) {
          LegLoop(
            legs: configuration.legs, chip: PCA9685(timing: configuration.timing), on: bus.port(),
            outputEnable: enable?.port(), battery: configuration.battery, ports: Self.ports(legs, on: network),
            channel: channel.loopEnds(requestBell: requestBell.doorbell), commandAge: commandAge.meter())
        }
      }
      for (number, person) in operators.enumerated() {
        Lane("operator-\(number)") {
          // Off the leg's beat, as a sender of its own is.
          Loop(
            "operator-\(number)", every: LegOperatorLoop.rate, phase: .milliseconds(3 + Int64(number)),
            inputs: [.simulated(network.input(person.endpoint))]
          ) { person.loop(leg: legs[number], on: network, pingsByItself: configuration.pingsByThemselves) }
        }
      }
    }
    self.network = network
    self.chip = chip
    self.bus = bus
    self.operators = operators
    self.runtime = runtime
    client = channel.client()
    simulation = try runtime.simulation(seed: configuration.seed)
  }

  private static func ports(_ endpoints: [Endpoint], on network: SimulatedNetwork) -> LegPorts {
    var ports = LegPorts()
    for endpoint in endpoints { ports.append(network.port(endpoint)) }
    return ports
  }

  /// The instant up to which everything has happened.
  public var now: TickInstant { simulation.now }

  /// Runs everything that happens in the next `duration`; returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: every loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes the legs' first tick at or after `instant` take `by` longer.
  public func stallLegs(at instant: TickInstant, by: Nanoseconds) {
    simulation.stall(loop: Self.legLoop, at: instant, by: by)
  }

  /// The device side as other threads of a daemon see it.
  public var snapshot: LegSnapshot { client.newest() }

  /// The servos in the world at `now`.
  public var servos: SimulatedServosSnapshot {
    chip.advance(to: now)
    return chip.snapshot
  }

  /// A request of a client inside the daemon, made now: it releases the legs' loop. Returns its number, counted from 1.
  /// More than 64 between two ticks are our bug.
  @discardableResult
  public func request(_ order: LegRequest.Order, to target: LegRequest.Target) -> UInt64 {
    requestNumber += 1
    let isTaken = client.send(LegRequest(number: requestNumber, issued: now, order, to: target))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return requestNumber
  }

  /// The loop's answers since the last call; more than 256 are our bug.
  public func takeAnswers() -> [LegAnswer] { client.takeAnswers() }

  /// What the log would have got since the last call.
  public func takeNotices() -> [LegNotice] { client.takeNotices() }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over every tick so far: equal for equal runs.
  public var traceHash: UInt64 { simulation.traceHash }
}
