import Tactus

/// Passes every access to other lines and keeps a record of it. Lines and values are recorded as the port numbers them.
///
/// The port belongs to one loop; `transactions` may be called from any thread. This object must outlive its port, and the owner of
/// the wrapped lines must outlive both.
// Safe: the log is atomics, the rest never changes.
public final class RecordingGPIOLines: @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>
  private let log: TransactionLog
  private let count: Int

  fileprivate struct State: ~Copyable {
    let lines: GPIOLines
    let log: TransactionLog
  }

  /// Takes over the lines and keeps the last `logCapacity` accesses, 1 or more, stamped by `clock`.
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

  /// Returns the port for the one loop that owns it.
  public func port() -> GPIOLines { GPIOLines(context: state, count: count, perform: performAndRecord) }

  /// Returns the accesses from number `sequence` on that are still in the log, the oldest first.
  public func transactions(since sequence: Int64 = 0) -> [GPIOTransaction] { log.transactions(since: sequence) }
}

@_noLocks @_noAllocation
private func performAndRecord(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: RecordingGPIOLines.State.self)
  let result = callPerform(
    state.pointee.lines.perform, state.pointee.lines.context, access.assumingMemoryBound(to: GPIOAccess.self))
  let made = access.assumingMemoryBound(to: GPIOAccess.self).pointee
  let operation: GPIOTransaction.Operation
  switch made.operation {
  case .set: operation = .set
  case .read: operation = .read
  }
  state.pointee.log.append(operation, lines: made.mask, levels: made.values, result: result, at: made.at)
  return result
}
