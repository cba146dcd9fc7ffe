import Service
import Tactus

/// The orders that a desk gives to its loop, and the instant at which the desk's present work was requested.
// Safe: `asked` is used on the desk's thread only.
final class DeskOrders<System: DeviceSystem>: @unchecked Sendable {
  typealias Requests = HostedDoor<System>.Requests
  typealias Outcome = Result<Answer<System.Refusal>, APIError>

  private let thread: DeskThread
  /// The requests to the loop, or `nil` if the system has no loop.
  private let requests: Requests?
  private var asked = TickInstant.zero

  init(_ thread: DeskThread, _ requests: Requests?) { (self.thread, self.requests) = (thread, requests) }

  /// The time on the loop's clock.
  var now: TickInstant { requests?.now() ?? MonotonicClock.now }

  /// Begins a piece of work on the desk's thread. The orders that it gives count as asked for at this instant.
  func begin(asked instant: TickInstant) { asked = instant }

  /// Sends an order. `complete` is called once, on any thread.
  func send(
    _ order: System.Order, _ asked: Asked, makesSafe: Bool, client: UInt32,
    _ complete: @escaping Requests.Completion
  ) {
    guard let requests else { preconditionFailure("\(System.self) has no loop that takes orders") }
    requests.send(order, makesSafe: makesSafe, client: client, asked: asked, complete)
  }

  /// Sends an order of the present piece of work. `then` is called on the desk's thread, in a piece of work of its own
  /// that counts as asked for at the same instant.
  func send(_ order: System.Order, of part: SystemPart, makesSafe: Bool, then: @escaping (Outcome) -> Void) {
    let (asked, then) = (asked, OnDesk(then))
    send(order, Asked(part, at: asked), makesSafe: makesSafe, client: 0) { [self] outcome in
      thread.run { [self] in
        begin(asked: asked)
        then.take()?(outcome)
        return []
      }
    }
  }

  /// A value that only the desk's thread uses.
  // Safe: it is made and taken on that thread.
  private final class OnDesk<Value>: @unchecked Sendable {
    private var value: Value?

    init(_ value: Value) { self.value = value }

    func take() -> Value? {
      defer { value = nil }
      return value
    }
  }
}

extension DeskMaterial {
  /// Orders the loop from the desk, such as by a schedule. The function must be called on the desk's thread (in `told`, `beat`, a route or `then`),
  /// which does not wait for the loop.
  ///
  /// The order counts as asked for when that work of the desk was: when the beat was due, the notice told or the request
  /// read. A stop that came since then and reached the loop before makes it void, so a schedule that has waited for a
  /// disk starts nothing after an emergency stop. What `then` orders counts as asked for when the first order was.
  ///
  /// - Parameters:
  ///   - part: the part of the system that the order is for. A stop makes earlier requests for the same part void.
  ///   - makesSafe: whether the order can only make the system safer. Such an order never expires, is never made void,
  ///     and has places in the mailbox kept for it.
  ///   - then: called once on the desk's thread with the loop's answer, which may be a refusal, or with the error for
  ///     which there is none: 409 `OVERTAKEN`, 503 `BUSY` or `NOT_TAKEN`. The desk has then been told the notices
  ///     that precede the answer. It is not called if the loops end before; `finish` says how they ended.
  public func order(
    _ order: System.Order, of part: SystemPart = .whole, makesSafe: Bool = false,
    then: @escaping (_ outcome: Result<Answer<System.Refusal>, APIError>) -> Void
  ) {
    guard let deskOrders else { preconditionFailure("\(name): only a desk that the daemon has made orders its loop") }
    deskOrders.send(order, of: part, makesSafe: makesSafe, then: then)
  }
}
