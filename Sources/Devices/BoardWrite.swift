import Buses

/// A write as a board with registers receives it, where an SMBus write and a plain one look the same: the register, then the data.
struct BoardWrite: BitwiseCopyable {
  let register: UInt8
  private let bytes: I2CBytes
  private let start: Int

  /// Creates the write of a transfer. The result is `nil` for a read, and for a write without bytes.
  @_noLocks @_noAllocation
  init?(_ transfer: borrowing I2CTransfer) {
    bytes = transfer.bytes
    switch transfer.operation {
    case .writeByte, .writeBlock:
      register = transfer.register
      start = 0
    case .plainWrite:
      guard bytes.count > 0 else { return nil }
      register = bytes[0]
      start = 1
    case .readBlock, .plainRead: return nil
    }
  }

  /// The number of data bytes.
  var count: Int {
    @_noLocks @_noAllocation get { bytes.count - start }
  }

  @_noLocks @_noAllocation
  subscript(index: Int) -> UInt8 { bytes[start + index] }
}

/// Fills a read with the answer of a board without readable registers: ones, since the bus idles high.
@_noLocks @_noAllocation
func fillWithIdleBus(_ bytes: inout I2CBytes) {
  for index in 0..<bytes.count { bytes[index] = 0xFF }
}
