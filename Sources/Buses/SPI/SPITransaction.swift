import Tactus

/// A transfer that happened on a simulated SPI bus.
public struct SPITransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// The number of the entry, counted from 0. A gap in the numbers means that entries were overwritten before they were read.
  public var sequence: Int64
  /// The instant of the transfer, by the clock of the log.
  public var at: TickInstant
  /// The bytes that were sent.
  public var out: SPIBytes
  /// The bytes that were received at the same time.
  public var received: SPIBytes
  /// The result of the transfer: 0, or −errno if it failed.
  public var result: Int32
}

extension SPITransaction {
  init() { self.init(sequence: 0, at: .zero, out: SPIBytes(), received: SPIBytes(), result: 0) }
}

extension TransactionLog {
  /// Appends an entry. The function must be called by one thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing SPITransfer, out: SPIBytes, result: Int32) {
    var transaction = SPITransaction(
      sequence: next, at: stamp(inTickAt: transfer.at), out: out, received: transfer.bytes, result: result)
    append(&transaction)
  }
}
