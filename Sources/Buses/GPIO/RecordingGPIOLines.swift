import Tactus

/// Passes every access to other lines and keeps a record of it, lines and values as the port numbers them.
///
/// Its port belongs to one loop; `transactions` is for any thread. Must outlive its port, and the wrapped lines' owner must
/// outlive both.
// Safe: the log is atomics, the rest never changes.
public final class RecordingGPIOLines: @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>
  private let log: TransactionLog
  private let count: Int

  fileprivate struct State: ~Copyable {
    let lines: GPIOLines
    let log: TransactionLog
  }

  /// Takes the lines over, and keeps the last `logCapacity` accesses to them, 1…, stamped by `clock`.
  public init(_ lines: consuming GPIOLines, logCapacity: Int = 4096, clock: RecordClock = .tick) {
    count = lines.count
    log = TransactionLog(of: GPIOTransaction.self, capacity: logCapacity, clock: clock)
    state = .allocate(capacity: 1)
    state.initialize(to: State(lines: lines, log: log))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    log.deallocate()
  }

  /// The loop's end.
  public func port() -> GPIOLines { GPIOLines(context: state, count: count, perform: performAndRecord) }

  /// The accesses from number `sequence` on that are still in the log, oldest first.
  public func transactions(since sequence: Int64 = 0) -> [GPIOTransaction] { log.transactions(since: sequence) }
}

@_noLocks @_noAllocation
private func performAndRecord(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: RecordingGPIOLines.State.self)
  let result = callPerform(state.pointee.lines.perform, state.pointee.lines.context, access)
  let made = access.assumingMemoryBound(to: GPIOAccess.self).pointee
  let operation: GPIOTransaction.Operation
  switch made.operation {
  case .set: operation = .set
  case .read: operation = .read
  }
  state.pointee.log.append(operation, lines: made.mask, levels: made.values, result: result, at: made.at)
  return result
}
