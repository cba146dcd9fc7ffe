import Foundation

/// The form of mail addresses that are accepted.
public enum MailAddress {
  /// Returns whether a text is an address that needs no quotation: one @, at most 254 letters, digits and `.!#$%&'*+/=?^_{|}~-`.
  public static func isPlain(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard text.utf8.count <= 254, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "@"):
        true
      default: ".!#$%&'*+/=?^_{|}~-[]:".utf8.contains(byte)
      }
    }
  }
}

/// A mail of plain text. Whatever the subject and the text contain, they add no header and no line to the protocol,
/// because both are written in base64.
public struct MailMessage: Sendable {
  /// The sender's address, which `MailAddress.isPlain` accepts.
  public let from: String
  /// The addresses of the recipients, each of which `MailAddress.isPlain` accepts.
  public let to: [String]
  /// The subject, any text; line breaks count as spaces.
  public let subject: String
  /// The text, with line feeds.
  public let text: String
  /// The identification in the header `Message-ID`, 1 to 100 letters, digits and hyphens.
  public let id: String
  /// The value of the header `Date`, or `nil` to leave it to the server.
  public let date: String?

  /// Makes a mail. Traps if an address or the identification has another form.
  public init(from: String, to: [String], subject: String, text: String, id: String, date: String? = nil) {
    precondition(([from] + to).allSatisfy(MailAddress.isPlain), "an address of another form")
    precondition(
      (1...100).contains(id.utf8.count)
        && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") },
      "an identification of another form")
    (self.from, self.to, self.subject, self.text, self.id, self.date) = (from, to, subject, text, id, date)
  }

  /// The mail as it follows DATA, without the dot at its end. No line begins with a dot.
  public var bytes: [UInt8] {
    let domain = from.split(separator: "@").last.map(String.init) ?? "localhost"
    var lines = ["From: <\(from)>", "To: " + to.map { "<\($0)>" }.joined(separator: ",\r\n ")]
    lines.append("Subject: " + Self.encodedWords(subject))
    if let date { lines.append("Date: " + date.filter { $0.isASCII && !$0.isNewline }) }
    lines += [
      "Message-ID: <\(id)@\(domain)>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64", "Auto-Submitted: auto-generated", "",
    ]
    let body = Data(text.replacing("\n", with: "\r\n").utf8).base64EncodedString(
      options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
    return Array((lines.joined(separator: "\r\n") + "\r\n" + body + "\r\n").utf8)
  }

  /// Returns a text as encoded words of RFC 2047, each on a line of its own.
  static func encodedWords(_ text: String) -> String {
    var pieces: [String] = []
    var piece: [UInt8] = []
    for character in text.prefix(300) {
      let bytes = character.isNewline ? [0x20] : Array(String(character).utf8.prefix(40))
      if piece.count + bytes.count > 42 {
        pieces.append(Data(piece).base64EncodedString())
        piece = []
      }
      piece += bytes
    }
    pieces.append(Data(piece).base64EncodedString())
    return pieces.map { "=?utf-8?B?\($0)?=" }.joined(separator: "\r\n ")
  }
}
