import Devices
import Robot
import Tactus
import TactusDaemon
import Wire

/// The robot's state as shown in documents and metrics.
public struct RobotSeen: Sendable {
  /// The loop's counters, and the numbers of its answers and notices that were lost.
  struct Counts {
    let loop: RobotCounters
    let boardTimeouts: Int64
    let answersDropped, noticesDropped: Int64
  }

  /// The distance ahead by the distance sensor.
  struct Ahead {
    let distance: Int?
    let age: Double?
    let stopWithin: Int
  }

  /// The lean of the robot, in degrees.
  struct Attitude {
    let roll, pitch: Double
  }

  /// The camera mount, in degrees.
  struct Mount {
    let pan, tilt, panTarget, tiltTarget: Int?
    let settings: CameraMountSettings
  }

  let published: Published<RobotSnapshot>
  /// The instant at which the state is read. Ages in `/metrics` are relative to this instant, so that they grow while the loop hangs.
  let now: TickInstant

  var snapshot: RobotSnapshot { published.state }
  var view: RobotView { RobotView(robot: snapshot.state, at: published.at) }
  var counts: Counts {
    Counts(
      loop: snapshot.counters, boardTimeouts: snapshot.board.timeouts, answersDropped: published.answersDropped,
      noticesDropped: published.noticesDropped)
  }
  /// The commanded motion in SI units, or `nil` without a geometry to convert it.
  var motion: Twist? { snapshot.settings.geometry?.twist(snapshot.speeds) }
  var lastCommandAge: Double? { snapshot.holder.map { max(.zero, now - $0.lastCommand).inSeconds } }
  /// The distance ahead, or `nil` unless it is watched. A reading that is too old to count is not shown.
  var ahead: Ahead? {
    guard let stopWithin = snapshot.settings.stopWithinMillimetres else { return nil }
    let valid = snapshot.ahead.flatMap { published.at - $0.at <= DistanceReading.validity ? $0 : nil }
    return Ahead(
      distance: valid?.millimetres, age: valid.map { (published.at - $0.at).inMilliseconds }, stopWithin: stopWithin)
  }
  var batteryPercent: Double? { snapshot.board.battery?.value }
  var attitude: Attitude? {
    guard let roll = snapshot.board.roll, let pitch = snapshot.board.pitch else { return nil }
    return Attitude(roll: roll.value, pitch: pitch.value)
  }
  var abilities: [BoardAbility] { snapshot.fittings.board.abilities }
  var mount: Mount? {
    let fittings = snapshot.fittings
    guard fittings.board.can(.panTilt) else { return nil }
    return Mount(
      pan: fittings.pan.told, tilt: fittings.tilt.told, panTarget: fittings.pan.target,
      tiltTarget: fittings.tilt.target, settings: fittings.mount)
  }
  /// The colours of the lights in the form `#ff8000`, in the order of the lights.
  var lights: [String] {
    guard snapshot.fittings.board.can(.lights) else { return [] }
    return (0..<RaspbotV2.lightCount).map { snapshot.fittings.colour(of: $0)?.hexadecimal ?? "unknown" }
  }
  var isBuzzing: Bool? { snapshot.fittings.isBuzzing }
  var height: Double? { snapshot.fittings.height }
  var isBalancing: Bool? { snapshot.fittings.isBalancing }
  /// The probes of the line sensor, or `nil` if there is no reading. A reading that is too old is not shown.
  var line: LineProbes? {
    snapshot.line.flatMap { published.at - $0.at <= LineReading.validity ? $0.probes : nil }
  }
  var lastFailure: String? { snapshot.lastFailure.map { "\($0)" } }
  var lastMalformed: String? { snapshot.lastMalformed.map { "\($0)" } }
}

/// The robot's state, its reason and the remedy.
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

  /// The value of `forwardStop` in the API.
  enum ForwardStopWord: String, Word { case obstacle, distanceUnknown }

  struct HolderView {
    /// The source that controls the robot, in words, such as `192.168.1.20:50000` or `local client 7`.
    let source: String
    let ageMs: Double
  }

  let robot: RobotState
  /// The instant of the tick that left the robot in this state.
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

  var share: Double? { robot.share }

  var forwardStop: ForwardStopWord? {
    switch robot.forwardStop {
    case .obstacle: .obstacle
    case .distanceUnknown: .distanceUnknown
    case nil: nil
    }
  }

  var isEmergencyStopped: Bool { robot.word == .emergencyStopped }

  /// The cause of the fault, or `nil` if there is no fault. A fault may exist during an emergency stop.
  var fault: String? {
    switch robot {
    case .fault(let fault): "\(fault.cause)"
    case .emergencyStopped(let stop): stop.fault.map { "\($0)" }
    case .stopped, .driving, .shutDown: nil
    }
  }

  /// Whether the board has confirmed the stop that is in force, or `nil` while the robot is driving.
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

extension LightColour {
  /// The colour as browsers write it: `#ff8000`.
  fileprivate var hexadecimal: String {
    "#"
      + [red, green, blue].map { channel in
        let digits = String(channel, radix: 16)
        return digits.count == 1 ? "0\(digits)" : digits
      }.joined()
  }
}

// The module of the control does not depend on the daemon, so the conformances are declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension BoardAbility: @retroactive Plain, @retroactive PlainChoice, @retroactive Word {}
// swift-format-ignore: AvoidRetroactiveConformances
extension RobotBoard: @retroactive Plain, @retroactive PlainChoice, @retroactive Word {}
