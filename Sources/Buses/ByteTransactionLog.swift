import Synchronization
import Tactus

/// One transfer on a simulated serial line or datagram port.
public struct ByteTransaction: Sendable, BitwiseCopyable {
  public enum Direction: UInt8, Sendable, BitwiseCopyable {
    /// Into the loop.
    case received
    /// Out of the loop.
    case sent
  }
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, in the time of the tick that asked.
  public var at: TickInstant
  /// How many bytes were to be transferred; of more than 64 only the first 64 are kept.
  public var count: Int
  public var bytes: [64 of UInt8]
  /// The number of bytes taken, or −errno.
  public var result: Int32
  public var direction: Direction

  @_noLocks @_noAllocation
  init() {
    sequence = 0
    at = .zero
    count = 0
    bytes = .init(repeating: 0)
    result = 0
    direction = .received
  }

  /// What was kept of the bytes. Not for ticks.
  public var kept: [UInt8] { (0..<min(count, 64)).map { bytes[$0] } }
}

/// The last transfers of a line: a ring that the loop writes and any thread reads without stopping it.
///
/// A trivial handle; its owner calls `deallocate`.
struct ByteTransactionLog: @unchecked Sendable, BitwiseCopyable {  // safe: entries and head are atomics
  private let entries: SharedWords
  private let capacity: Int
  /// The next sequence number.
  private let head: UnsafeMutablePointer<Atomic<Int64>>

  init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    entries = SharedWords.allocate(byteCount: MemoryLayout<ByteTransaction>.stride, entries: capacity)
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
    _ direction: ByteTransaction.Direction, _ bytes: UnsafeRawPointer, _ count: Int, result: Int, at now: Int64
  ) {
    var transaction = ByteTransaction()
    transaction.sequence = head.pointee.load(ordering: .relaxed)
    transaction.at = TickInstant(nanoseconds: now)
    transaction.count = count
    transaction.result = Int32(truncatingIfNeeded: result)
    transaction.direction = direction
    let kept = count < 64 ? count : 64
    for index in 0..<kept { transaction.bytes[index] = bytes.load(fromByteOffset: index, as: UInt8.self) }
    let sequence = transaction.sequence
    entries.entry(Int(sequence) % capacity).store(number: UInt64(sequence) &+ 1, from: &transaction)
    head.pointee.store(sequence &+ 1, ordering: .releasing)
  }

  /// How many there have been. Any thread.
  var count: Int64 { head.pointee.load(ordering: .acquiring) }

  /// The transactions from number `sequence` on that are still there, oldest first. Any thread.
  func transactions(since sequence: Int64) -> [ByteTransaction] {
    let end = count
    let first = max(sequence, end - Int64(capacity), 0)
    guard first < end else { return [] }
    return (first..<end).compactMap { number in
      var transaction = ByteTransaction()
      let found = entries.entry(Int(number) % capacity).load(into: &transaction)
      return found == UInt64(number) + 1 ? transaction : nil
    }
  }
}
