import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// One system of the daemon with its sockets and buses, which the daemon starts, watches, serves and stops. Used by the
/// main thread. `HostedSystem` and `HostedWithoutLoops` are made of a declaration.
protocol DaemonSystem: AnyObject {
  /// The name of the system, which is the `system` of its log lines: `robot`.
  var name: String { get }
  /// The addresses on which the system listens, with the ports in effect.
  var endpoints: [Endpoint] { get }
  /// The metadata for the log line of the start, such as the addresses on which the system listens.
  var startMetadata: Logger.Metadata { get }

  /// The system as the HTTP service and the MQTT broker see it. The property is read before the loops start.
  var served: any ServedSystem { get }
  /// The system's part of `/metrics`. The property is read before the loops start; metrics are written from any thread.
  var metrics: any MetricSource { get }
  /// The participants of the system on the MQTT broker, besides the state and commands that every system has there.
  var brokerParticipants: [any BrokerParticipant] { get }

  /// Completes the start. Called when the runtime has started.
  func started()
  /// Delivers the loop's answers to the waiting clients.
  ///
  /// - Parameter before: called when the answers are known and no client has one yet.
  func takeAnswers(at now: TickInstant, before: () -> Void)
  /// Logs the loop's notices since the previous call, and returns their events for subscribers.
  func takeNotices(_ logger: Logger) -> [Event]
  /// Does periodic work. Called ten times a second, after `takeAnswers`.
  func beat(at now: TickInstant)
  /// Logs facts that are not visible elsewhere. Called once a second.
  func report(_ logger: Logger)

  /// Finishes the work on actuators and links. Called when the runtime has stopped.
  func finish(_ logger: Logger)
  /// Stores the remaining data in the store. Called after every system's `finish`, since it may wait for a disk.
  ///
  /// - Returns: whether the store knows how the outputs ended. If it does not, the end of the outputs is noted for the
  ///   next start.
  func finishKeeping() -> KeptOutcome
  /// Returns the change that a reloaded file makes to the keys with `ConfigKey.mayChange`, or `nil` if all of them have the same values.
  func change(to new: Configuration) -> (any RulesChange)?
}

/// Whether the store knows, at the end of the program, how the outputs of a system ended.
public enum KeptOutcome: Sendable, Hashable {
  /// The store knows everything, or the system keeps nothing.
  case known
  /// The store does not know how the outputs of this program ended.
  case unknown
  /// The store does not know how the outputs of the previous program ended. Until the store knows, the system turns nothing on.
  case unknownBefore

  /// Returns the instants at which outputs were turned off and that must be noted for the next start; empty if the
  /// store knows all of them.
  ///
  /// - Parameters:
  ///   - outcomes: the outcomes of all systems.
  ///   - before: the instants at which the outputs of the previous program were turned off; empty if they are unknown.
  ///   - now: the instant at which the outputs of this program were turned off.
  package static func ends(_ outcomes: [KeptOutcome], before: [TickInstant], now: TickInstant) -> [TickInstant] {
    if outcomes.contains(.unknown) { return [now] }
    guard outcomes.contains(.unknownBefore) else { return [] }
    return before.isEmpty ? [now] : before
  }
}

/// A system with a control loop. Only its lane runs on another thread; the system must outlive the lane.
protocol LoopSystem: DaemonSystem {
  /// The name of the control loop. Each state that the loop publishes is a heartbeat.
  var loopName: String { get }
  /// The version of the state, which grows whenever the loop publishes. The supervisor watches it, and its heartbeats
  /// to the guard name the loops that advance.
  var heartbeat: LatestVersion { get }
  /// The maximum time between heartbeats during normal operation; zero if it is less than the supervisor's period.
  var heartbeatPeriod: Nanoseconds { get }
  /// Returns the lane of the system. Called once. `bell` is rung when there are answers or notices to take.
  func lane(bell: DoorbellButton) -> Lane
  /// The GPIO lines that drive actuators. Their safe state is the inactive level, and the guard inherits them. The list
  /// is empty if the hardware is simulated.
  var heldLines: [LinuxGPIOLines] { get }
  /// The simulated buses, lanes and faults, or `nil` if the hardware is real.
  var simulation: SimulatedSurroundings? { get }
  /// The reason why an actuator may not be in its safe state, or `nil` if every actuator has confirmed its safe state.
  /// Read after the runtime has stopped.
  var unconfirmed: (message: String, state: String)? { get }
}

/// The simulated surroundings of one system: faults to inject and transactions to inspect.
struct SimulatedSurroundings: Sendable {
  var buses: [SimulatedBus]
  /// The stalls of the lanes by the names of the lanes.
  var lanes: [String: LaneStall]
  /// Additional routes of the simulated system, such as `GET /api/sim/robot`.
  var routes: [Route] = []
  /// The faults that the system declares, or `nil` if it declares none.
  var named: NamedFaults?
}
