import Robot
import Tactus
import TactusSwarm
import Wire

/// The real behaviour of the robot's motors, against which the reports to an operator are judged.
struct RobotTruth {
  /// The instant at which the motors were last seen to stand still.
  var stillAt = TickInstant.zero
  /// The instant at which the motors were last seen to run.
  var movingAt = TickInstant.zero
  /// The instant at which the board was last unreachable, or `nil` if it always was reachable.
  var unreachableAt: TickInstant?
}

/// The checks of an operator: whether its commands and its display agree with its person's inputs and with the behaviour of the motors.
struct RobotOperatorOracle {
  static let names = [
    "an operator sends what its person wants: speeds of the stick, one reset a press, after an e-stop nothing else",
    "what an operator is told of the motors was true since it asked",
    "an operator that hears nothing for a second says so",
  ]
  /// The index of the first check of an operator, after those of the robot.
  private static let first = RobotOracle.own.count

  /// The speeds at which the person holds the stick.
  var stick = WheelSpeeds.zero
  /// The person's requests since the last tick.
  var asked: [OperatorRequest] = []
  /// The instant at which a datagram last came from the robot, or `nil` if none has.
  var heardAt: TickInstant?
  private enum Mode { case free, held, emergencyStopped, quit }
  private var mode = Mode.free
  private var resets = 0
  private var believedAt = TickInstant.zero

  init(at now: TickInstant) { believedAt = now }

  /// Checks the operator after a tick at `now`.
  mutating func check(
    sent: [RobotCommand], _ snapshot: OperatorSnapshot, _ truth: RobotTruth, at now: TickInstant,
    _ output: inout SwarmOutput
  ) {
    applyRequests()
    for datagram in sent {
      output.check(
        Self.first, isWanted(datagram), at: now, "it sends \(datagram), the stick is at \(stick), it is \(mode)")
    }
    if mode == .emergencyStopped {
      output.check(
        Self.first, sent.last == .emergencyStop, at: now, "it sends \(sent) after an e-stop was pressed")
    }
    if mode == .held, stick.isZero { mode = .free }
    if let heard = snapshot.heard, heard.at > believedAt {
      believedAt = heard.at
      judge(heard, truth, at: now, &output)
    }
    if case .alive = snapshot.connection {
      let silence = now - (heardAt ?? .zero)
      output.check(
        Self.first + 2, heardAt != nil && silence <= .milliseconds(1_050), at: now,
        "the connection is said to be alive, and nothing has come for \(silence.inSeconds) s")
    }
  }

  /// Applies the person's requests in the order in which they were made.
  private mutating func applyRequests() {
    for request in asked where mode != .quit {
      switch request {
      case .stop: if mode == .free { mode = .held }
      case .emergencyStop: mode = .emergencyStopped
      case .reset: if stick.isZero { (mode, resets) = (.free, resets + 1) }
      case .quit: mode = .quit
      }
    }
    asked = []
  }

  private mutating func isWanted(_ datagram: RobotCommand) -> Bool {
    switch datagram {
    case .reset:
      resets -= 1
      return resets >= 0
    case .emergencyStop: return true
    case .drive(let speeds):
      return mode == .free && (speeds == stick || speeds.isZero) || mode == .held && speeds.isZero
    // The stick of the operator never requests a motion in SI units.
    case .twist: return false
    case .stop: return mode != .emergencyStopped
    case .query: return mode == .free || mode == .held
    }
  }

  /// Checks a reply against the behaviour of the motors. Speeds below 1 % are not required to move the motors, because they are less than a step of
  /// the duty.
  private mutating func judge(
    _ heard: HeardReply, _ truth: RobotTruth, at now: TickInstant, _ output: inout SwarmOutput
  ) {
    let asked = heard.at - heard.roundTrip - .microseconds(1)
    if let unreachableAt = truth.unreachableAt, unreachableAt >= asked { return }
    let speeds = heard.reply.speeds
    let isFast = max(speeds.left.value.magnitude, speeds.right.value.magnitude) >= 1
    output.check(
      Self.first + 1, speeds.isZero ? truth.stillAt >= asked : !isFast || truth.movingAt >= asked, at: now,
      "it was told that they are at \(speeds), and asked at \(SwarmAction.text(asked)) s")
  }
}
