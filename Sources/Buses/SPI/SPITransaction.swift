import Tactus

/// One transfer as it happened on a simulated SPI bus.
public struct SPITransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, by the clock of the log.
  public var at: TickInstant
  /// What was sent.
  public var out: SPIBytes
  /// What came in at the same time.
  public var received: SPIBytes
  /// 0, or −errno.
  public var result: Int32
}

extension SPITransaction {
  init() { self.init(sequence: 0, at: .zero, out: SPIBytes(), received: SPIBytes(), result: 0) }
}

extension TransactionLog {
  /// One thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing SPITransfer, out: SPIBytes, result: Int32) {
    var transaction = SPITransaction(
      sequence: next, at: stamp(inTickAt: transfer.at), out: out, received: transfer.bytes, result: result)
    append(&transaction)
  }
}
