import Synchronization
import Tactus

/// A chip on a simulated bus: a context, the C function that answers its transfers, and the object that owns the context.
public struct SimulatedI2CChip {
  let context: UnsafeMutableRawPointer
  let transfer: I2CBus.Transfer
  let owner: AnyObject

  /// Creates a chip. `transfer` must carry `@_noLocks @_noAllocation`, since the compiler cannot follow the call. `owner` keeps
  /// `context` valid, and the bus retains `owner`.
  public init(context: UnsafeMutableRawPointer, owner: AnyObject, transfer: @escaping I2CBus.Transfer) {
    self.context = context
    self.owner = owner
    self.transfer = transfer
  }
}

/// An I2C bus with simulated chips, injectable faults and a log of its transactions.
///
/// The ports belong to one loop (or to loops of one lane); `transactions`, `inject` and `clearFaults` may be called from any
/// thread. Chips are attached before the loop starts. The bus must outlive its ports. Timing: a transfer takes the chip's own work
/// and about 20 ns; it allocates nothing, and no simulated time passes in it, even if the bus is stuck.
// Safe: shared parts are atomics; chips are set before the start.
public final class SimulatedI2CBus: @unchecked Sendable {
  /// A fault of the bus.
  public enum Fault: Sendable, Hashable {
    /// The next `count` transfers to the address are not acknowledged (EREMOTEIO); with `nil` no transfer is.
    case noAcknowledge(address: I2CAddress, count: Int?)
    /// This number of transfers in 1,000 is not acknowledged, chosen by the bus's seed.
    case randomNoAcknowledge(perMille: Int)
    /// A chip holds a line low, so every transfer fails with ETIMEDOUT.
    case stuck
  }

  /// The state that only the loop uses.
  private let state: UnsafeMutablePointer<SimulatedI2CBusState>
  /// The faults, which any thread may set. They are never reached through `state`, which a transfer may be changing.
  private let faults: UnsafeMutablePointer<SimulatedI2CFaults>
  private let log: TransactionLog
  private var owners: [AnyObject] = []

  /// Creates a bus whose log keeps `logCapacity` transactions, 1 or more, stamped by `clock`.
  public init(seed: UInt64 = 1, logCapacity: Int = 4096, clock: RecordClock = .tick) {
    precondition(logCapacity > 0)
    log = TransactionLog(of: I2CTransaction.self, capacity: logCapacity, clock: clock)
    faults = .allocate(capacity: 1)
    faults.initialize(to: SimulatedI2CFaults())
    state = .allocate(capacity: 1)
    state.initialize(to: SimulatedI2CBusState(seed: seed, log: log, faults: faults))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    faults.deinitialize(count: 1)
    faults.deallocate()
    log.deallocate()
  }

  /// Attaches a chip to the bus. Traps if another chip has this address.
  public func attach(_ chip: SimulatedI2CChip, at address: I2CAddress) {
    let index = Int(address.value)
    precondition(state.pointee.chips[index] == nil, "two chips at 0x\(hex(address.value))")
    state.pointee.chips[index] = SimulatedI2CBusState.Slot(context: chip.context, transfer: chip.transfer)
    owners.append(chip.owner)
  }

  /// Returns the port for the one loop that owns it. `attempts` has the same meaning as in `I2CBus`.
  public func port(attempts: Int = 3) -> I2CBus {
    I2CBus(context: state, attempts: attempts, transfer: transferOnSimulatedBus)
  }

  /// Returns the transactions from number `sequence` on that are still in the log, the oldest first.
  public func transactions(since sequence: Int64 = 0) -> [I2CTransaction] {
    log.transactions(since: sequence)
  }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { log.count }

  /// The faults that can still occur, without those that have been counted down.
  public var activeFaults: [Fault] {
    var active: [Fault] = faults.pointee.stuck.load(ordering: .relaxed) ? [.stuck] : []
    let perMille = faults.pointee.refusedPerMille.load(ordering: .relaxed)
    if perMille > 0 { active.append(.randomNoAcknowledge(perMille: perMille)) }
    for value in UInt8(0x08)...0x77 {
      let left = faults.pointee.refusals(Int(value)).pointee.load(ordering: .relaxed)
      guard left > 0, let address = I2CAddress(value) else { continue }
      active.append(.noAcknowledge(address: address, count: left == SimulatedI2CFaults.untilCleared ? nil : left))
    }
    return active
  }

