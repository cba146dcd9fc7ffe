import Synchronization
import Tactus

/// A chip on a simulated SPI bus: a context, the C function that answers its transfers, and the object that owns the context.
public struct SimulatedSPIChip {
  let context: UnsafeMutableRawPointer
  let transfer: SPIPort.Transfer
  let owner: AnyObject

  /// Creates a chip. `transfer` must carry `@_noLocks @_noAllocation`, since the compiler cannot follow the call. `owner` keeps
  /// `context` valid, and the bus retains `owner`.
  public init(context: UnsafeMutableRawPointer, owner: AnyObject, transfer: @escaping SPIPort.Transfer) {
    self.context = context
    self.owner = owner
    self.transfer = transfer
  }
}

/// One chip select of an SPI bus with a simulated chip, injectable faults and a log of its transactions.
///
/// The port belongs to one loop; `transactions`, `inject` and `clearFaults` may be called from any thread. The bus must outlive its
/// port. Timing: a transfer takes the chip's own work; it allocates nothing, and no simulated time passes in it.
// Safe: faults and log are atomics; the chip is set before the start.
public final class SimulatedSPIBus: @unchecked Sendable {
  /// A fault of the bus.
  public enum Fault: Sendable, Hashable {
    /// No chip drives the line, so all bits that are read are ones.
    case noChip
    /// Every transfer fails with this errno, such as 19 (ENODEV) when the adapter is unplugged.
    case fails(errno: Int32)
  }

  private let state: UnsafeMutablePointer<SimulatedSPIBusState>
  private var owner: AnyObject?

  /// Creates a bus with a chip. The log keeps `logCapacity` transactions, 1 or more, stamped by `clock`.
  public init(_ chip: SimulatedSPIChip, logCapacity: Int = 1024, clock: RecordClock = .tick) {
    precondition(logCapacity > 0)
    owner = chip.owner
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedSPIBusState(
        context: chip.context, transfer: chip.transfer,
        log: TransactionLog(of: SPITransaction.self, capacity: logCapacity, clock: clock)))
  }

  /// Creates a bus without a chip. The line floats high until a chip is attached.
  public init(logCapacity: Int = 1024, clock: RecordClock = .tick) {
    precondition(logCapacity > 0)
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedSPIBusState(
        context: state, transfer: transferToNoChip,
        log: TransactionLog(of: SPITransaction.self, capacity: logCapacity, clock: clock)))
  }

  /// Attaches a chip to the bus, in place of the previous one. The function must be called before the loops start.
  public func attach(_ chip: SimulatedSPIChip) {
    owner = chip.owner
    state.pointee.context = chip.context
    state.pointee.transfer = chip.transfer
  }

  deinit {
    state.pointee.log.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Returns the port for the one loop that owns it.
  public func port() -> SPIPort { SPIPort(context: state, transfer: transferOnSimulatedSPI) }

  /// Returns the transactions from number `sequence` on that are still in the log, the oldest first.
  public func transactions(since sequence: Int64 = 0) -> [SPITransaction] {
    state.pointee.log.transactions(since: sequence)
  }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { state.pointee.log.count }

  /// The present faults of the bus.
  public var activeFaults: [Fault] {
    var active: [Fault] = state.pointee.hasNoChip.load(ordering: .relaxed) ? [.noChip] : []
    let errno = state.pointee.errno.load(ordering: .relaxed)
    if errno != 0 { active.append(.fails(errno: errno)) }
    return active
  }

  /// Adds a fault. It replaces a fault of the same kind.
  public func inject(_ fault: Fault) {
    switch fault {
    case .noChip: state.pointee.hasNoChip.store(true, ordering: .relaxed)
    case .fails(let errno):
      precondition(errno > 0)
      state.pointee.errno.store(errno, ordering: .relaxed)
    }
  }

  /// Removes every fault.
  public func clearFaults() {
    state.pointee.hasNoChip.store(false, ordering: .relaxed)
    state.pointee.errno.store(0, ordering: .relaxed)
  }
}

private struct SimulatedSPIBusState: ~Copyable {
  var context: UnsafeMutableRawPointer
  var transfer: SPIPort.Transfer
  let log: TransactionLog
  let hasNoChip = Atomic<Bool>(false)
  let errno = Atomic<Int32>(0)

  init(context: UnsafeMutableRawPointer, transfer: @escaping SPIPort.Transfer, log: TransactionLog) {
    self.context = context
    self.transfer = transfer
    self.log = log
  }

  @_noLocks @_noAllocation
  func answer(_ request: UnsafeMutablePointer<SPITransfer>) -> Int32 {
    let out = request.pointee.bytes
    let errno = errno.load(ordering: .relaxed)
    var result = -errno
    if errno == 0 {
      if hasNoChip.load(ordering: .relaxed) {
        for index in 0..<request.pointee.bytes.count { request.pointee.bytes[index] = 0xFF }
      } else {
        result = callSPI(transfer, context, request)
      }
    }
    log.append(request.pointee, out: out, result: result)
    return result
  }
}

@_noLocks @_noAllocation
private func transferOnSimulatedSPI(
  _ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer
) -> Int32 {
  context.assumingMemoryBound(to: SimulatedSPIBusState.self).pointee
    .answer(request.assumingMemoryBound(to: SPITransfer.self))
}

@_noLocks @_noAllocation
private func transferToNoChip(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let request = request.assumingMemoryBound(to: SPITransfer.self)
  for index in 0..<request.pointee.bytes.count { request.pointee.bytes[index] = 0xFF }
  return 0
}

/// A transfer that happened on a simulated SPI bus.
public struct SPITransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// The number of the entry, counted from 0. A gap in the numbers means that entries were overwritten before they were read.
  public var sequence: Int64
  /// The instant of the transfer, by the clock of the log.
  public var at: TickInstant
  /// The bytes that were sent.
  public var out: SPIBytes
  /// The bytes that were received at the same time.
  public var received: SPIBytes
  /// The result of the transfer: 0, or −errno if it failed.
  public var result: Int32
}

extension SPITransaction {
  init() { self.init(sequence: 0, at: .zero, out: SPIBytes(), received: SPIBytes(), result: 0) }
}

extension TransactionLog {
  /// Appends an entry. The function must be called by one thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing SPITransfer, out: SPIBytes, result: Int32) {
    var transaction = SPITransaction(
      sequence: next, at: stamp(inTickAt: transfer.at), out: out, received: transfer.bytes, result: result)
    append(&transaction)
  }
}
