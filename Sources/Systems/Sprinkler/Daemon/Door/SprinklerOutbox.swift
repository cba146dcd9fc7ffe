import Service
import Sprinkler
import Synchronization
import Tactus

/// The schedule's orders on their way to the valves' loop, in their order, however many there are: the mailbox holds only so
/// many at a time. Any thread.
final class SprinklerOutbox: Sendable {
  /// What became of an order.
  typealias Outcome = (order: SprinklerRequest.Order, result: Result<SprinklerAnswer, APIError>)

  /// Orders that belong together, and who waits for them.
  // Safe: it is touched within the outbox's lock only.
  private final class Batch: @unchecked Sendable {
    var left: Int
    var outcomes: [Outcome] = []
    let complete: @Sendable ([Outcome]) -> Void

    init(_ count: Int, _ complete: @escaping @Sendable ([Outcome]) -> Void) {
      (left, self.complete) = (count, complete)
    }
  }

  private struct Item: Sendable {
    let order: SprinklerRequest.Order
    let batch: Batch
    /// Until then it may wait for room in the mailbox.
    let deadline: TickInstant
  }

  private struct State {
    var waiting: [Item] = []
    /// Sent and not answered.
    var sent = 0
    /// One thread is sending: no other does, so that the order is kept.
    var isSending = false
  }

  private let state = Mutex(State())
  private let mailbox: SprinklerMailbox
  /// Orders that are with the loop at a time.
  private static let window = 32

  init(_ mailbox: SprinklerMailbox) { self.mailbox = mailbox }

  /// Puts orders behind those that wait; `sendWaiting` sends them. `complete` is called once, on any thread, when each is answered.
  func add(_ orders: [SprinklerRequest.Order], _ complete: @escaping @Sendable ([Outcome]) -> Void) {
    guard !orders.isEmpty else { return complete([]) }
    let deadline = mailbox.now() + MailboxNumbers.timeout
    state.withLock { state in
      let batch = Batch(orders.count, complete)
      state.waiting += orders.map { Item(order: $0, batch: batch, deadline: deadline) }
    }
  }

  /// Sends what there is room for. To be called after `add`, and at every beat.
  func sendWaiting() {
    guard begin() else { return }
    while let item = next() {
      if mailbox.now() > item.deadline {
        settle(item, .failure(APIError(.serviceUnavailable, "BUSY", "the sprinkler's loop is behind")), wasSent: false)
        continue
      }
      // `send` answers a full mailbox at once, within the call.
      let isFull = Flag()
      mailbox.send(item.order) { [self] result in
        if case .failure(let error) = result, error.code == "BUSY" { return isFull.raise() }
        settle(item, result, wasSent: true)
        sendWaiting()
      }
      if isFull.isRaised {
        putBack(item)
        break
      }
    }
    state.withLock { $0.isSending = false }
  }

  /// Orders that the loop has not answered.
  var count: Int { state.withLock { $0.waiting.count + $0.sent } }

  private func begin() -> Bool {
    state.withLock { state in
      guard !state.isSending else { return false }
      state.isSending = true
      return true
    }
  }

  private func next() -> Item? {
    state.withLock { state in
      guard state.sent < Self.window, !state.waiting.isEmpty else { return nil }
      state.sent += 1
      return state.waiting.removeFirst()
    }
  }

  private func putBack(_ item: Item) {
    state.withLock { state in
      state.sent -= 1
      state.waiting.insert(item, at: 0)
    }
  }

  private func settle(_ item: Item, _ result: Result<SprinklerAnswer, APIError>, wasSent: Bool) {
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

/// Raised at most once, by any thread.
private final class Flag: Sendable {
  private let raised = Atomic(false)
  var isRaised: Bool { raised.load(ordering: .relaxed) }
  func raise() { raised.store(true, ordering: .relaxed) }
}
