import Tactus

/// A transfer on a simulated serial line or datagram port.
public struct ByteTransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// The direction of the bytes, as the loop sees it.
  public enum Direction: UInt8, Sendable, BitwiseCopyable {
    /// The loop received the bytes.
    case received
    /// The loop sent the bytes.
    case sent
  }
  /// The number of the entry, counted from 0. A gap in the numbers means that entries were overwritten before they were read.
  public var sequence: Int64
  /// The instant of the transfer, by the clock of the log.
  public var at: TickInstant
  /// The number of bytes to be transferred. If there are more than 64, only the first 64 are kept.
  public var count: Int
  /// The first 64 bytes; the rest of the array is 0. `kept` returns only those that were transferred.
  public var bytes: [64 of UInt8]
  /// The number of bytes that were transferred, or −errno if the transfer failed.
  public var result: Int32
  /// The direction of the bytes.
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

  /// The bytes that were kept. The property must not be used in a tick.
  public var kept: [UInt8] { (0..<min(count, 64)).map { bytes[$0] } }
}

extension TransactionLog {
  /// Appends an entry. The function must be called by one thread only.
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
