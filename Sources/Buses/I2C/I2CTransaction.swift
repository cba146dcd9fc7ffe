import Tactus

/// A transfer that happened on a recorded or simulated bus. Each retry is a separate transaction.
public struct I2CTransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// The number of the entry, counted from 0. A gap in the numbers means that entries were overwritten before they were read.
  public var sequence: Int64
  /// The instant of the transfer, by the clock of the log.
  public var at: TickInstant
  /// The address of the chip.
  public var address: I2CAddress
  /// The kind of transfer.
  public var operation: I2CTransfer.Operation
  /// The register. It has no meaning for plain operations.
  public var register: UInt8
  /// The bytes that were written or read.
  public var bytes: I2CBytes
  /// The result of the transfer: 0, or −errno if it failed.
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
  /// Appends an entry. The function must be called by one thread only.
  @_noLocks @_noAllocation
  func append(_ transfer: borrowing I2CTransfer, result: Int32) {
    var transaction = I2CTransaction(
      sequence: next, at: stamp(inTickAt: transfer.at), address: transfer.address, operation: transfer.operation,
      register: transfer.register, bytes: transfer.bytes, result: result)
    append(&transaction)
  }
}
