import Foundation

/// The client's side of the delivery of one mail to a server, without input and output: it is given the server's
/// replies and returns what the client does next.
struct SMTPSession: Sendable {
  /// The protection of the connection.
  enum Protection: Sendable, Equatable {
    /// The session adds no encryption: the connection is unencrypted, or uses TLS from the first byte.
    case asItIs
    /// TLS after the command STARTTLS; a server without it gets nothing.
    case startTLS
  }

  /// The next action of the client.
  enum Action: Equatable, Sendable {
    case send([UInt8])
    /// Begins TLS; `secured` follows.
    case beginTLS
    /// Sends QUIT and ends; the text is the server's answer to the mail, or to the last command of a probe.
    case finish(String, [UInt8])
  }

  /// The reason why a mail was not taken.
  enum Failure: Error, Equatable {
    /// The server refused a command for good (5xx) or for now (4xx); the step names it.
    case refused(step: String, code: Int, text: String)
    /// The server lacks a feature that the session needs; the text is a sentence that names it.
    case lacks(String)
  }

  private enum State: Equatable {
    case greeting, hello, startTLS, securing, secondHello, user
    case recipient(Int)
    case data, content
    case authenticating
    case over
  }

  let mail: MailMessage
  let protection: Protection
  let login: (user: String, password: String)?
  /// Whether the session ends before the mail is sent, which checks the server and the account.
  let isProbe: Bool
  let name: String
  private var state = State.greeting

  init(
    _ mail: MailMessage, protection: Protection, login: (user: String, password: String)?, isProbe: Bool, name: String
  ) {
    (self.mail, self.protection, self.login, self.isProbe) = (mail, protection, login, isProbe)
    // Many servers refuse a name of another form, and it could contain anything.
    let isPlain =
      !name.isEmpty && name.utf8.count <= 200
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
    self.name = isPlain ? name : "localhost"
  }

  /// Receives a reply, and returns the next action.
  mutating func receive(_ reply: SMTPReply) throws(Failure) -> Action {
    let step = "\(stepName)"
    let expected: ClosedRange<Int> = state == .data ? 300...399 : 200...299
    guard expected.contains(reply.code) else {
      throw .refused(step: step, code: reply.code, text: text(of: reply))
    }
    switch state {
    case .greeting:
      state = .hello
      return .send(line("EHLO \(name)"))
    case .hello where protection == .startTLS:
      guard Self.offers("STARTTLS", reply) else { throw .lacks("the server does not offer STARTTLS") }
      state = .startTLS
      return .send(line("STARTTLS"))
    case .hello, .secondHello: return try afterHello(reply)
    case .startTLS:
      state = .securing
      return .beginTLS
    case .authenticating: return sender(reply)
    case .user: return recipient(0)
    case .recipient(let index):
      if index + 1 < mail.to.count { return recipient(index + 1) }
      state = .data
      return .send(line("DATA"))
    case .data:
      state = .content
      return .send(mail.bytes + Array(".\r\n".utf8))
    case .content, .securing, .over: return finish(reply)
    }
  }

  /// Continues when TLS is in effect after STARTTLS.
  mutating func secured() -> Action {
    state = .secondHello
    return .send(line("EHLO \(name)"))
  }

  private mutating func afterHello(_ reply: SMTPReply) throws(Failure) -> Action {
    guard let login else { return sender(reply) }
    let keywords = reply.lines.map(Self.keywords(of:))
    guard keywords.contains(where: { $0.first == "AUTH" && $0.contains("PLAIN") }) else {
      throw .lacks("the server does not offer AUTH PLAIN")
    }
    state = .authenticating
    return .send(line("AUTH PLAIN \(Data(Self.secret(of: login)).base64EncodedString())"))
  }

  private mutating func sender(_ reply: SMTPReply) -> Action {
    if isProbe { return finish(reply) }
    state = .user
    return .send(line("MAIL FROM:<\(mail.from)>"))
  }

  private mutating func recipient(_ index: Int) -> Action {
    state = .recipient(index)
    return .send(line("RCPT TO:<\(mail.to[index])>"))
  }

  private mutating func finish(_ reply: SMTPReply) -> Action {
    state = .over
    return .finish("\(reply.code) \(text(of: reply))", line("QUIT"))
  }

  /// Returns the server's words for a log, which must not contain the password: some servers repeat the command that they
  /// refuse.
  private func text(of reply: SMTPReply) -> String {
    let text = reply.lines.joined(separator: " ")
    guard let login else { return text }
    // A text this short occurs in every sentence and is not a secret.
    let plain = login.password.utf8.count < 4 ? [] : [login.password]
    let encoded = [Self.secret(of: login), Array(login.password.utf8)].map { Data($0).base64EncodedString() }
    return (plain + encoded).contains { text.contains($0) } ? "(its words repeat the password)" : text
  }

  /// Returns the bytes that send the password, in base64.
  private static func secret(of login: (user: String, password: String)) -> [UInt8] {
    [0] + Array(login.user.utf8) + [0] + Array(login.password.utf8)
  }

  private var stepName: String {
    switch state {
    case .greeting: "the greeting"
    case .hello, .secondHello: "EHLO"
    case .startTLS, .securing: "STARTTLS"
    case .authenticating: "the login"
    case .user: "the sender"
    case .recipient: "a recipient"
    case .data, .content, .over: "the mail"
    }
  }

  private static func offers(_ word: String, _ reply: SMTPReply) -> Bool {
    reply.lines.contains { keywords(of: $0).first == word }
  }

  private static func keywords(of line: String) -> [String] {
    line.uppercased().split { $0 == " " || $0 == "=" }.map(String.init)
  }

  private func line(_ text: String) -> [UInt8] { Array(text.utf8) + [0x0D, 0x0A] }
}
