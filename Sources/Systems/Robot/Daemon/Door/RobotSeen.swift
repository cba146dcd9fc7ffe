import Robot
import Tactus
import TactusDaemon
import Wire

/// The robot as it is looked at.
struct RobotSeen {
  let snapshot: RobotSnapshot
  /// When it is looked at; ages in `/metrics` count from here, so that they grow while the loop hangs.
  let now: TickInstant

  /// - Parameter now: unless given, the tick that has left the snapshot.
  init(_ snapshot: RobotSnapshot, now: TickInstant? = nil) {
    (self.snapshot, self.now) = (snapshot, now ?? snapshot.at)
  }

  var view: RobotView { RobotView(robot: snapshot.state, at: snapshot.at) }
  var lastCommandAge: Double? { snapshot.holder.map { max(.zero, now - $0.lastCommand).inSeconds } }
  var lastFailure: String? { snapshot.lastFailure.map { "\($0)" } }
  var lastMalformed: String? { snapshot.lastMalformed.map { "\($0)" } }
}

/// What the robot does, why, and what to do about it.
struct RobotView {
  /// The value of `state` in the API.
  enum StateWord: String, Word { case stopped, driving, emergencyStopped, fault, shutDown }

  /// The value of `state` in `/metrics`.
  enum MetricWord: String, Word {
    case stopped, driving
    case emergencyStopped = "emergency_stopped"
    case fault
    case shutDown = "shut_down"
  }

  struct HolderView {
    /// `192.168.1.20:50000`, `local client 7`.
    let source: String
    let ageMs: Double
  }

  let robot: RobotState
  /// The tick that has left the robot in this state.
  let at: TickInstant

  var word: StateWord { robot.word }

  var metricWord: MetricWord {
    switch robot.word {
    case .stopped: .stopped
    case .driving: .driving
    case .emergencyStopped: .emergencyStopped
    case .fault: .fault
    case .shutDown: .shutDown
    }
  }

  var reason: String { "\(robot)" }

  var holder: HolderView? {
    robot.holder.map { HolderView(source: "\($0.source)", ageMs: (at - $0.lastCommand).inMilliseconds) }
  }

  var isEmergencyStopped: Bool { robot.word == .emergencyStopped }

  /// A fault beside an emergency stop as well.
  var fault: String? {
    switch robot {
    case .fault(let fault): "\(fault.cause)"
    case .emergencyStopped(let stop): stop.fault.map { "\($0)" }
    case .stopped, .driving, .shutDown: nil
    }
  }

  /// Whether the board has taken the stop that is in force; `nil` while no stop is.
  var isStopConfirmed: Bool? {
    switch robot {
    case .stopped(let standstill): standstill.confirmation.isConfirmed
    case .driving: nil
    case .emergencyStopped(let stop): stop.confirmation.isConfirmed
    case .fault(let fault): fault.confirmation.isConfirmed
    case .shutDown(let confirmation): confirmation.isConfirmed
    }
  }
}

extension RobotState {
  /// The value of `state` in the API.
  var word: RobotView.StateWord {
    switch self {
    case .stopped: .stopped
    case .driving: .driving
    case .emergencyStopped: .emergencyStopped
    case .fault: .fault
    case .shutDown: .shutDown
    }
  }
}
