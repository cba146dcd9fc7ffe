import Synchronization
import Tactus

/// One transfer as it happened on a recorded or simulated bus. A retry is a transaction of its own.
public struct I2CTransaction: Sendable, BitwiseCopyable {
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, in the time of the tick that asked.
  public var at: TickInstant
  public var address: I2CAddress
  public var operation: I2CTransfer.Operation
  /// Meaningless for the plain operations.
  public var register: UInt8
  /// What was written, or what was read.
  public var bytes: I2CBytes
  /// 0, or −errno.
  public var result: Int32
}

/// The last transactions of a bus: a ring that the loop writes and any thread reads without stopping it.
///
/// A trivial handle; its owner calls `deallocate`.
struct I2CTransactionLog: @unchecked Sendable, BitwiseCopyable {  // safe: entries and head are atomics
  private static let entryBytes = MemoryLayout<I2CTransaction>.stride
  private let entries: SharedWords
  private let capacity: Int
  /// The next sequence number.
  private let head: UnsafeMutablePointer<Atomic<Int64>>

  init(capacity: Int) {
    self.capacity = capacity
    entries = SharedWords.allocate(byteCount: Self.entryBytes, entries: capacity)
    head = .allocate(capacity: 1)
    head.initialize(to: Atomic(0))
  }

  func deallocate() {
    entries.deallocate()
    head.deallocate()
  }

  /// One thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing I2CTransfer, result: Int32) {
    let sequence = head.pointee.load(ordering: .relaxed)
    var transaction = I2CTransaction(
      sequence: sequence, at: transfer.at, address: transfer.address, operation: transfer.operation,
      register: transfer.register, bytes: transfer.bytes, result: result)
    entries.entry(Int(sequence) % capacity).store(number: UInt64(sequence) &+ 1, from: &transaction)
    head.pointee.store(sequence &+ 1, ordering: .releasing)
  }

  /// How many there have been. Any thread.
  var count: Int64 { head.pointee.load(ordering: .acquiring) }

  /// The transactions from number `sequence` on that are still there, oldest first. Any thread.
  func transactions(since sequence: Int64) -> [I2CTransaction] {
    let end = head.pointee.load(ordering: .acquiring)
    let first = max(sequence, end - Int64(capacity), 0)
    guard first < end else { return [] }
    var result: [I2CTransaction] = []
    result.reserveCapacity(Int(end - first))
    for number in first..<end {
      var transaction = I2CTransaction(
        sequence: 0, at: .zero, address: I2CAddress(0x08)!, operation: .plainRead, register: 0, bytes: I2CBytes(),
        result: 0)
      let found = entries.entry(Int(number) % capacity).load(into: &transaction)
      if found == UInt64(number) + 1 { result.append(transaction) }
    }
    return result
  }
}
