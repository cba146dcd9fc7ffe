import Buses
import Tactus
import Wire

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
  private var requestWriter: RingWriter<PumpRequest>
  private var answerReader: RingReader<PumpAnswer>
  private var snapshotReader: LatestReader<PumpSnapshot>
  private var noticeReader: RingReader<PumpNotice>
  private var deviceRequestWriter: RingWriter<PumpDeviceRequest>
  private var deviceSnapshotReader: LatestReader<PumpDeviceSnapshot>
  private var deviceNoticeReader: RingReader<PumpDeviceNotice>
  private let requestBell = SimulatedInput()
  private let deviceBell = SimulatedInput()
  private var number: UInt64 = 0

  public init(_ configuration: Configuration = Configuration()) throws(RuntimeError) {
    let world = PumpWorld(configuration.world)
    let cable = PumpCable(configuration.line, seed: configuration.seed)
    let requests = Ring<PumpRequest>(capacity: PumpOperatorLoop.requestsPerTick)
    let answers = Ring<PumpAnswer>(capacity: 256)
    let output = Latest(PumpSnapshot())
    let notices = Ring<PumpNotice>(capacity: 1_024)
    let deviceRequests = Ring<PumpDeviceRequest>(capacity: PumpDeviceLoop.requestsPerTick)
    let deviceAnswers = Ring<PumpAnswer>(capacity: 256)
    let deviceOutput = Latest(PumpDeviceSnapshot())
    let deviceNotices = Ring<PumpDeviceNotice>(capacity: 1_024)
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
            inputs: world.inputs(), requests: deviceRequests.reader(), requestBell: deviceBell.doorbell,
            answers: deviceAnswers.writer(), snapshot: deviceOutput.writer(), notices: deviceNotices.writer(),
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
            requests: requests.reader(),
            requestBell: requestBell.doorbell, answers: answers.writer(), snapshot: output.writer(),
            notices: notices.writer())
        }
      }
    }
    self.world = world
    self.cable = cable
    requestWriter = requests.writer()
    answerReader = answers.reader()
    snapshotReader = output.reader()
    noticeReader = notices.reader()
    deviceRequestWriter = deviceRequests.writer()
    deviceSnapshotReader = deviceOutput.reader()
    deviceNoticeReader = deviceNotices.reader()
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
    let isTaken = requestWriter.push(PumpRequest(number: number, issued: now, order))
    precondition(isTaken, "too many requests between two ticks")
    requestBell.ring(at: now)
    return number
  }

  /// The same, of the device side.
  @discardableResult
  public func requestOfDevice(_ order: PumpDeviceRequest.Order) -> UInt64 {
    number += 1
    let isTaken = deviceRequestWriter.push(PumpDeviceRequest(number: number, issued: now, order))
    precondition(isTaken, "too many requests between two ticks")
    deviceBell.ring(at: now)
    return number
  }

  public var snapshot: PumpSnapshot { snapshotReader.read() }
  public var device: PumpDeviceSnapshot { deviceSnapshotReader.read() }

  /// The operator side's answers since the last call.
  public func takeAnswers() -> [PumpAnswer] {
    var answers: [PumpAnswer] = []
    while let answer = answerReader.pop() { answers.append(answer) }
    return answers
  }

  /// What the log would have got since the last call.
  public func takeNotices() -> [PumpNotice] {
    var notices: [PumpNotice] = []
    while let notice = noticeReader.pop() { notices.append(notice) }
    return notices
  }

  public func takeDeviceNotices() -> [PumpDeviceNotice] {
    var notices: [PumpDeviceNotice] = []
    while let notice = deviceNoticeReader.pop() { notices.append(notice) }
    return notices
  }

  public var statistics: RuntimeStatistics { runtime.statistics }

  /// A hash over every tick so far: equal for equal runs.
  public var traceHash: UInt64 { simulation.traceHash }
}
