import Service
import Tactus

/// The access of an asynchronous route to its system: to the loop, without waiting for a disk, and to the desk, which
/// may wait for one. The desk itself is out of reach, so that a handler cannot wait for its disk by mistake.
///
/// ```swift
/// SystemRoute.post("dose", body: Dose.self, answers: Done.self, "Doses.") { line, dose, caller in
///   try await line.order(.dose(dose.millilitres))
///   return Done()
/// }
/// ```
///
/// An order carries the instant at which its request arrived (`Request.asked`). A stop that arrived later, and reached
/// the loop while the request waited for a disk, makes the order void: it is answered 409 `OVERTAKEN`.
public struct DeskLine<System: Serves>: Sendable {
  let desk: HostedDesk<System>
  /// The sender of the request.
  let caller: Caller
  /// The instant at which the request arrived, on the loop's clock.
  public let asked: TickInstant

  init(_ desk: HostedDesk<System>, _ caller: Caller) {
    (self.desk, self.caller) = (desk, caller)
    asked = caller.arrived ?? desk.orders.now
  }

  /// The state that the loop has last published. An order that was answered is visible in it.
  public var newest: Published<System.State> { desk.newest() }

  // MARK: the loop

  /// Orders the loop, and returns when the loop has carried the order out.
  ///
  /// - Parameters:
  ///   - part: the part of the system that the order is for. A stop makes earlier requests for the same part void.
  ///   - makesSafe: whether the order can only make the system safer. Such an order never expires, is never made void,
  ///     and has places in the mailbox kept for it.
  /// - Throws: an `APIError`: 409 with the code of the loop's refusal, `STALE` or `OVERTAKEN`; 503 `BUSY` if too many
  ///   orders wait for the loop, `NOT_TAKEN` if the loop has not answered within a second.
  @discardableResult
  public func order(
    _ order: System.Order, of part: SystemPart = .whole, makesSafe: Bool = false
  ) async throws -> Answer<System.Refusal> {
    try accepted(await ask(order, of: part, makesSafe: makesSafe))
  }

  /// Sends an order to the loop and returns its answer, which may be a refusal, for a handler that must then undo
  /// something. In all else it is like `order`.
  public func ask(
    _ order: System.Order, of part: SystemPart = .whole, makesSafe: Bool = false
  ) async throws -> Answer<System.Refusal> {
    try await withCheckedThrowingContinuation { continuation in
      send(order, part, makesSafe) { continuation.resume(with: $0) }
    }
  }

  /// Does work with the desk on its thread, and sends the order that the work returns from there, before any later work
  /// of the desk; returns the loop's answer. It serves work that must be on the disk before the loop moves an output.
  ///
  /// - Throws: the error of the work, in which case no order is sent; a `StoreError` is 503. Otherwise as `ask`.
  public func ask(
    of part: SystemPart = .whole, makesSafe: Bool = false,
    after work: @escaping @Sendable (_ desk: System.Desk) throws -> System.Order
  ) async throws -> Answer<System.Refusal> {
    try await withCheckedThrowingContinuation { continuation in
      let isQueued = desk.queue(
        asked: asked, work,
        done: { order in
          switch order {
          case .failure(let error): continuation.resume(throwing: error)
          case .success(let order): send(order, part, makesSafe) { continuation.resume(with: $0) }
          }
        })
      if !isQueued { continuation.resume(throwing: desk.busy) }
    }
  }

  /// Returns the loop's answer if the loop has accepted the order.
  ///
  /// - Throws: an `APIError` with status 409 otherwise.
  @discardableResult
  public func accepted(_ answer: Answer<System.Refusal>) throws(APIError) -> Answer<System.Refusal> {
    try answer.accepted { System.sentence(of: $0, newest.state) }
  }

  private func send(
    _ order: System.Order, _ part: SystemPart, _ makesSafe: Bool,
    _ complete: @escaping HostedDoor<System>.Requests.Completion
  ) {
    desk.orders.send(order, Asked(part, at: asked), makesSafe: makesSafe, client: caller.client, complete)
  }

  // MARK: the desk

  /// Does work with the desk on its thread, which may wait for a disk, and returns the result.
  ///
  /// - Throws: what the work throws; a `StoreError` is 503. 503 `BUSY` if too much waits for the desk already.
  public func disk<Value: Sendable>(
    _ work: @escaping @Sendable (_ desk: System.Desk) throws -> Value
  ) async throws -> Value {
    try await desk.perform(asked: asked, work)
  }

  /// Does work with the desk on its thread, and waits for the result no longer than a limit; not at all if the limit is
  /// zero. It serves notes that are written after an output is off.
  ///
  /// - Returns: the result, or `nil` if there was none in time. The work is then done later, or not at all if too much
  ///   waits for the desk already, so `beat` should compare what the desk keeps with the state.
  /// - Throws: what the work throws in time; a `StoreError` is 503.
  public func disk<Value: Sendable>(
    patience: Nanoseconds, _ work: @escaping @Sendable (_ desk: System.Desk) throws -> Value
  ) async throws -> Value? {
    guard patience > .zero else {
      _ = desk.queue(asked: asked, work, done: { _ in })
      return nil
    }
    return try await DiskThreads.result(within: patience) { [desk, asked] done in
      if !desk.queue(asked: asked, work, done: { done($0.map { .some($0) }) }) { done(.success(nil)) }
    }
  }
}
