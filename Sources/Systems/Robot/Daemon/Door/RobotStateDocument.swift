import Robot
import Tactus
import Wire

/// What the robot does, why, and what to do about it: of the state's document, of telemetry and of every change.
struct RobotStateDocument: Encodable {
  /// Both wheels in percent of full scale, −100…100.
  struct Speeds: Encodable {
    let left, right: Double

    init(_ speeds: WheelSpeeds) { (left, right) = (speeds.left.value, speeds.right.value) }
  }

  struct Holder: Encodable {
    /// `192.168.1.20:50000`, `local client 7`.
    let source: String
    /// Since its last accepted command, at the instant of the document.
    let ageMs: Double
  }

  private let robot: RobotState
  private let at: TickInstant

  /// `at`: the tick that left the robot in this state.
  init(_ robot: RobotState, at: TickInstant) {
    self.robot = robot
    self.at = at
  }

  private enum CodingKeys: String, CodingKey {
    case state, reason, wayOut, speedsPercent, targetPercent, holder, emergencyStopped, fault, stopConfirmed
  }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(robot.word, forKey: .state)
    try object.encode("\(robot)", forKey: .reason)
    try object.encode(robot.wayOut, forKey: .wayOut)
    try object.encode(Speeds(robot.speeds), forKey: .speedsPercent)
    try object.encode(robot.target.map(Speeds.init), forKey: .targetPercent)
    let holder = robot.holder.map { Holder(source: "\($0.source)", ageMs: (at - $0.lastCommand).inMilliseconds) }
    try object.encode(holder, forKey: .holder)
    try object.encode(robot.word == "emergencyStopped", forKey: .emergencyStopped)
    try object.encode(robot.fault.map { "\($0)" }, forKey: .fault)
    try object.encode(robot.isStopConfirmed, forKey: .stopConfirmed)
  }
}

extension RobotState {
  /// The value of `state` in the API.
  var word: String {
    switch self {
    case .stopped: "stopped"
    case .driving: "driving"
    case .emergencyStopped: "emergencyStopped"
    case .fault: "fault"
    case .shutDown: "shutDown"
    }
  }

  /// A fault beside an e-stop as well.
  fileprivate var fault: RobotFault? {
    switch self {
    case .fault(let fault): fault.cause
    case .emergencyStopped(let stop): stop.fault
    case .stopped, .driving, .shutDown: nil
    }
  }

  /// Whether the board has taken the stop that is in force; nil while no stop is.
  fileprivate var isStopConfirmed: Bool? {
    switch self {
    case .stopped(let standstill): standstill.confirmation.isConfirmed
    case .driving: nil
    case .emergencyStopped(let stop): stop.confirmation.isConfirmed
    case .fault(let fault): fault.confirmation.isConfirmed
    case .shutDown(let confirmation): confirmation.isConfirmed
    }
  }
}
