import Synchronization
import Tactus

/// One access to the lines of a recorded or simulated bank.
public struct GPIOTransaction: Sendable, BitwiseCopyable {
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// The lines became outputs, inactive.
    case request
    case set
    case read
    /// Nobody holds the lines any more.
    case release
  }
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, in the time of the tick that asked; of a request and a release the time of the last access.
  public var at: TickInstant
  /// Bit k: line k of the bank. On a recorded port: the k-th of the request.
  public var lines: UInt64
  /// The electrical levels of those lines: what was driven, or what was read. On a recorded port: 1 is active.
  public var levels: UInt64
  /// 0, or −errno.
  public var result: Int32
  public var operation: Operation
}

/// The last accesses to a bank: a ring that the loop writes and any thread reads without stopping it.
///
/// A trivial handle; its owner calls `deallocate`.
struct GPIOTransactionLog: @unchecked Sendable, BitwiseCopyable {  // safe: entries and head are atomics
  private let entries: SharedWords
  private let capacity: Int
  /// The next sequence number.
  private let head: UnsafeMutablePointer<Atomic<Int64>>

  init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    entries = SharedWords.allocate(byteCount: MemoryLayout<GPIOTransaction>.stride, entries: capacity)
    head = .allocate(capacity: 1)
    head.initialize(to: Atomic(0))
  }

  func deallocate() {
    entries.deallocate()
    head.deallocate()
  }

  /// One thread only.
  @_noLocks @_noAllocation
  func append(
    _ operation: GPIOTransaction.Operation, lines: UInt64, levels: UInt64, result: Int32, at: TickInstant
  ) {
    let sequence = head.pointee.load(ordering: .relaxed)
    var transaction = GPIOTransaction(
      sequence: sequence, at: at, lines: lines, levels: levels & lines, result: result, operation: operation)
    entries.entry(Int(sequence) % capacity).store(number: UInt64(sequence) &+ 1, from: &transaction)
    head.pointee.store(sequence &+ 1, ordering: .releasing)
  }

  /// How many there have been. Any thread.
  var count: Int64 { head.pointee.load(ordering: .acquiring) }

  /// The transactions from number `sequence` on that are still there, oldest first. Any thread.
  func transactions(since sequence: Int64) -> [GPIOTransaction] {
    let end = count
    let first = max(sequence, end - Int64(capacity), 0)
    guard first < end else { return [] }
    return (first..<end).compactMap { number in
      var transaction = GPIOTransaction(
        sequence: 0, at: .zero, lines: 0, levels: 0, result: 0, operation: .read)
      let found = entries.entry(Int(number) % capacity).load(into: &transaction)
      return found == UInt64(number) + 1 ? transaction : nil
    }
  }
}
