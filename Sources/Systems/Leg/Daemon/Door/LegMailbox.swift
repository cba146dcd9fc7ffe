import Leg
import Service
import Tactus

typealias LegMailbox = Mailbox<LegRequest, LegAnswer>

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension LegAnswer: @retroactive MailboxAnswer {}

extension LegMailbox {
  func send(_ order: LegRequest.Order, to target: LegRequest.Target, _ complete: @escaping Completion) {
    send(isStop: order.isStop, { LegRequest(number: $0, issued: $1, order, to: target) }, complete)
  }

  /// As `send`, for who can wait.
  func ask(_ order: LegRequest.Order, of target: LegRequest.Target) async throws -> LegAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(order, to: target) { continuation.resume(with: $0) }
    }
  }
}

extension LegRequest.Order {
  /// Whether it can only end a pulse.
  fileprivate var isStop: Bool {
    switch self {
    case .command(.disarm), .unlinked, .emergencyStop: true
    case .command, .invalidFrame, .linked, .reset, .battery, .query: false
    }
  }
}
