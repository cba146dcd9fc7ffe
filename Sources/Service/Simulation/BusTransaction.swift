import Buses
import Foundation

/// One transaction as `GET /api/sim/bus/NAME` shows it.
struct BusTransaction: Encodable {
  var sequence: Int64
  var monotonicNs: Int64
  /// `writeByte`, `writeBlock`, `readBlock`, `plainWrite`, `plainRead`; `transfer`; `sent`, `received`; `request`, `set`, `read`, `release`.
  var operation: String
  /// I2C only.
  var address: UInt8?
  /// I2C with a register only.
  var register: UInt8?
  /// In hexadecimal, two digits a byte; not of GPIO lines.
  var bytes: String?
  /// SPI only: what came in while `bytes` went out.
  var received: String?
  /// GPIO only: the lines concerned, and the electrical level of each, 0 or 1.
  var lines: [Int]?
  var levels: [Int]?
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

  init(_ transaction: SPITransaction) {
    sequence = transaction.sequence
    monotonicNs = transaction.at.nanoseconds
    operation = "transfer"
    bytes = (0..<transaction.out.count).map { hex(transaction.out[$0]) }.joined()
    received = (0..<transaction.received.count).map { hex(transaction.received[$0]) }.joined()
    result = min(0, transaction.result)
    error = Self.name(transaction.result)
  }

  init(_ transaction: GPIOTransaction) {
    sequence = transaction.sequence
    monotonicNs = transaction.at.nanoseconds
    operation =
      switch transaction.operation {
      case .request: "request"
      case .set: "set"
      case .read: "read"
      case .release: "release"
      }
    let numbers = (0..<64).filter { transaction.lines >> UInt64(clamping: $0) & 1 != 0 }
    lines = numbers
    levels = numbers.map { Int(clamping: transaction.levels >> UInt64(clamping: $0) & 1) }
    result = transaction.result
    error = Self.name(transaction.result)
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
