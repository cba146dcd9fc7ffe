import Service
import Synchronization
import Tactus

/// Sends a desk's orders to its loop: single orders, and queued orders, which keep their sequence and may be more than
/// the loop's mailbox holds. It may be used from any thread; no function blocks.
public final class LoopOrders<Order: BitwiseCopyable & Sendable, Refusal: RefusalWord>: Sendable {
  /// The loop's answer to an order, or the error for which there is none.
  public typealias Result = Swift.Result<Answer<Refusal>, APIError>
  /// An order and its result.
  public typealias Outcome = (order: Order, result: Result)

  /// Orders that belong together, with the function to call with their outcomes.
  // Safe: it is touched within the queue's lock only.
  private final class Batch: @unchecked Sendable {
    var left: Int
    var outcomes: [Outcome] = []
    let complete: @Sendable ([Outcome]) -> Void

    init(_ count: Int, _ complete: @escaping @Sendable ([Outcome]) -> Void) {
      (left, self.complete) = (count, complete)
    }
  }

  private struct Item: Sendable {
    let order: Order
    /// What a client, or a schedule, asked for and when, or `nil` if no stop makes the order void.
    let asked: Asked?
    let batch: Batch
    /// The instant until which the order may wait for room in the mailbox.
    let deadline: TickInstant
  }

  private struct State {
    var waiting: [Item] = []
    /// The number of orders that were sent and not answered yet.
    var sent = 0
    /// Whether a thread is sending. No other thread then sends, which preserves the sequence.
    var isSending = false
  }

  private let requests: Mailbox<Request<Order>, Answer<Refusal>>
  private let system: String
  private let makesSafe: @Sendable (Order) -> Bool
  private let mayBeLate: @Sendable (Order) -> Bool
  private let part: @Sendable (Order) -> SystemPart?
  private let state = Mutex(State())
  /// The maximum number of queued orders that the loop has at a time.
  private static var window: Int { 32 }

  init(
    _ requests: Mailbox<Request<Order>, Answer<Refusal>>, of system: String,
    makesSafe: @escaping @Sendable (Order) -> Bool, mayBeLate: @escaping @Sendable (Order) -> Bool,
    part: @escaping @Sendable (Order) -> SystemPart?
  ) {
    (self.requests, self.system, self.makesSafe, self.mayBeLate) = (requests, system, makesSafe, mayBeLate)
    self.part = part
  }

  private func asked(_ order: Order, by caller: Caller?) -> Asked? { part(order).flatMap { caller?.asks($0) } }

  private func asked(_ order: Order, decided instant: TickInstant) -> Asked? {
    makesSafe(order) ? nil : part(order).map { Asked($0, at: instant) }
  }

  /// The time on the loop's clock.
  public var now: TickInstant { requests.now() }

  /// The number of queued orders that the loop has not answered.
  public var count: Int { state.withLock { $0.waiting.count + $0.sent } }

  /// Sends an order. `complete` is called once, on any thread, when the desk has heard the loop's notices that precede
  /// the answer.
  ///
  /// - Parameter caller: the client that asks for the order, or `nil` if none does. A stop makes void every earlier request that has not reached the
  ///   loop; such a request is refused with 409 `OVERTAKEN`.
  public func send(_ order: Order, from caller: Caller? = nil, _ complete: @escaping @Sendable (Result) -> Void) {
    send(order, asked: asked(order, by: caller), complete)
  }

  private func send(_ order: Order, asked: Asked?, _ complete: @escaping @Sendable (Result) -> Void) {
    let mayBeLate = mayBeLate(order)
    requests.send(
      isStop: makesSafe(order), asked,
      { Request(number: $0, issued: $1, asked: asked?.at, makesSafe: mayBeLate, order: order) },
      complete)
  }

  /// Sends an order and returns the loop's answer; the asynchronous form of `send`.
  public func ask(_ order: Order, from caller: Caller?) async throws -> Answer<Refusal> {
    try await withCheckedThrowingContinuation { continuation in
      send(order, from: caller) { continuation.resume(with: $0) }
    }
  }

  /// Appends orders to the queue, which `sendQueued` sends. `complete` is called once, on any thread, when all of them
  /// are answered.
  ///
  /// - Parameters:
  ///   - caller: the client that asks for the orders, as for `send`, or `nil` if none does.
  ///   - decided: the instant at which a schedule decided to give the orders, if no client asks for them. A client's stop
  ///     that was asked for since then makes them void, as it does a client's orders: whoever has waited for a disk opens
  ///     nothing after an emergency stop, though it was reset. Orders that make safe are never void, and make nothing void.
  public func queue(
    _ orders: [Order], from caller: Caller? = nil, decided: TickInstant? = nil,
    _ complete: @escaping @Sendable ([Outcome]) -> Void
  ) {
    guard !orders.isEmpty else { return complete([]) }
    let deadline = now + MailboxNumbers.timeout
    state.withLock { state in
      let batch = Batch(orders.count, complete)
      state.waiting += orders.map { order in
        let request = asked(order, by: caller) ?? decided.flatMap { asked(order, decided: $0) }
        return Item(order: order, asked: request, batch: batch, deadline: deadline)
      }
    }
  }

  /// Sends as many queued orders as the mailbox has room for. The function must be called after `queue`, and at every beat of the desk. An order that
  /// has waited for a second is not sent.
  public func sendQueued() {
    let isSending = state.withLock { state in
      defer { state.isSending = true }
      return state.isSending
    }
    if isSending { return }
    while let item = next() {
      if now > item.deadline {
        settle(item, .failure(APIError(.serviceUnavailable, "BUSY", "the \(system)'s loop is behind")))
        continue
      }
      // A full mailbox is answered within the call.
      let isFull = Guarded(false)
      send(item.order, asked: item.asked) { [self] result in
        if case .failure(let error) = result, error.code == "BUSY" {
          isFull.value = true
          return
        }
        settle(item, result)
        sendQueued()
      }
      if isFull.value { return putBack(item) }
    }
  }

  /// Returns the next order to send. If there is none, sending has ended by then: an order that another thread queues
  /// later is sent by that thread.
  private func next() -> Item? {
    state.withLock { state in
      guard state.sent < Self.window, !state.waiting.isEmpty else {
        state.isSending = false
        return nil
      }
      state.sent += 1
      return state.waiting.removeFirst()
    }
  }

  private func putBack(_ item: Item) {
    state.withLock { state in
      state.sent -= 1
      state.waiting.insert(item, at: 0)
      state.isSending = false
    }
  }

  private func settle(_ item: Item, _ result: Result) {
    let done: (@Sendable ([Outcome]) -> Void, [Outcome])? = state.withLock { state in
      state.sent -= 1
      let batch = item.batch
      batch.outcomes.append((item.order, result))
      batch.left -= 1
      return batch.left == 0 ? (batch.complete, batch.outcomes) : nil
    }
    if let (complete, outcomes) = done { complete(outcomes) }
  }
}
