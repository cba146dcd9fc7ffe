import Pump
import Service
import Tactus

typealias PumpDeviceMailbox = Mailbox<PumpDeviceRequest, PumpAnswer>

extension PumpDeviceMailbox {
  func send(_ order: PumpDeviceRequest.Order, _ complete: @escaping Completion) {
    send(isStop: order.isStop, { PumpDeviceRequest(number: $0, issued: $1, order) }, complete)
  }

  /// As `send`, for who can wait.
  func ask(_ order: PumpDeviceRequest.Order) async throws -> PumpAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(order) { continuation.resume(with: $0) }
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
