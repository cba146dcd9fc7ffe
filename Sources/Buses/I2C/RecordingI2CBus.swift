import Tactus

/// Passes every transfer to another bus and keeps a record of it.
///
/// The port belongs to one loop; `transactions` may be called from any thread. This object must outlive its port, and the owner of
/// the wrapped bus must outlive both.
// Safe: the log is atomics, the rest never changes.
public final class RecordingI2CBus: @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>
  private let log: TransactionLog
  private let attempts: Int

  fileprivate struct State: ~Copyable {
    let bus: I2CBus
    let log: TransactionLog
  }

  /// Takes over the bus and keeps the last `logCapacity` transfers, 1 or more, stamped by `clock`.
  public init(_ bus: consuming I2CBus, logCapacity: Int = 4096, clock: RecordClock = .tick) {
    precondition(logCapacity > 0)
    attempts = bus.attempts
    log = TransactionLog(of: I2CTransaction.self, capacity: logCapacity, clock: clock)
    state = .allocate(capacity: 1)
    state.initialize(to: State(bus: bus, log: log))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    log.deallocate()
  }

  /// Returns the port for the one loop that owns it. It makes as many attempts as the wrapped bus.
  public func port() -> I2CBus {
    I2CBus(context: state, attempts: attempts, transfer: transferAndRecord)
  }

  /// Returns the transactions from number `sequence` on that are still in the log, the oldest first.
  public func transactions(since sequence: Int64 = 0) -> [I2CTransaction] {
    log.transactions(since: sequence)
  }
}

@_noLocks @_noAllocation
private func transferAndRecord(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: RecordingI2CBus.State.self)
  let result = callTransfer(state.pointee.bus.transfer, state.pointee.bus.context, request)
  state.pointee.log.append(request.assumingMemoryBound(to: I2CTransfer.self).pointee, result: result)
  return result
}
