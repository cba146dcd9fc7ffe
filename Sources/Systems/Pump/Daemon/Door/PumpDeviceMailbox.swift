import Pump
import Service
import Tactus

typealias PumpDeviceMailbox = Mailbox<PumpDeviceRequest, PumpAnswer>

extension PumpDeviceMailbox {
  /// For who can wait.
  func ask(_ order: PumpDeviceRequest.Order) async throws -> PumpAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(isStop: order.isStop, { PumpDeviceRequest(number: $0, issued: $1, order) }) {
        continuation.resume(with: $0)
      }
    }
  }
}

extension PumpDeviceRequest.Order {
  /// Whether it can only turn the pump off.
  fileprivate var isStop: Bool {
    switch self {
    case .command(.off), .emergencyStop: true
    case .command, .reset, .query: false
    }
  }
}
