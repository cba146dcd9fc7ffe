import Buses
import Tactus

/// A pump, its operator side and the line between them in one process and in simulated time: production loops, production
/// scheduler, a simulated world.
///
/// For one thread. The same seed and the same calls give the same run.
public final class PumpSimulation {
  public struct Configuration: Sendable {
    public var device = PumpDeviceSettings.standard
    public var settings = PumpOperatorSettings.standard
    public var world = PumpWorld.Parameters()
    public var line = PumpCable.Conditions()
    public var seed: UInt64 = 1

    public init() {}
  }

  /// The loops in `statistics`.
  public static let deviceLoop = "pump-device"
  public static let operatorLoop = "pump"

  public let world: PumpWorld
  public let cable: PumpCable
  private let runtime: Runtime
  private let simulation: Simulation
  private let client: PumpOperatorLoop.Channel.Client
  private let deviceClient: PumpDeviceLoop.Channel.Client
  private let requestBell = SimulatedInput()
  private let deviceBell = SimulatedInput()
  private var number: UInt64 = 0

  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let world = PumpWorld(configuration.world)
    let cable = PumpCable(configuration.line, seed: configuration.seed)
    let (channel, deviceChannel) = (PumpOperatorLoop.channel(), PumpDeviceLoop.channel())
    let (requestBell, deviceBell) = (self.requestBell, self.deviceBell)
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let temperatureAge = DataAge("temperature", fromOutside: .unknown)
    runtime = try Runtime {
      Lane("device") {
        Loop(
          Self.deviceLoop, every: PumpDeviceLoop.rate, phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(cable.deviceInput), .simulated(deviceBell)], ages: [commandAge, temperatureAge]
        ) {
          PumpDeviceLoop(
            RulesBox(configuration.device).input(), link: PumpLink(serial: cable.devicePort()), motor: world.motor(),
            inputs: world.inputs(), channel: deviceChannel.loopEnds(requestBell: deviceBell.doorbell),
            commandAge: commandAge.meter(), temperatureAge: temperatureAge.meter())
        }
      }
      Lane("operator") {
        Loop(
          Self.operatorLoop, every: PumpOperatorLoop.rate, phase: .milliseconds(3), safeStateAfter: 3,
          inputs: [.simulated(cable.operatorInput), .simulated(requestBell)]
        ) {
          PumpOperatorLoop(
            RulesBox(configuration.settings).input(), link: PumpLink(serial: cable.operatorPort()),
            channel: channel.loopEnds(requestBell: requestBell.doorbell))
        }
      }
    }
    self.world = world
    self.cable = cable
    client = channel.client()
    deviceClient = deviceChannel.client()
    simulation = try runtime.simulation(seed: configuration.seed)
  }

  /// The instant up to which everything has happened.
  public var now: TickInstant { simulation.now }

  /// Runs everything that happens in the next `duration`; returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: every loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes a loop's first tick at or after `instant` take `by` longer.
  public func stall(_ loop: String, at instant: TickInstant, by: Nanoseconds) {
    simulation.stall(loop: loop, at: instant, by: by)
  }

  /// A request of a client inside the daemon, made now. Returns its number, counted from 1. More than 64 between two ticks are
  /// our bug.
  @discardableResult
  public func request(_ order: PumpRequest.Order) -> UInt64 {
    number += 1
    let isTaken = client.send(PumpRequest(number: number, issued: now, order))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return number
  }

  /// The same, of the device side.
  @discardableResult
  public func requestOfDevice(_ order: PumpDeviceRequest.Order) -> UInt64 {
    number += 1
    let isTaken = deviceClient.send(PumpDeviceRequest(number: number, issued: now, order))
    precondition(isTaken, "too many requests between two ticks")
    deviceBell.ring(at: now)
    return number
  }

  public var snapshot: PumpSnapshot { client.newest() }
  public var device: PumpDeviceSnapshot { deviceClient.newest() }

  /// The operator side's answers since the last call.
  public func takeAnswers() -> [PumpAnswer] { client.takeAnswers() }

  /// What the log would have got since the last call.
  public func takeNotices() -> [PumpNotice] { client.takeNotices() }

  public func takeDeviceNotices() -> [PumpDeviceNotice] { deviceClient.takeNotices() }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over every tick so far: equal for equal runs.
  public var traceHash: UInt64 { simulation.traceHash }
}
