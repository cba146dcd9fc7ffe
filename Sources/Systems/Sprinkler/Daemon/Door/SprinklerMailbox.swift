import Service
import Sprinkler
import Tactus

typealias SprinklerMailbox = Mailbox<SprinklerRequest, SprinklerAnswer>

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension SprinklerAnswer: @retroactive MailboxAnswer {}

extension SprinklerMailbox {
  func send(_ order: SprinklerRequest.Order, _ complete: @escaping Completion) {
    send(isStop: order.isStop, { SprinklerRequest(number: $0, issued: $1, order) }, complete)
  }

  /// As `send`, for who can wait.
  func ask(_ order: SprinklerRequest.Order) async throws -> SprinklerAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(order) { continuation.resume(with: $0) }
    }
  }
}

extension SprinklerRequest.Order {
  /// Whether it can only close valves.
  var isStop: Bool {
    switch self {
    case .off, .cancel, .allOff, .skip, .clearQueue, .pause, .emergencyStop: true
    case .run, .extend, .resume, .rain, .dayBegan, .ranToday, .zone, .reset, .query: false
    }
  }

  /// The run that it is about to make.
  var run: UInt64? {
    if case .run(let run, _) = self { run.id } else { nil }
  }
}
