import Pump
import Service
import Tactus

typealias PumpMailbox = Mailbox<PumpRequest, PumpAnswer>

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension PumpAnswer: @retroactive MailboxAnswer {}

extension PumpMailbox {
  func send(_ order: PumpRequest.Order, _ complete: @escaping Completion) {
    send(isStop: order.isStop, { PumpRequest(number: $0, issued: $1, order) }, complete)
  }

  /// As `send`, for who can wait.
  func ask(_ order: PumpRequest.Order) async throws -> PumpAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(order) { continuation.resume(with: $0) }
    }
  }
}

extension PumpRequest.Order {
  /// Whether it can only turn the pump off.
  fileprivate var isStop: Bool {
    switch self {
    case .turnOff, .emergencyStop, .quit: true
    case .turnOn, .setSpeed, .readTemperatures, .watched, .reset, .query: false
    }
  }
}
