import Buses
import Foundation

/// One bus transaction in the document of `GET /api/sim/bus/NAME`.
struct BusTransaction: Encodable {
  var sequence: Int64
  var monotonicNs: Int64
  /// The operation. On I2C it is `writeByte`, `writeBlock`, `readBlock`, `plainWrite` or `plainRead`, on SPI
  /// `transfer`, on a serial line or a datagram port `sent` or `received`, and on GPIO lines `request`, `set`, `read`
  /// or `release`.
  var operation: String
  /// The address of the chip, or `nil` if the bus is not an I2C bus.
  var address: UInt8?
  /// The register, or `nil` if the transaction is not an I2C access to a register.
  var register: UInt8?
  /// The bytes in hexadecimal, two digits a byte, or `nil` for GPIO lines.
  var bytes: String?
  /// The bytes received while `bytes` were sent, or `nil` if the bus is not an SPI bus.
  var received: String?
  /// The GPIO lines concerned; `levels` are their electrical levels, 0 or 1. `nil` if this is not a GPIO transaction.
  var lines: [Int]?
  var levels: [Int]?
  /// The result: 0, or −errno.
  var result: Int32
  /// The name of the error, such as `EREMOTEIO`, or `nil` if the transaction succeeded.
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
    // A line that accepted fewer bytes than it was given has no errno of its own.
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
