import Tactus

/// One transfer as it happened on a recorded or simulated bus. A retry is a transaction of its own.
public struct I2CTransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, by the clock of the log.
  public var at: TickInstant
  /// The chip that was meant.
  public var address: I2CAddress
  /// What was asked of the bus.
  public var operation: I2CTransfer.Operation
  /// The register that was meant. Means nothing for the plain operations.
  public var register: UInt8
  /// What was written, or what was read.
  public var bytes: I2CBytes
  /// 0, or −errno.
  public var result: Int32
}

extension I2CTransaction {
  init() {
    self.init(
      sequence: 0, at: .zero, address: I2CAddress(0x08)!, operation: .plainRead, register: 0, bytes: I2CBytes(),
      result: 0)
  }
}

extension TransactionLog {
  /// One thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing I2CTransfer, result: Int32) {
    var transaction = I2CTransaction(
      sequence: next, at: stamp(inTickAt: transfer.at), address: transfer.address, operation: transfer.operation,
      register: transfer.register, bytes: transfer.bytes, result: result)
    append(&transaction)
  }
}
