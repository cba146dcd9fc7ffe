import Synchronization
import Tactus

/// One transfer as it happened on a simulated SPI bus.
public struct SPITransaction: Sendable, BitwiseCopyable {
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, in the time of the tick that asked.
  public var at: TickInstant
  public var out: SPIBytes
  /// What came in at the same time.
  public var received: SPIBytes
  /// 0, or −errno.
  public var result: Int32
}

/// The last transactions of a port: a ring that the loop writes and any thread reads without stopping it.
///
/// A trivial handle; its owner calls `deallocate`.
struct SPITransactionLog: @unchecked Sendable, BitwiseCopyable {  // safe: entries and head are atomics
  private let entries: SharedWords
  private let capacity: Int
  /// The next sequence number.
  private let head: UnsafeMutablePointer<Atomic<Int64>>

  init(capacity: Int) {
    self.capacity = capacity
    entries = SharedWords.allocate(byteCount: MemoryLayout<SPITransaction>.stride, entries: capacity)
    head = .allocate(capacity: 1)
    head.initialize(to: Atomic(0))
  }

  func deallocate() {
    entries.deallocate()
    head.deallocate()
  }

  /// One thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing SPITransfer, out: SPIBytes, result: Int32) {
    let sequence = head.pointee.load(ordering: .relaxed)
    var transaction = SPITransaction(
      sequence: sequence, at: transfer.at, out: out, received: transfer.bytes, result: result)
    entries.entry(Int(sequence) % capacity).store(number: UInt64(sequence) &+ 1, from: &transaction)
    head.pointee.store(sequence &+ 1, ordering: .releasing)
  }

  /// How many there have been. Any thread.
  var count: Int64 { head.pointee.load(ordering: .acquiring) }

  /// The transactions from number `sequence` on that are still there, oldest first. Any thread.
  func transactions(since sequence: Int64) -> [SPITransaction] {
    let end = head.pointee.load(ordering: .acquiring)
    let first = max(sequence, end - Int64(capacity), 0)
    guard first < end else { return [] }
    var result: [SPITransaction] = []
    for number in first..<end {
      var transaction = SPITransaction(sequence: 0, at: .zero, out: SPIBytes(), received: SPIBytes(), result: 0)
      let found = entries.entry(Int(number) % capacity).load(into: &transaction)
      if found == UInt64(number) + 1 { result.append(transaction) }
    }
    return result
  }
}
