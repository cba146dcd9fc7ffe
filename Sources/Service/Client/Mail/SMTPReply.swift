@_spi(FromOutside) import Conversions

/// A reply of a mail server: a number and its lines of text. Source: RFC 5321, section 4.2.
public struct SMTPReply: Equatable, Sendable {
  /// The reply code, 200 to 599.
  public let code: Int
  /// The text of each line, printable ASCII; other bytes are replaced by `?`.
  public let lines: [String]

  /// Makes a reply.
  ///
  /// - Parameters:
  ///   - code: 200 to 599.
  ///   - lines: at least one.
  public init(code: Int, lines: [String]) { (self.code, self.lines) = (code, lines) }
}

/// Collects bytes of a mail server and returns its replies. Every input is accepted or refused; none takes more than
/// bounded memory.
public struct SMTPReplyReader: Sendable {
  /// The reason why bytes are not a reply.
  public enum Failure: Error, Equatable {
    /// A line is longer than 1000 bytes.
    case longLine
    /// A reply has more than 100 lines.
    case manyLines
    /// A line does not begin with a code from 200 to 599 and a space or a hyphen.
    case noCode
    /// The lines of one reply have different codes.
    case otherCode
  }

  /// The greatest length of a line in bytes, without its end.
  public static let longestLine = 1000
  /// The greatest number of lines of a reply.
  public static let mostLines = 100

  private var line: [UInt8] = []
  private var lines: [String] = []
  private var code: Int?
  private var replies: [SMTPReply] = []

  /// Makes a reader that has read nothing.
  public init() {}

  /// Whether nothing is waiting: neither a reply nor the beginning of one.
  public var isEmpty: Bool { line.isEmpty && code == nil && replies.isEmpty }

  /// Takes one byte.
  ///
  /// - Throws: `Failure`; the reader is of no use afterwards.
  public mutating func append(_ byte: UInt8) throws(Failure) {
    guard byte == UInt8(ascii: "\n") else {
      guard line.count <= Self.longestLine else { throw .longLine }
      line.append(byte)
      return
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard line.count <= Self.longestLine else { throw .longLine }
    defer { line = [] }
    try parseLine()
  }

  /// Returns the next complete reply, or `nil` if none is complete.
  public mutating func next() -> SMTPReply? { replies.isEmpty ? nil : replies.removeFirst() }

  private mutating func parseLine() throws(Failure) {
    let digits = line.prefix(3)
    guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      (UInt8(ascii: "2")...UInt8(ascii: "5")).contains(digits[0])
    else { throw .noCode }
    let number = digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    let mark = line.count > 3 ? line[3] : 0x20
    guard mark == 0x20 || mark == UInt8(ascii: "-") else { throw .noCode }
    guard code == nil || code == number else { throw .otherCode }
    guard lines.count < Self.mostLines else { throw .manyLines }
    let text = line.dropFirst(4).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
    lines.append(String(decoding: text, as: UTF8.self))
    if mark == UInt8(ascii: "-") {
      code = number
    } else {
      // A server that sends unrequested replies is not read without a limit.
      guard replies.count < Self.mostLines else { throw .manyLines }
      replies.append(SMTPReply(code: number, lines: lines))
      (code, lines) = (nil, [])
    }
  }
}
