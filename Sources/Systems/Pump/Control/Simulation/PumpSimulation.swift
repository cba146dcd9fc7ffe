import Buses
import Tactus

/// A pump, its operator side and the line between them in one process and in simulated time: production loops, production scheduler, a simulated
/// world.
///
/// Use it on one thread only. The same seed and the same calls give the same run.
public final class PumpSimulation {
  public struct Configuration: Sendable {
    public var device = PumpDeviceSettings.standard
    public var settings = PumpOperatorSettings.standard
    public var world = PumpWorld.Parameters()
    public var line = PumpCable.Conditions()
    public var seed: UInt64 = 1

    public init() {}
  }

  /// The name of the device side's loop in `statistics`.
  public static let deviceLoop = "pump-device"
  /// The name of the operator side's loop in `statistics`.
  public static let operatorLoop = "pump"

  public let world: PumpWorld
  public let cable: PumpCable
  private let runtime: Runtime
  private let simulation: Simulation
  private let client: PumpMailbox.Client
  private let deviceClient: PumpMailbox.Client
  private let requestBell = SimulatedInput()
  private let deviceBell = SimulatedInput()
  private var number: UInt64 = 0

  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let world = PumpWorld(configuration.world)
    let cable = PumpCable(configuration.line, seed: configuration.seed)
    let mailbox = try PumpMailbox(operating: configuration.settings)
    let deviceMailbox = try PumpMailbox(own: configuration.device)
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
            deviceMailbox.loopEnds(requestBell: deviceBell.doorbell), link: PumpLink(serial: cable.devicePort()),
            motor: world.motor(), inputs: world.inputs(), commandAge: commandAge.meter(),
            temperatureAge: temperatureAge.meter())
        }
      }
      Lane("operator") {
        Loop(
          Self.operatorLoop, every: PumpOperatorLoop.rate, phase: .milliseconds(3), safeStateAfter: 3,
          inputs: [.simulated(cable.operatorInput), .simulated(requestBell)]
        ) {
          PumpOperatorLoop(
            mailbox.loopEnds(requestBell: requestBell.doorbell), link: PumpLink(serial: cable.operatorPort()))
        }
      }
    }
    self.world = world
    self.cable = cable
    client = mailbox.client()
    deviceClient = deviceMailbox.client()
    simulation = try runtime.simulation(seed: configuration.seed)
  }

  /// The instant up to which the simulation has run.
  public var now: TickInstant { simulation.now }

  /// Runs the simulation for `duration`; returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 { simulation.run(for: duration) }

  /// Ends the run as `Runtime.stop()` does: every loop enters its safe state.
  public func stop() { simulation.stop() }

  /// Makes a loop's first tick at or after `instant` take `by` longer.
  public func stall(_ loop: String, at instant: TickInstant, by: Nanoseconds) {
    simulation.stall(loop: loop, at: instant, by: by)
  }

  /// Sends a request to the operator side now, as a client inside the daemon does. Returns the request's number, counted from 1. More than 64
  /// requests between two ticks are a programming error.
  @discardableResult
  public func request(_ order: PumpOrder) -> UInt64 { send(order, to: client, requestBell) }

  /// Sends a request to the device side now. Returns the request's number, counted from 1.
  @discardableResult
  public func requestOfDevice(_ order: PumpOrder) -> UInt64 { send(order, to: deviceClient, deviceBell) }

  private func send(_ order: PumpOrder, to client: PumpMailbox.Client, _ bell: SimulatedInput) -> UInt64 {
    number += 1
    let isTaken = client.send(Request(number: number, issued: now, makesSafe: order.makesSafe, order: order))
    precondition(isTaken, "too many requests between two ticks")
    bell.ring(at: now)
    return number
  }

  public var snapshot: PumpSnapshot { client.newest().state.operated! }
  public var device: PumpDeviceSnapshot { deviceClient.newest().state.own! }

  /// Returns the operator side's answers since the last call.
  public func takeAnswers() -> [Answer<PumpIgnoreReason>] { client.takeAnswers() }

  /// Returns the notices for the log since the last call.
  public func takeNotices() -> [Told<PumpNotice>] { client.takeNotices() }

  public func takeDeviceNotices() -> [Told<PumpNotice>] { deviceClient.takeNotices() }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over all ticks so far, equal for equal runs.
  public var traceHash: UInt64 { simulation.traceHash }
}
