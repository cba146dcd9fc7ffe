import Synchronization
import Tactus

/// An entry of a log: a trivial value that carries its number.
protocol LoggedTransaction: Sendable, BitwiseCopyable {
  /// The number of the entry, counted from 0. A gap in the numbers means that entries were overwritten before they were read.
  var sequence: Int64 { get set }
  /// Creates an empty entry, to be overwritten by loading.
  init()
}

/// The last transactions of a bus, a line or a bank: a ring that the loop writes and any thread reads without stopping the loop.
///
/// The log is a trivial handle; its owner calls `deallocate`. It is not generic, since ticks write it: each kind of transaction has
/// an extension with its `append` function, and one log keeps one kind.
struct TransactionLog: @unchecked Sendable, BitwiseCopyable {  // safe: entries and head are atomics
  private let entries: SharedWords
  private let capacity: Int
  private let entryBytes: Int
  private let clock: RecordClock
  /// The sequence number of the next transaction.
  private let head: UnsafeMutablePointer<Atomic<Int64>>

  init(of kind: (some LoggedTransaction).Type, capacity: Int, clock: RecordClock) {
    precondition(capacity > 0)
    self.clock = clock
    self.capacity = capacity
    entryBytes = Self.bytes(of: kind)
    entries = SharedWords.allocate(byteCount: entryBytes, entries: capacity)
    head = .allocate(capacity: 1)
    head.initialize(to: Atomic(0))
  }

  private static func bytes<Transaction>(of kind: Transaction.Type) -> Int { MemoryLayout<Transaction>.size }

  func deallocate() {
    entries.deallocate()
    head.deallocate()
  }

  /// The number of the transaction that is appended next. The property may be used by one thread only.
  var next: Int64 {
    @_noLocks @_noAllocation get { head.pointee.load(ordering: .relaxed) }
  }

  /// Returns the stamp of a transaction that is appended now, in a tick that began at `tick`.
  @_noLocks @_noAllocation
  func stamp(inTickAt tick: TickInstant) -> TickInstant { clock.stamp(inTickAt: tick) }

  /// Appends a transaction of the log's kind whose number is `next`. The function must be called by one thread only.
  @_noLocks @_noAllocation
  func append(_ transaction: UnsafeRawPointer) {
    let sequence = next
    entries.entry(Int(sequence) % capacity).store(number: UInt64(sequence) &+ 1, from: transaction)
    head.pointee.store(sequence &+ 1, ordering: .releasing)
  }

  /// The number of transactions since the start. The value may be read from any thread.
  var count: Int64 { head.pointee.load(ordering: .acquiring) }

  /// Returns the transactions from number `sequence` on that are still kept, the oldest first. The function may be called from any thread.
  func transactions<Transaction: LoggedTransaction>(since sequence: Int64) -> [Transaction] {
    precondition(Self.bytes(of: Transaction.self) == entryBytes, "a log keeps one kind of transaction")
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
