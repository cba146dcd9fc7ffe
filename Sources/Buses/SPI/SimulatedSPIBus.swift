import Synchronization
import Tactus

/// A chip on a simulated SPI bus: a context, the C function that answers its transfers, and the object that owns the context.
public struct SimulatedSPIChip {
  let context: UnsafeMutableRawPointer
  let transfer: SPIPort.Transfer
  let owner: AnyObject

  /// `transfer` must carry `@_noLocks @_noAllocation`: the compiler cannot follow the call. `owner` keeps `context`
  /// valid; the bus keeps `owner`.
  public init(context: UnsafeMutableRawPointer, owner: AnyObject, transfer: @escaping SPIPort.Transfer) {
    self.context = context
    self.owner = owner
    self.transfer = transfer
  }
}

/// One chip select of an SPI bus with a simulated chip, injectable faults and a log of its transactions.
///
/// Its port belongs to one loop; `transactions`, `inject` and `clearFaults` are for any thread. Must outlive its port.
/// Timing: a transfer is the chip's own work; it allocates nothing, and time does not pass in it.
// Safe: faults and log are atomics; the chip is set before the start.
public final class SimulatedSPIBus: @unchecked Sendable {
  /// What can go wrong on the wire.
  public enum Fault: Sendable, Hashable {
    /// No chip drives the line: it reads ones.
    case noChip
    /// Every transfer ends so: 19, ENODEV, when the adapter is unplugged.
    case fails(errno: Int32)
  }

  private let state: UnsafeMutablePointer<SimulatedSPIBusState>
  private var owner: AnyObject?

  /// `logCapacity`: transactions kept, 1…. `clock` stamps them.
  public init(_ chip: SimulatedSPIChip, logCapacity: Int = 1024, clock: RecordClock = .tick) {
    precondition(logCapacity > 0)
    owner = chip.owner
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedSPIBusState(
        context: chip.context, transfer: chip.transfer,
        log: TransactionLog(of: SPITransaction.self, capacity: logCapacity, clock: clock)))
  }

  /// A bus without a chip: the line floats high until one is attached.
  public init(logCapacity: Int = 1024, clock: RecordClock = .tick) {
    precondition(logCapacity > 0)
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedSPIBusState(
        context: state, transfer: transferToNoChip,
        log: TransactionLog(of: SPITransaction.self, capacity: logCapacity, clock: clock)))
  }

  /// Puts a chip on the bus, in place of another one. Before the loops start.
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

  /// The loop's end.
  public func port() -> SPIPort { SPIPort(context: state, transfer: transferOnSimulatedSPI) }

  /// The transactions from number `sequence` on that are still in the log, oldest first.
  public func transactions(since sequence: Int64 = 0) -> [SPITransaction] {
    state.pointee.log.transactions(since: sequence)
  }

  /// How many there have been since the start: the number that the next one gets.
  public var transactionCount: Int64 { state.pointee.log.count }

  /// The faults that the bus has now.
  public var activeFaults: [Fault] {
    var active: [Fault] = state.pointee.hasNoChip.load(ordering: .relaxed) ? [.noChip] : []
    let errno = state.pointee.errno.load(ordering: .relaxed)
    if errno != 0 { active.append(.fails(errno: errno)) }
    return active
  }

  /// From now on the bus has this fault, too; one of a kind replaces the one before it.
  public func inject(_ fault: Fault) {
    switch fault {
    case .noChip: state.pointee.hasNoChip.store(true, ordering: .relaxed)
    case .fails(let errno):
      precondition(errno > 0)
      state.pointee.errno.store(errno, ordering: .relaxed)
    }
  }

  /// Takes every fault back.
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
