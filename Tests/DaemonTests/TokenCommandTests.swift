import DaemonSupport
import Foundation
import Service
import TestSupport
import Testing

@testable import TactusDaemon

/// Both streams of a command that has ended.
private struct Said {
  let output: String
  let errors: String
  let status: Int32
}

@Suite("tactus token", .ownThread)
struct TokenCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.path("tokens.json") }

  private func tactus(_ arguments: [String], environment: [String: String] = [:]) throws -> Said {
    let process = Process()
    process.executableURL = TactusProcess.executable
    process.arguments = ["token"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.environment = TactusProcess.environment(home: folder.path("home")).merging(environment) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    // What goes to the second stream fits into its pipe.
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Said(
      output: String(decoding: said, as: UTF8.self), errors: String(decoding: complaints, as: UTF8.self),
      status: process.terminationStatus)
  }

  private func here(_ arguments: String...) throws -> Said { try tactus(arguments + ["--token-file", path]) }

  private func create(_ arguments: String...) throws -> String {
    // A name that is given again counts.
    let name = arguments.first == "--name" ? [] : ["--name", "phone"]
    let said = try tactus(["create", "--token-file", path] + name + arguments)
    try #require(said.status == 0, "\(said.errors)")
    return said.output.trimmingCharacters(in: .newlines)
  }

  private func verify(_ token: String, at offset: Int64 = 0) throws -> Result<TokenGrant, TokenRefusal> {
    let now = Int64(
      try FileManager.default.attributesOfItem(atPath: path)[.modificationDate].map {
        ($0 as? Date)?.timeIntervalSince1970 ?? 0
      } ?? 0)
    return try TokenStore(path: path).verify(token, now: now + offset)
  }

  @Test("a QR code for a phone: the printed line has the page's scheme and the fingerprint; a service's is root's")
  func printedTicket() {
    func said(_ page: String, _ fingerprint: String?) -> String {
      MakingToken.ticket(file: "/t.json", environment: [:], name: "my-phone", page: page, fingerprint: fingerprint)
    }
    let plain = said("http://192.0.2.7:8000", nil)
    #expect(plain.hasPrefix("TACTUS_TOKEN=$(") && plain.contains(" --scope admin --expires 1h --token-file /t.json) "))
    #expect(plain.hasSuffix(" token create --name my-phone --qr http://192.0.2.7:8000"), "\(plain)")
    let secure = said("https://pi.local:8000", "AA:BB")
    #expect(secure.hasSuffix(" --name my-phone --qr https://pi.local:8000 --fingerprint AA:BB"), "\(secure)")
    let root = MakingToken.ticketOfService(environment: [:], name: "my-phone", page: "https://pi.local:8000")
    #expect(root.hasPrefix("sudo ") && root.hasSuffix(" token create --name my-phone --qr https://pi.local:8000"))
  }

  @Test("create: a fingerprint without an https address is refused, with what it needs")
  func fingerprint() throws {
    for words in [["--fingerprint", "AA"], ["--qr", "http://127.0.0.1:8000", "--fingerprint", "AA"]] {
      let refused = try tactus(["create", "--name", "phone"] + words)
      #expect(refused.status == 64 && refused.errors.contains("--fingerprint needs --qr with an https:// address"))
    }
  }

  @Test("create: the token alone on standard output, nothing secret on the other; the daemon accepts it")
  func secret() throws {
    let said = try here("create", "--name", "phone")
    #expect(said.status == 0)
    #expect(said.output.wholeMatch(of: /tactus_[a-z2-7]{8}_[A-Za-z0-9_-]{43}\n/) != nil)
    let token = said.output.trimmingCharacters(in: .newlines)
    #expect(said.errors.contains("only time") && said.errors.contains(path))
    #expect(!said.errors.contains(token.suffix(43)))
    #expect(try verify(token).get().scope == .control)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("create --scope --expires: as asked for")
  func options() throws {
    let token = try create("--scope", "admin", "--expires", "90d")
    #expect(try verify(token).get().scope == .admin)
    #expect(try verify(token, at: 89 * 86_400).get().scope == .admin)
    #expect(try verify(token, at: 91 * 86_400) == .failure(.expired))
  }

  @Test("list: every token with its state, never a secret or a hash")
  func listing() throws {
    #expect(try here("list").output.contains("no tokens"))
    let first = try create()
    let time = Int64(Date().timeIntervalSince1970)
    let second = try TokenFolder(path: path).change { file throws(TokenFileError) in
      file.create(name: "second", scope: .read, expires: time, now: time).text
    }
    let third = try create("--name", "third")
    #expect(try here("revoke", String(third.dropFirst(7).prefix(8))).status == 0)
    let table = try here("list").output
    let lines = table.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines[1].contains("control  valid") && lines[2].contains("expired") && lines[3].contains("revoked"))
    let json = try here("list", "--json").output
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let tokens = try #require(object["tokens"] as? [[String: Any]])
    #expect(tokens.map { $0["state"] as? String } == ["valid", "expired", "revoked"])
    #expect(tokens.map { $0["id"] as? String } == [first, second, third].map { String($0.dropFirst(7).prefix(8)) })
    for text in [table, json] {
      #expect(text.firstMatch(of: /[0-9a-f]{64}/) == nil && !text.contains("hash"))
      for token in [first, second, third] { #expect(!text.contains(token.suffix(43))) }
    }
  }

  @Test("rotate: another secret on standard output; the old one ends after its grace, at once with --grace 0")
  func rotate() throws {
    let old = try create()
    let id = String(old.dropFirst(7).prefix(8))
    let new = try here("rotate", id, "--grace", "1h").output.trimmingCharacters(in: .newlines)
    #expect(new.hasPrefix("tactus_\(id)_") && new != old)
    #expect(try verify(new).get().tokenID == id)
    #expect(try verify(old, at: 3500).get().tokenID == id)
    #expect(try verify(old, at: 3700) == .failure(.expired))
    let newest = try here("rotate", id, "--grace", "0").output.trimmingCharacters(in: .newlines)
    #expect(try verify(new, at: 1) == .failure(.expired))
    #expect(try verify(newest).get().tokenID == id)
  }

  @Test("revoke: refused from then on; an unknown one: one line and status 1; --jti is remembered")
  func revoke() throws {
    let token = try create()
    #expect(try here("revoke", String(token.dropFirst(7).prefix(8))).status == 0)
    #expect(try verify(token) == .failure(.invalid))
    for command in ["revoke", "rotate"] {
      let said = try here(command, "zzzzzzzz")
      #expect(said.status == 1 && said.errors.hasPrefix("zzzzzzzz: expected") && said.output.isEmpty)
    }
    let named = try here("create", "--name", "Anna's phone").output.trimmingCharacters(in: .newlines)
    #expect(try here("revoke", "Anna's phone").status == 0)
    #expect(try verify(named) == .failure(.invalid))
    #expect(try here("revoke", "--jti", "j1").status == 0)
    #expect(try here("list", "--json").output.contains(#""revokedJWT":["j1"]"#))
  }

  @Test(
    "bad usage: status 64, nothing is written",
    arguments: [
      ["create"], ["create", "--name", ""], ["create", "--name", "a\nb"], ["create", "--name", "a "],
      ["create", "--name", "x", "--scope", "king"],
      ["create", "--name", "x", "--expires", "soon"], ["create", "--name", "x", "--expires", "-1d"],
      ["create", "--name", "x", "--expires", "99999999999999999999d"], ["rotate"], ["revoke"],
      ["revoke", "a", "--jti", "b"], ["list", "--config", "x"], ["frobnicate"],
    ])
  func usage(arguments: [String]) throws {
    #expect(try tactus(arguments + ["--token-file", path]).status == 64)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a damaged file: status 1 with its place, and it stays as it is")
  func damaged() throws {
    _ = try folder.write("{\n \"tokens\": oops }", to: "tokens.json")
    chmod(path, 0o600)
    for arguments in [["list"], ["create", "--name", "x"], ["rotate", "aaaaaaaa"], ["revoke", "aaaaaaaa"]] {
      let said = try tactus(arguments + ["--token-file", path])
      #expect(said.status == 1 && said.output.isEmpty)
      #expect(said.errors.hasPrefix("\(path):2:12: expected"), "\(said.errors)")
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "{\n \"tokens\": oops }")
  }

  @Test("where: the configuration's token_file; without options the user's state folder")
  func places() throws {
    let config = try folder.write("service: { token_file: \(folder.path("other.json")) }\n", to: "config.yaml")
    #expect(try tactus(["create", "--name", "x", "--config", config]).status == 0)
    #expect(try TokenFolder(path: folder.path("other.json")).read().tokens.count == 1)
    #expect(try tactus(["list", "--config", folder.path("absent.yaml")]).status == 78)
    #expect(try tactus(["create", "--name", "x"], environment: ["XDG_STATE_HOME": folder.path("state")]).status == 0)
    #expect(try TokenFolder(path: folder.path("state/tactus/tokens.json")).read().tokens.count == 1)
  }

  @Test("five commands at once: five tokens")
  func concurrent() throws {
    let processes = try (0..<5).map { try TactusProcess(["token", "create", "--name", "\($0)", "--token-file", path]) }
    for process in processes { #expect(process.finish() == 0, "\(process.said)") }
    #expect(try TokenFolder(path: path).read().tokens.count == 5)
  }

  @Test("a token that would be expired at once: refused with what is expected, none is made", arguments: ["0s", "0"])
  func neverValid(span: String) throws {
    let said = try here("create", "--name", "phone", "--expires", span)
    #expect(said.status != 0 && said.output.isEmpty)
    #expect(said.errors.contains("Expected for --expires at least 1s, such as 12h or 90d, got 0"), "\(said.errors)")
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try here("create", "--name", "phone", "--expires", "1s").status == 0)
  }

  @Test(
    "spans of time", arguments: [("90d", 7_776_000), ("12h", 43_200), ("30m", 1800), ("45s", 45), ("45", 45), ("0", 0)])
  func spans(text: String, seconds: Int64) {
    #expect(LongTimeSpan(argument: text)?.seconds == seconds)
  }

  @Test(
    "what is no span of time",
    arguments: ["", "d", "-1d", "+1d", "1.5d", "1w", "1 d", "36526d", "9223372036854775807d"])
  func noSpans(text: String) {
    #expect(LongTimeSpan(argument: text) == nil)
  }
}
