import Robot
import Service
import Tactus
import TactusDaemon

typealias RobotMailbox = Mailbox<RobotRequest, RobotAnswer>

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension RobotAnswer: @retroactive MailboxAnswer {}

extension RobotMailbox {
  func send(_ command: RobotRequest.Command, client: UInt32, _ complete: @escaping Completion) {
    send(
      isStop: command.isStop, { RobotRequest(number: $0, issued: $1, command, client: client) }, complete)
  }

  /// As `send`, for who can wait.
  func ask(_ command: RobotRequest.Command, client: UInt32) async throws -> RobotAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(command, client: client) { continuation.resume(with: $0) }
    }
  }
}

extension RobotRequest.Command {
  /// Whether it can only make the robot stop.
  fileprivate var isStop: Bool {
    switch self {
    case .drive(let speeds, _): speeds.isZero
    case .stop, .emergencyStop, .leave: true
    case .reset, .query: false
    }
  }
}
