import Buses
@_spi(FromOutside) import Conversions
import Devices
import Tactus
import Wire

/// Legs on their chips, an operator for each, and the network between them, in one process and in simulated time. Loops and scheduler are
/// those of production; chip, bus and servos are simulated.
///
/// It is to be used from one thread. The same seed and the same calls give the same run.
public final class LegSimulation {
  public struct Configuration: Sendable {
    public var legs: [LegConfiguration]
    public var timing = PCA9685Timing.servo
    public var parameters = PCA9685Simulator.Parameters()
    /// The line of the simulated header that is wired to the output-enable pins of all chips, or `nil` if the pins are tied low.
    public var outputEnable: GPIOLineName?
    /// The battery's sensor, whose inputs are at ground at first, or `nil` if the battery is not measured.
    public var battery: LegBattery?
    public var conditions = SimulatedNetwork.Conditions()
    public var pingsByThemselves = true
    public var seed: UInt64 = 1

    public init(_ legs: [LegConfiguration]) { self.legs = legs }

    /// Creates a configuration of `count` legs, 1…32, with the standard settings on channels 0, 1 and so on, sixteen to a chip.
    public init(legs count: Int = 1) {
      legs = (0..<count).map {
        LegConfiguration(
          channel: try! ServoChannel($0 % PCA9685.channelCount), chip: $0 / PCA9685.channelCount)
      }
    }
  }

  /// The address at which leg 0 listens. Leg k listens on the port number plus k.
  public static let firstEndpoint = Endpoint.ipv4(192, 168, 1, 2, port: 5010)
  /// The name of the legs' loop in `statistics`.
  public static let legLoop = "leg"

  public let network: SimulatedNetwork
  public let bus: SimulatedI2CBus
  /// The simulated chips, as many as the legs need, at the standard address and the following ones.
  public let chips: [PCA9685Simulator]
  /// The first chip.
  public var chip: PCA9685Simulator { chips[0] }
  public let header = SimulatedGPIOBank()
  public let converter = ADS1115Simulator()
  private let enable: SimulatedGPIOLines?
  /// A person with the slider and the buttons of one leg.
  public typealias Person = SimulatedOperator<PulseWidth, LegOperatorRequest, LegOperatorSnapshot>
  /// The operators, one for each leg.
  public let operators: [Person]
  private let runtime: Runtime
  private let simulation: Simulation

  private let requestBell = SimulatedInput()
  private let client: LegLoop.Mailbox.Client
  private var requestNumber: UInt64 = 0
  private let book = LegSequenceBook()

  /// Creates a simulation. An output-enable line that the header does not have is a programming error.
  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let count = configuration.legs.count
    let legs = (0..<count).map { index in
      var endpoint = Self.firstEndpoint
      endpoint.port += UInt16(clamping: index)
      return endpoint
    }
    let operators = (0..<count).map { index in
      Person(.ipv4(192, 168, 1, 20 + UInt8(clamping: index), port: 50_000), .middle, LegOperatorSnapshot())
    }
    let network = SimulatedNetwork(
      legs + operators.map(\.endpoint), conditions: configuration.conditions, seed: configuration.seed)
    let chipCount = (configuration.legs.map(\.chip).max() ?? 0) + 1
    let drivers = (0..<chipCount).map { index in
      PCA9685(
        address: I2CAddress(PCA9685.standardAddress.value + UInt8(clamping: index))!, timing: configuration.timing)
    }
    let chips = drivers.map { _ in PCA9685Simulator(configuration.parameters) }
    let bus = SimulatedI2CBus(seed: configuration.seed)
    for (chip, driver) in zip(chips, drivers) { bus.attach(chip.chip, at: driver.address) }

    if let battery = configuration.battery { bus.attach(converter.chip, at: battery.converter.address) }
    let header = header
    let enable = configuration.outputEnable.map { try! header.outputs([GPIOLine($0, isActiveLow: true)]) }
    self.enable = enable

