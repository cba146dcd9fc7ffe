import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// One system of the daemon, with its sockets and buses: what the daemon starts, watches, serves and stops.
///
/// Used by the main thread. Nothing here has a default: a system that says nothing of one of these has thought of it.
public protocol DaemonSystem: AnyObject {
  /// `robot`: the `system` of its log lines.
  var name: String { get }
  /// Where it listens, the ports in effect.
  var endpoints: [Endpoint] { get }
  /// What belongs to the log line of the start: where it listens.
  var startMetadata: Logger.Metadata { get }

  /// The system as the HTTP service and the MQTT broker see it. Read before the loops start.
  var served: any ServedSystem { get }
  /// Its part of `/metrics`. Read before the loops start; written from any thread.
  var metrics: any MetricSource { get }
  /// What of it lives on the MQTT broker, besides its state and commands, which every system has there.
  var brokerParticipants: [any BrokerParticipant] { get }

  /// What is left to do when the runtime has started.
  func started()
  /// Hands the loop's answers to the clients that wait.
  func takeAnswers(at now: TickInstant)
  /// Logs the loop's notices since the previous call, and returns their events for subscribers.
  func takeNotices(_ logger: Logger) -> [Event]
  /// Ten times a second, after `takeAnswers`.
  func beat(at now: TickInstant)
  /// Called once a second. Logs what would be seen nowhere else.
  func report(_ logger: Logger)

  /// What is left to do with actuators and links when the runtime has stopped.
  func finish(_ logger: Logger)
  /// What has happened until then goes into the store. After every system's `finish`, since it may wait for a disk.
  ///
  /// - Returns: what the store knows of how the outputs ended. What the store does not know is noted for the next start.
  func finishKeeping() -> KeptOutcome
  /// Returns the change that a reloaded file makes to the keys with `ConfigKey.mayChange`, or `nil` if all of them have the same values.
  func change(to new: Configuration) -> (any RulesChange)?
}

/// What the store knows, at the end, of how a system's outputs ended.
public enum KeptOutcome: Sendable, Hashable {
  /// The store knows everything, or the system keeps nothing.
  case known
  /// The store does not know how the outputs of this program ended.
  case unknown
  /// The store does not even know how the outputs of the program before ended. Until it does, the system turns nothing on.
  case unknownBefore

  /// Returns the instants at which outputs were turned off and that must be noted for the next start; empty if the store knows of all.
  ///
  /// - Parameters:
  ///   - outcomes: one of each system.
  ///   - before: when the outputs of the program before were turned off; empty if that is unknown.
  ///   - now: when the outputs of this program were turned off.
  package static func ends(_ outcomes: [KeptOutcome], before: [TickInstant], now: TickInstant) -> [TickInstant] {
    if outcomes.contains(.unknown) { return [now] }
    guard outcomes.contains(.unknownBefore) else { return [] }
    return before.isEmpty ? [now] : before
  }
}

/// A system with a control loop. Only its lane runs on another thread; it must outlive the lane.
public protocol LoopSystem: DaemonSystem {
  /// The name of its control loop, whose publishing is its heartbeat.
  var loopName: String { get }
  /// Grows whenever the loop publishes. The supervisor watches it, and its heartbeats name the loops that advance.
  var heartbeat: LatestVersion { get }
  /// Time between heartbeats when all is well; zero if it is less than the supervisor's period.
  var heartbeatPeriod: Nanoseconds { get }
  /// To be built once. `bell` is rung when there are answers or notices to take.
  func lane(bell: DoorbellButton) -> Lane
  /// GPIO lines that drive something: inactive is their safe state, and the guard inherits them. Empty when simulated.
  var heldLines: [LinuxGPIOLines] { get }
  /// The simulated buses, lanes and faults, or `nil` if the hardware is real.
  var simulation: SimulatedSurroundings? { get }
  /// Why an actuator cannot be trusted to be in its safe state, or `nil` if every one has confirmed it. Called after the runtime has
  /// stopped.
  var unconfirmed: (message: String, state: String)? { get }
}

/// What one simulated system has around it: faults to inject, transactions to look at.
public struct SimulatedSurroundings: Sendable {
  var buses: [SimulatedBus]
  /// By the name of the lane.
  var lanes: [String: LaneStall]
  /// What else can be seen of it: `GET /api/sim/robot`.
  var routes: [Route] = []
  /// Faults that the system has declared.
  var named: NamedFaults?

  /// What the service offers of a simulated system.
  ///
  /// - Parameters:
  ///   - lanes: by the name of the lane.
  ///   - named: faults that the system has declared, or `nil` if it declares none.
  public init(buses: [SimulatedBus], lanes: [String: LaneStall], routes: [Route] = [], named: NamedFaults? = nil) {
    self.buses = buses
    self.lanes = lanes
    self.routes = routes
    self.named = named
  }
}

extension SimulatedSurroundings? {
  /// Which misses make a fault of the lane's loop: on real hardware every one; on simulated hardware, which shows only faults that were
  /// injected, those of a stall that was asked for.
  public func countedMisses(lane: String) -> CountedMisses {
    guard let self else { return .all }
    return .injected(self.lanes[lane]?.served)
  }
}
