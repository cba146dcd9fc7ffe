import Buses
import Foundation

/// One transaction as `GET /api/sim/bus/NAME` shows it.
struct BusTransaction: Encodable {
  var sequence: Int64
  var monotonicNs: Int64
  /// `writeByte`, `writeBlock`, `readBlock`, `plainWrite`, `plainRead`; `sent`, `received`.
  var operation: String
  /// I2C only.
  var address: UInt8?
  /// I2C with a register only.
  var register: UInt8?
  /// In hexadecimal, two digits a byte.
  var bytes: String
  /// 0, or −errno.
  var result: Int32
  /// `EREMOTEIO`; only of an error.
  var error: String?

  init(_ transaction: I2CTransaction) {
    sequence = transaction.sequence
    monotonicNs = transaction.at.nanoseconds
    address = transaction.address.value
    (operation, register) =
      switch transaction.operation {
      case .writeByte: ("writeByte", transaction.register)
      case .writeBlock: ("writeBlock", transaction.register)
      case .readBlock: ("readBlock", transaction.register)
      case .plainWrite: ("plainWrite", nil)
      case .plainRead: ("plainRead", nil)
      }
    bytes = (0..<transaction.bytes.count).map { hex(transaction.bytes[$0]) }.joined()
    result = min(0, transaction.result)
    error = Self.name(transaction.result)
  }

  init(_ transaction: ByteTransaction) {
    sequence = transaction.sequence
    monotonicNs = transaction.at.nanoseconds
    operation = transaction.direction == .sent ? "sent" : "received"
    bytes = transaction.kept.map { hex($0) }.joined()
    // A line that took less than it was given has no errno of its own.
    let isCut = transaction.direction == .sent && transaction.result >= 0 && transaction.result < transaction.count
    result = isCut ? -11 : min(0, transaction.result)
    error = Self.name(result)
  }

  private static func name(_ result: Int32) -> String? {
    guard result < 0 else { return nil }
    let names: [Int32: String] = [
      5: "EIO", 6: "ENXIO", 11: "EAGAIN", 19: "ENODEV", 105: "ENOBUFS", 107: "ENOTCONN", 110: "ETIMEDOUT",
      121: "EREMOTEIO",
    ]
    return names[-result] ?? "errno \(-result)"
  }
}
