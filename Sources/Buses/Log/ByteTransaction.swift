import Tactus

/// One transfer on a simulated serial line or datagram port.
public struct ByteTransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// Which way the bytes went, as the loop sees it.
  public enum Direction: UInt8, Sendable, BitwiseCopyable {
    /// Into the loop.
    case received
    /// Out of the loop.
    case sent
  }
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, by the clock of the log.
  public var at: TickInstant
  /// How many bytes were to be transferred; of more than 64 only the first 64 are kept.
  public var count: Int
  /// The first 64 bytes; the rest of the array is 0. `kept` gives those that were transferred.
  public var bytes: [64 of UInt8]
  /// The number of bytes taken, or −errno.
  public var result: Int32
  /// Which way the bytes went.
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

extension TransactionLog {
  /// One thread only.
  @_noLocks @_noAllocation
  func append(
    _ direction: ByteTransaction.Direction, _ bytes: UnsafeRawPointer, _ count: Int, result: Int, at now: Int64
  ) {
    var transaction = ByteTransaction()
    transaction.sequence = next
    transaction.at = stamp(inTickAt: TickInstant(nanoseconds: now))
    transaction.count = count
    transaction.result = Int32(truncatingIfNeeded: result)
    transaction.direction = direction
    let kept = count < 64 ? count : 64
    for index in 0..<kept { transaction.bytes[index] = bytes.load(fromByteOffset: index, as: UInt8.self) }
    append(&transaction)
  }
}
