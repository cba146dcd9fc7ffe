import Logging
import Robot
import Tactus
import TactusDaemon
import Wire

// The module of the control does not depend on the daemon, so the conformance is declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension RobotNotice: @retroactive DeviceNotice {
  public enum Kind: String, NoticeWord {
    case state, motorsFail, motorsAnswer, batteryLow

    public var isTrouble: Bool { self == .motorsFail || self == .batteryLow }
    public var sentence: String {
      switch self {
      case .state: "the robot is in another state, or for another reason"
      case .motorsFail: "motor write failed"
      case .batteryLow: "the robot's battery is low"
      case .motorsAnswer: "the motors answer again"
      }
    }
  }

  public var kind: Kind {
    switch self {
    case .state: .state
    case .motorsFail: .motorsFail
    case .motorsAnswer: .motorsAnswer
    case .batteryLow: .batteryLow
    }
  }
}

extension Robot {
  public static func inFull(_ told: Told<RobotNotice>, _ look: Look<Robot>) -> ToldInFull {
    let sentence = told.notice.kind.sentence
    switch told.notice {
    case .state(let state):
      var metadata: Logger.Metadata = ["state": .string("\(state)")]
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      return ToldInFull(
        level: state.logLevel, name, metadata: metadata, type: name,
        body: change.json(RobotView(robot: state, at: told.at)))
    case .motorsFail(let failure):
      return ToldInFull(
        level: .warning, sentence, metadata: ["failure": .string("\(failure)")], type: "robot.motors",
        body: motors(failure: .text("\(failure)")))
    case .batteryLow(let percent):
      return ToldInFull(
        level: .warning, sentence, metadata: ["battery_percent": .stringConvertible(percent)], type: "robot.battery",
        body: JSONValue.object([.init(name: "batteryPercent", value: .number("\(percent)"))]).bytes)
    case .motorsAnswer:
      return ToldInFull(level: .notice, sentence, type: "robot.motors", body: motors(failure: .null))
    }
  }

  /// Returns the body of an event that reports whether the motors answer; `failure` is null if they do.
  private static func motors(failure: JSONValue) -> [UInt8] {
    JSONValue.object([.init(name: "failure", value: failure)]).bytes
  }
}

extension RobotState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .driving(let control): control.forwardStop == nil ? .info : .notice
    case .stopped, .shutDown: .info
    case .emergencyStopped: .warning
    case .fault: .error
    }
  }
}