  /// Adds a fault. It replaces a fault of the same kind and address.
  public func inject(_ fault: Fault) {
    switch fault {
    case .noAcknowledge(let address, let count):
      precondition(count ?? 0 >= 0)
      faults.pointee.refusals(Int(address.value)).pointee.store(
        count ?? SimulatedI2CFaults.untilCleared, ordering: .relaxed)
    case .randomNoAcknowledge(let perMille):
      precondition((0...1000).contains(perMille))
      faults.pointee.refusedPerMille.store(perMille, ordering: .relaxed)
    case .stuck: faults.pointee.stuck.store(true, ordering: .relaxed)
    }
  }

  /// Removes every fault.
  public func clearFaults() {
    faults.pointee.stuck.store(false, ordering: .relaxed)
    faults.pointee.refusedPerMille.store(0, ordering: .relaxed)
    for address in 0..<128 { faults.pointee.refusals(address).pointee.store(0, ordering: .relaxed) }
  }
}

/// The faults of a simulated bus, set by any thread and applied by the loop.
struct SimulatedI2CFaults: ~Copyable {
  static var untilCleared: Int {
    @_noLocks @_noAllocation get { Int.max }
  }

  let refusedPerMille = Atomic<Int>(0)
  let stuck = Atomic<Bool>(false)
  /// The number of transfers that will still be refused, by address.
  private let refusalCounts: UnsafeMutablePointer<Atomic<Int>>

  init() {
    refusalCounts = .allocate(capacity: 128)
    for address in 0..<128 { (refusalCounts + address).initialize(to: Atomic(0)) }
  }

  deinit { refusalCounts.deallocate() }

  @_noLocks @_noAllocation
  func refusals(_ address: Int) -> UnsafeMutablePointer<Atomic<Int>> { refusalCounts + address }

  /// Returns whether a transfer to the address is refused, and counts the refusal.
  @_noLocks @_noAllocation
  func refuses(_ address: Int) -> Bool {
    let left = refusals(address).pointee.load(ordering: .relaxed)
    guard left > 0 else { return false }
    if left != Self.untilCleared {
      // Fails only when another thread has just set a new count, which then stands.
      _ = refusals(address).pointee.compareExchange(expected: left, desired: left - 1, ordering: .relaxed)
    }
    return true
  }
}

/// The state to which a port's context points. Only the loop uses it.
struct SimulatedI2CBusState: ~Copyable {
  struct Slot {
    let context: UnsafeMutableRawPointer
    let transfer: I2CBus.Transfer
  }

  let log: TransactionLog
  let faults: UnsafeMutablePointer<SimulatedI2CFaults>
  /// The chips, by address.
  let chips: UnsafeMutablePointer<Slot?>
  private var random: SplitMix64

  init(seed: UInt64, log: TransactionLog, faults: UnsafeMutablePointer<SimulatedI2CFaults>) {
    self.log = log
    self.faults = faults
    random = SplitMix64(seed: seed)
    chips = .allocate(capacity: 128)
    chips.initialize(repeating: nil, count: 128)
  }

  deinit { chips.deallocate() }

  @_noLocks @_noAllocation
  mutating func transfer(_ request: UnsafeMutablePointer<I2CTransfer>) -> Int32 {
    let result = answer(request)
    log.append(request.pointee, result: result)
    return result
  }

  @_noLocks @_noAllocation
  private mutating func answer(_ request: UnsafeMutablePointer<I2CTransfer>) -> Int32 {
    if faults.pointee.stuck.load(ordering: .relaxed) { return -110 }  // ETIMEDOUT
    let address = Int(request.pointee.address.value)
    let isRefusedByChance = random.chance(perMille: faults.pointee.refusedPerMille.load(ordering: .relaxed))
    // −121 is EREMOTEIO, which the Pi's controller returns.
    guard let chip = chips[address], !faults.pointee.refuses(address), !isRefusedByChance else { return -121 }
    return callTransfer(chip.transfer, chip.context, request)
  }
}

@_noLocks @_noAllocation
private func transferOnSimulatedBus(
  _ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer
) -> Int32 {
  context.assumingMemoryBound(to: SimulatedI2CBusState.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self))
}
