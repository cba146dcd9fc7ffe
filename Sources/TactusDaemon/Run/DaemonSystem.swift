import Buses
import BusesLinux
import Devices
import Logging
import Plants
import Service
import Tactus

/// One system of the daemon, with its sockets and buses: what the daemon starts, watches, serves and stops.
///
/// Used by the main thread; only the lane runs elsewhere. Must outlive the lane.
protocol DaemonSystem: AnyObject {
  /// `robot`: the `system` of its log lines.
  var name: String { get }
  /// Where it listens, the ports in effect.
  var endpoints: [Endpoint] { get }
  /// What belongs to the log line of the start: where it listens.
  var startMetadata: Logger.Metadata { get }

  /// Its control loop, and whether that still publishes: its sign of life.
  var loopName: String { get }
  var heartbeat: LatestVersion { get }
  /// How far apart its signs of life are when all is well.
  var heartbeatPeriod: Nanoseconds { get }
  /// To be built once. `bell` is rung when there are answers or notices to take.
  func lane(bell: DoorbellButton) -> Lane

  /// GPIO lines that drive something: inactive is their safe state, and the guard inherits them. Empty when simulated.
  var heldLines: [LinuxGPIOLines] { get }

  var served: any ServedSystem { get }
  var metrics: any MetricSource { get }
  /// What of it lives on the MQTT broker, besides its state and commands, which every system has there.
  var brokerParticipants: [any BrokerParticipant] { get }
  /// What it has around it when it is simulated; nil: its hardware is real.
  var simulation: SimulatedSurroundings? { get }

  /// What is left to do when the runtime has started.
  func started()
  /// Hands the loop's answers to the clients that wait.
  func takeAnswers(at now: TickInstant)
  /// Logs what the loop has told since the last call; what subscribers are told of it.
  func takeNotices(_ logger: Logger) -> [Event]
  /// Ten times a second.
  func beat(at now: TickInstant)
  /// Once a second: what nobody could see otherwise.
  func report(_ logger: Logger)

  /// What is left to do with actuators and links when the runtime has stopped.
  func finish(_ logger: Logger)
  /// What has happened until then goes into the store. After every system's `finish`, since it may wait for a disk.
  func finishKeeping()
  /// Keys of the file that may change while it runs.
  var changeableKeys: [String] { get }
  /// What of a changed file its loop is to take; nil: nothing of it has changed.
  func change(to new: Configuration) -> (any RulesChange)?
  /// Why an actuator cannot be trusted to be in its safe state; nil: every one has confirmed it. After the runtime has
  /// stopped.
  var unconfirmed: (message: String, state: String)? { get }
}

extension DaemonSystem {
  var changeableKeys: [String] { [] }
  func change(to new: Configuration) -> (any RulesChange)? { nil }
  func started() {}
  func finishKeeping() {}
  var heldLines: [LinuxGPIOLines] { [] }
  var brokerParticipants: [any BrokerParticipant] { [] }
  /// Less than the supervisor's own period.
  var heartbeatPeriod: Nanoseconds { .zero }
  func beat(at now: TickInstant) { takeAnswers(at: now) }
}

/// What one simulated system has around it: faults to inject, transactions to look at.
struct SimulatedSurroundings {
  var buses: [SimulatedBus]
  /// By the name of the lane.
  var lanes: [String: LaneStall]
  var robot: SimulatedRobot?
  var legs: SimulatedLegs?
  var pump: SimulatedPump?
  var garden: SimulatedGarden?
  /// Faults that the system has declared.
  var named: NamedFaults?
}

extension SimulatedSurroundings? {
  /// Which misses make a fault of the lane's loop: on real hardware every one; on simulated hardware, which shows no fault that nobody
  /// injected, those of a stall that was asked for.
  func countedMisses(lane: String) -> CountedMisses {
    guard let self else { return .all }
    return .injected(self.lanes[lane]?.served)
  }
}
