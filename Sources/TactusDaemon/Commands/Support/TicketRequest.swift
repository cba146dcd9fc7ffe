import ArgumentParser
import Service
import Wire

/// Requests a token for a new device from the running daemon, and the ticket with which the device fetches the token.
struct TicketRequest {
  let name: String
  let scope: Scope
  let validSeconds: Int64?
  /// The address of the page as the new device reaches it, with a slash at its end.
  let page: String
  /// The SHA-256 fingerprint of the daemon's certificate as people write it, or `nil` if this machine trusts the certificate, or without TLS.
  let fingerprint: String?

  /// Takes the page's address as people write it. Returns `nil` if it is not an http or https address without a path.
  init?(name: String, scope: Scope, validSeconds: Int64?, page: String, fingerprint: String?) {
    guard page.hasPrefix("http://") || page.hasPrefix("https://"), ServiceAddress(page) != nil else { return nil }
    (self.name, self.scope, self.validSeconds, self.fingerprint) = (name, scope, validSeconds, fingerprint)
    self.page = page.hasSuffix("/") ? page : page + "/"
  }

  /// Returns the lines of a QR code for a terminal, with two rows of modules each. The code is black on white whatever
  /// the terminal's colours are.
  static func lines(_ rows: [String]) -> [String] {
    let margin = 4
    let side = rows.count + 2 * margin
    let modules = rows.map { $0.map { $0 == "1" } }
    func isDark(_ x: Int, _ y: Int) -> Bool {
      guard modules.indices.contains(y - margin) else { return false }
      let row = modules[y - margin]
      return row.indices.contains(x - margin) && row[x - margin]
    }
    return stride(from: 0, to: side, by: 2).map { y in
      let text = (0..<side).map { x in
        switch (isDark(x, y), isDark(x, y + 1)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[30;107m" + text.joined() + "\u{1B}[0m"
    }
  }

  /// Makes the token and prints the ticket's address with its QR code. The token itself is not shown.
  func print() throws {
    let local = LocalAccessFile(environment: processEnvironment()).read()
    guard let address = ServiceAddress(local?.address ?? page) else { preconditionFailure("validated") }
    let token = try local?.token ?? CommandToken.read(file: nil)
    let client = try ServiceClient(address, token: token, fingerprint: local == nil ? fingerprint : local?.fingerprint)
    defer { client.stop() }
    let wish: JSONValue = [
      "name": .text(name), "scope": .text(scope.rawValue), "page": .text(page),
      "validSeconds": validSeconds.map { .number("\($0)") } ?? .null,
    ]
    switch client.ask("POST", "/api/tokens", body: wish.bytes, limit: .seconds(20)) {
    case .success(let answer) where answer.status == 201:
      let ticket = JSONValue(json: answer.body)?["ticket"]
      for line in Self.lines((ticket?["picture"]?.items ?? []).compactMap(\.string)) { Swift.print(line) }
      Swift.print(ticket?["address"]?.string ?? "")
      complain("for \(name), \(scope.rawValue): open it on the new device within 5 minutes; it is good once")
    case .success(let answer):
      complain(answer.refusal(hasToken: token != nil))
      throw ExitCode.failure
    case .failure(let failure):
      complain("\(address): \(failure); --qr needs the running daemon")
      throw ExitCode.failure
    }
  }
}
