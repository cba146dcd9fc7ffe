import Synchronization
import Tactus

/// What a log keeps: a trivial value that carries its number.
protocol LoggedTransaction: Sendable, BitwiseCopyable {
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  var sequence: Int64 { get set }
  /// One with nothing in it, to be loaded over.
  init()
}

/// The last transactions of a bus, a line or a bank: a ring that the loop writes and any thread reads without stopping it.
///
/// A trivial handle; its owner calls `deallocate`. What a transaction is made of is in the extension beside its type.
struct TransactionLog<Transaction: LoggedTransaction>: @unchecked Sendable, BitwiseCopyable {
  // Safe: entries and head are atomics.
  private let entries: SharedWords
  private let capacity: Int
  /// The next sequence number.
  private let head: UnsafeMutablePointer<Atomic<Int64>>

  init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    entries = SharedWords.allocate(byteCount: MemoryLayout<Transaction>.stride, entries: capacity)
    head = .allocate(capacity: 1)
    head.initialize(to: Atomic(0))
  }

  func deallocate() {
    entries.deallocate()
    head.deallocate()
  }

  /// Gives it the next number. One thread only.
  @_noLocks @_noAllocation
  func append(_ transaction: Transaction) {
    let sequence = head.pointee.load(ordering: .relaxed)
    var transaction = transaction
    transaction.sequence = sequence
    entries.entry(Int(sequence) % capacity).store(number: UInt64(sequence) &+ 1, from: &transaction)
    head.pointee.store(sequence &+ 1, ordering: .releasing)
  }

  /// How many there have been. Any thread.
  var count: Int64 { head.pointee.load(ordering: .acquiring) }

  /// The transactions from number `sequence` on that are still there, oldest first. Any thread.
  func transactions(since sequence: Int64) -> [Transaction] {
    let end = count
    let first = max(sequence, end - Int64(capacity), 0)
    guard first < end else { return [] }
    return (first..<end).compactMap { number in
      var transaction = Transaction()
      let found = entries.entry(Int(number) % capacity).load(into: &transaction)
      return found == UInt64(number) + 1 ? transaction : nil
    }
  }
}
