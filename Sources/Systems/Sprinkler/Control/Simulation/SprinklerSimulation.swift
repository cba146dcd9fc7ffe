import Buses
import Tactus

/// The valves' loop, a GPIO bank and a garden in one process and in simulated time. The loop is the production loop under the
/// production runtime scheduler.
///
/// The simulation may be used by one thread only. It is deterministic: the same seed and the same calls give the same run.
/// Zone k uses GPIO k, the master valve GPIO 40;
/// all outputs are active-low, as on relay boards.
public final class SprinklerSimulation {
  public struct Configuration: Sendable {
    /// The number of zones, 1…39.
    public var zones: Int
    public var maximumOpen = 1
    public var stationDelay = Nanoseconds.zero
    /// The lead time of the master valve, or `nil` if there is no master valve.
    public var masterLead: Nanoseconds?
    public var masterLag = Nanoseconds.zero
    public var flow: FlowSettings?
    public var litresPerMinute = 10.0
    public var seed: UInt64 = 1

    public init(zones: Int = 4) { self.zones = zones }
  }
  public static let masterLine = 40
  /// The name of the loop in `statistics`.
  public static let loop = "sprinkler"

  public let bank: SimulatedGPIOBank
  public let garden: SimulatedGarden
  private let lines: SimulatedGPIOLines
  private let runtime: Runtime
  private let simulation: Simulation
  private let requestBell = SimulatedInput()
  private let client: SprinklerMailbox.Client
  private var requestNumber: UInt64 = 0

  public init(_ configuration: Configuration = Configuration()) throws {
    precondition((1..<Self.masterLine).contains(configuration.zones), "a simulation has 1…39 zones")
    let count = configuration.zones
    let numbers = Array(1...count) + (configuration.masterLead == nil ? [] : [Self.masterLine])
    let master = try configuration.masterLead.map {
      try MasterValve(line: UInt8(clamping: count), lead: $0, lag: configuration.masterLag)
    }
    let settings = try IrrigationSettings(
      lineCount: numbers.count, master: master, stationDelay: configuration.stationDelay,
      maximumOpen: configuration.maximumOpen, flow: configuration.flow)
    let bank = SimulatedGPIOBank(highAtRest: Set(numbers))
    let lines = try bank.outputs(numbers.map { GPIOLine(.bcm($0), isActiveLow: true) })
    let garden = SimulatedGarden(
      on: bank,
      valves: (1...count).map {
        SimulatedGarden.Valve(line: $0, isActiveLow: true, litresPerMinute: configuration.litresPerMinute)
      },
      master: master.map { _ in SimulatedGarden.Valve(line: Self.masterLine, isActiveLow: true) },
      pulsesPerLitre: configuration.flow?.pulsesPerLitre ?? 450)

    let mailbox = try SprinklerLoop.mailbox(limits: RulesBox(settings.flowLimits), notices: 4_096)
    let bell = requestBell
    let hasFlow = configuration.flow != nil
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let flowAge = DataAge("flow", fromOutside: .awaitsLoop)
    runtime = try Runtime {
      Lane("sprinkler") {
        Loop(
          Self.loop, every: .hertz(1), phase: .zero, safeStateAfter: 3, inputs: [.simulated(bell)],
          ages: hasFlow ? [commandAge, flowAge] : [commandAge]
        ) {
          SprinklerLoop(
            settings, lines: lines.port(), flow: hasFlow ? garden.flowSensor() : nil,
            ends: mailbox.loopEnds(requestBell: bell.doorbell), commandAge: commandAge.meter(),
            flowAge: flowAge.meter())
        }
      }
    }
    self.bank = bank
    self.garden = garden
    self.lines = lines
    client = mailbox.client()
    simulation = try runtime.simulation(seed: configuration.seed)
    for zone in 1...count { request(.zone(ZoneID(zone)!, ZoneSettings(line: UInt8(clamping: zone - 1)))) }
  }

  /// The instant up to which the simulation has run.
  public var now: TickInstant { simulation.now }

  /// Runs the simulation for `duration`, and returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: the loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes the loop's first tick at or after `instant` take `by` longer.
  public func stall(at instant: TickInstant, by: Nanoseconds) { simulation.stall(loop: Self.loop, at: instant, by: by) }

  /// The loop's last published snapshot, as other threads of a daemon would see it.
  public var snapshot: SprinklerSnapshot { client.newest().state }

  /// Sends a request now, which releases the loop, and returns its number. More than 512 requests between two ticks are a programming error.
  @discardableResult
  public func request(_ order: SprinklerOrder) -> UInt64 {
    requestNumber += 1
    let isTaken = client.send(SprinklerRequest(number: requestNumber, issued: now, order))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return requestNumber
  }

  /// Returns the loop's answers since the last call. More than 1,024 are a programming error.
  public func takeAnswers() -> [Answer<IrrigationRefusal>] { client.takeAnswers() }

  public func takeNotices() -> [IrrigationNotice] { client.takeNotices().map(\.notice) }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash of every tick so far; equal runs have equal hashes.
  public var traceHash: UInt64 { simulation.traceHash }
}