    let mailbox = try LegLoop.mailbox(configuration.legs)
    let (requestBell, book) = (requestBell, book)
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let runtime = try Runtime {
      Lane("leg") {
        Loop(
          Self.legLoop, every: .hertz(50), phase: .zero, safeStateAfter: 3,
          inputs: legs.map { .simulated(network.input($0)) } + [.simulated(requestBell)], ages: [commandAge]
        ) {
          LegLoop(
            ends: mailbox.loopEnds(requestBell: requestBell.doorbell), servos: configuration.legs.map(\.servo),
            chips: drivers, on: bus.port(), outputEnable: enable?.port(),
            lines: drivers.map { _ in enable == nil ? nil : 0 }, battery: configuration.battery,
            ports: Self.ports(legs, on: network), sequences: book.reader(), commandAge: commandAge.meter())
        }
      }
      for (number, person) in operators.enumerated() {
        Lane("operator-\(number)") {
          // The operator's ticks are off the leg's beat, as those of an independent sender are.
          Loop(
            "operator-\(number)", every: LegOperatorLoop.rate, phase: .milliseconds(3 + Int64(number)),
            inputs: [.simulated(network.input(person.endpoint))]
          ) {
            LegOperatorLoop(
              port: network.port(person.endpoint), leg: legs[number], pulse: person.mailbox.controls.reader(),
              requests: person.mailbox.requests.reader(), snapshot: person.mailbox.snapshots.writer(),
              pingsByItself: configuration.pingsByThemselves)
          }
        }
      }
    }
    self.network = network
    self.chips = chips
    self.bus = bus
    self.operators = operators
    self.runtime = runtime
    client = mailbox.client()
    simulation = try runtime.simulation(seed: configuration.seed)
  }

  private static func ports(_ endpoints: [Endpoint], on network: SimulatedNetwork) -> LegPorts {
    var ports = LegPorts()
    for endpoint in endpoints { ports.append(network.port(endpoint)) }
    return ports
  }

  /// The instant up to which all events have been simulated.
  public var now: TickInstant { simulation.now }

  /// Simulates the next `duration` and returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: every loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes the legs' first tick at or after `instant` take longer by `by`.
  public func stallLegs(at instant: TickInstant, by: Nanoseconds) {
    simulation.stall(loop: Self.legLoop, at: instant, by: by)
  }

  /// The newest snapshot of the legs, as other threads of a daemon read it.
  public var snapshot: LegSnapshot { client.newest().state }

  /// The positions of the first chip's simulated servos at `now`.
  public var servos: SimulatedServosSnapshot { servos(ofChip: 0) }

  /// Returns the positions of a chip's simulated servos at `now`.
  public func servos(ofChip index: Int) -> SimulatedServosSnapshot {
    chips[index].advance(to: now)
    return chips[index].snapshot
  }

  /// Sends a request of a client inside the daemon now, which releases the legs' loop. Returns the number of the request, counted from 1.
  /// More than 64 requests between two ticks are a programming error.
  @discardableResult
  public func request(_ order: LegOrder, to target: LegRequest.Target) -> UInt64 {
    requestNumber += 1
    let request = LegRequest(order, to: target)
    let isTaken = client.send(
      Request(number: requestNumber, issued: now, makesSafe: request.makesSafe, order: request))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return requestNumber
  }

  /// Requests a sequence of a client inside the daemon now. Returns the number of the request.
  @discardableResult
  public func play(_ sequence: LegSequence) -> UInt64 { request(.play(book.put(sequence)), to: .all) }

  /// Returns the loop's answers since the last call. More than 256 are a programming error.
  public func takeAnswers() -> [Answer<LegRefusal>] { client.takeAnswers() }

  /// Returns the notices for the log since the last call.
  public func takeNotices() -> [Told<LegNotice>] { client.takeNotices() }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over every tick so far; equal runs have equal hashes.
  public var traceHash: UInt64 { simulation.traceHash }
}
