import Foundation
import Testing

@testable import Service

@Suite("mail: replies, session, form")
struct SMTPTests {
  private func replies(_ text: String) throws(SMTPReplyReader.Failure) -> [SMTPReply] {
    var reader = SMTPReplyReader()
    for byte in text.utf8 { try reader.append(byte) }
    var found: [SMTPReply] = []
    while let reply = reader.next() { found.append(reply) }
    return found
  }

  @Test("replies of one line and of several, with either end of a line")
  func read() throws {
    let found = try replies("220 hi\r\n250-one\r\n250-two words\r\n250 three\n354\r\n")
    #expect(found.map(\.code) == [220, 250, 354] && found[1].lines == ["one", "two words", "three"])
    #expect(try replies("250-one\r\n25").isEmpty)
    #expect(try replies("250 a\u{1B}[31m\r\n").first?.lines == ["a?[31m"])
  }

  @Test("what is no reply is refused, and nothing grows without end")
  func refused() {
    #expect(throws: SMTPReplyReader.Failure.noCode) { try replies("HTTP/1.1 400\r\n") }
    #expect(throws: SMTPReplyReader.Failure.noCode) { try replies("199 x\r\n") }
    #expect(throws: SMTPReplyReader.Failure.noCode) { try replies("250+x\r\n") }
    #expect(throws: SMTPReplyReader.Failure.otherCode) { try replies("250-x\r\n251 y\r\n") }
    #expect(throws: SMTPReplyReader.Failure.longLine) { try replies(String(repeating: "2", count: 1002)) }
    #expect(throws: SMTPReplyReader.Failure.manyLines) { try replies(String(repeating: "250-x\r\n", count: 101)) }
    #expect(throws: SMTPReplyReader.Failure.manyLines) { try replies(String(repeating: "250 x\r\n", count: 101)) }
  }

  private static let mail = MailMessage(
    from: "a@b.org", to: ["c@d.org", "e@f.org"], subject: "s", text: "t", id: "x-1")

  private func talk(
    _ replies: [String], protection: SMTPSession.Protection = .asItIs, login: (user: String, password: String)? = nil,
    isProbe: Bool = false
  ) throws -> [String] {
    var session = SMTPSession(Self.mail, protection: protection, login: login, isProbe: isProbe, name: "pi")
    var said: [String] = []
    for text in replies {
      let lines = text.split(separator: "|").map(String.init)
      switch try session.receive(
        SMTPReply(code: Int(lines[0].prefix(3)) ?? 0, lines: lines.map { String($0.dropFirst(4)) }))
      {
      case .send(let bytes):
        said.append(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
      case .beginTLS:
        said.append("TLS")
        if case .send(let bytes) = session.secured() {
          said.append(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines))
        }
      case .finish(let text, _): said.append("done: \(text)")
      }
    }
    return said
  }

  @Test("a mail to two, with a login")
  func whole() throws {
    let said = try talk(
      ["220 hi", "250 pi|250 AUTH LOGIN PLAIN", "235 in", "250 ok", "250 ok", "250 ok", "354 go", "250 queued"],
      login: ("u", "p"))
    #expect(said[0] == "EHLO pi" && said[1] == "AUTH PLAIN AHUAcA==" && said[2] == "MAIL FROM:<a@b.org>")
    #expect(said[3...5] == ["RCPT TO:<c@d.org>", "RCPT TO:<e@f.org>", "DATA"])
    #expect(said[6].hasSuffix("\r\n.") && said[7] == "done: 250 queued")
  }

  @Test("STARTTLS: the login follows it; a server without it gets neither login nor mail")
  func startTLS() throws {
    let said = try talk(
      ["220 hi", "250 STARTTLS", "220 go", "250 AUTH PLAIN", "235 in"], protection: .startTLS, login: ("u", "p"),
      isProbe: true)
    #expect(said == ["EHLO pi", "STARTTLS", "TLS", "EHLO pi", "AUTH PLAIN AHUAcA==", "done: 235 in"])
    #expect(throws: SMTPSession.Failure.self) {
      try talk(["220 hi", "250 AUTH PLAIN"], protection: .startTLS, login: ("u", "p"))
    }
    #expect(throws: SMTPSession.Failure.self) { try talk(["220 hi", "250 AUTH LOGIN"], login: ("u", "p")) }
  }

  @Test(
    "a server that repeats the password, plain or encoded: its words are left out, of a refusal and of an answer",
    arguments: ["hush-hush", "AHUAaHVzaC1odXNo", "aHVzaC1odXNo"])
  func repeated(secret: String) throws {
    let login = (user: "u", password: "hush-hush")
    #expect(
      throws: SMTPSession.Failure.refused(step: "the login", code: 535, text: "(its words repeat the password)")
    ) {
      try talk(["220 hi", "250 AUTH PLAIN", "535 bad: AUTH PLAIN \(secret)"], login: login)
    }
    let said = try talk(["220 hi", "250 AUTH PLAIN", "235 in by \(secret)"], login: login, isProbe: true)
    #expect(said.last == "done: 235 (its words repeat the password)")
    #expect(throws: SMTPSession.Failure.refused(step: "the login", code: 535, text: "who are you")) {
      try talk(["220 hi", "250 AUTH PLAIN", "535 who are you"], login: login)
    }
  }

  @Test(
    "a refusal names its step",
    arguments: [(1, "the greeting"), (2, "EHLO"), (3, "the sender"), (4, "a recipient"), (6, "the mail")])
  func steps(count: Int, step: String) {
    let good = ["220 hi", "250 pi", "250 ok", "250 ok", "250 ok", "354 go"]
    #expect(throws: SMTPSession.Failure.refused(step: step, code: 550, text: "no")) {
      try talk(Array(good.prefix(count - 1)) + ["550 no"])
    }
  }

  @Test("whatever subject and text hold, there is no header and no line of the protocol in them")
  func injection() throws {
    let evil = "a\r\nBcc: x@y.org\r\n\r\n.\r\nMAIL FROM:<z@z>\u{2028}ü" + String(repeating: "é", count: 400)
    let mail = MailMessage(
      from: "a@b.org", to: ["c@d.org"], subject: evil, text: evil, id: "x-1", date: "Fri\r\nBcc: q")
    let text = String(decoding: mail.bytes, as: UTF8.self)
    let lines = text.components(separatedBy: "\r\n")
    #expect(
      !text.contains("Bcc: x")
        && !lines.contains { $0.hasPrefix("Bcc") || $0.hasPrefix(".") || $0.contains("\n") || $0.contains("\r") })
    #expect(lines.allSatisfy { $0.utf8.count <= 78 })
    let body = try #require(text.components(separatedBy: "\r\n\r\n").last)
    let decoded = try #require(Data(base64Encoded: body.replacing("\r\n", with: "")))
    #expect(
      String(decoding: decoded, as: UTF8.self) == evil.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n"))
  }

  @Test(
    "addresses",
    arguments: [
      ("a@b", true), ("a.b+c@d-e.org", true), ("a", false), ("@b", false), ("a@b@c", false), ("a b@c", false),
      ("a@b>\r\n", false), ("ä@b", false), ("", false),
    ])
  func addresses(text: String, isPlain: Bool) { #expect(MailAddress.isPlain(text) == isPlain) }
}
