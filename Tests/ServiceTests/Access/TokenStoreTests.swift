import Foundation
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import Service

private let now: Int64 = 1_800_000_000
private let day: Int64 = 86_400

@Suite("tokens", .ownThread)
struct TokenStoreTests {
  private let folder: AccessFolder

  init() throws { folder = try AccessFolder() }

  private func create(_ scope: Scope = .control, expires: Int64? = nil) throws -> (record: TokenRecord, text: String) {
    try folder.tokens.change { file in file.create(name: "phone", scope: scope, expires: expires, now: now) }
  }

  private func store(jwtKey: String? = nil, environment: String? = nil) throws -> TokenStore {
    try TokenStore(path: folder.tokens.path, jwtKey: jwtKey, environmentToken: environment)
  }

  @Test("a new token: has the documented form, is accepted with its scope, and only its hash is kept")
  func new() throws {
    let (record, text) = try create(.read)
    #expect(text.wholeMatch(of: /tactus_[a-z2-7]{8}_[A-Za-z0-9_-]{43}/) != nil)
    #expect(try store().verify(text, now: now) == .success(TokenGrant(tokenID: record.id, scope: .read, expires: nil)))
    let file = try String(contentsOfFile: folder.tokens.path, encoding: .utf8)
    #expect(file.contains(record.id))
    #expect(!file.contains(String(text.suffix(43))))
    #expect(try folder.mode("tokens.json") == 0o600)
  }

  @Test("a backup's tokens put in place: they count again, but for what is revoked here; what was there is kept")
  func restored() throws {
    let copy = folder.path + "/tokens.json.before"
    let (kept, text) = try create()
    let (lost, other) = try create()
    let backup = try folder.tokens.read()
    try folder.tokens.change { file throws(TokenFileError) in
      try file.revoke(lost.id, now: now)
      file.revokeJWT("a")
    }
    #expect(try !folder.tokens.restore(backup, keepingAs: copy))
    #expect(!FileManager.default.fileExists(atPath: copy))
    let (_, later) = try create()
    let before = try folder.tokens.read()
    #expect(try folder.tokens.restore(backup, keepingAs: copy))
    #expect(try TokenFolder(path: copy).read() == before)
    #expect(try folder.tokens.read().revokedJWT == ["a"])
    let store = try store()
    #expect(try store.verify(text, now: now).get().tokenID == kept.id)
    for text in [other, later] { #expect(store.verify(text, now: now) == .failure(.invalid)) }
    // There was no file: none is kept.
    try FileManager.default.removeItem(atPath: folder.tokens.path)
    try FileManager.default.removeItem(atPath: copy)
    #expect(try folder.tokens.restore(backup, keepingAs: copy))
    #expect(try folder.tokens.read() == backup && !FileManager.default.fileExists(atPath: copy))
  }

  @Test("no file, an empty one, an unknown token, a wrong secret, another's secret: invalid, all the same way")
  func unknown() throws {
    let stranger = OpaqueToken(identifier: "aaaaaaaa", random: seeded(1)).text
    #expect(try store().verify(stranger, now: now) == .failure(.invalid))
    let (_, one) = try create()
    let (_, other) = try create()
    let store = try store()
    for text in [
      stranger, String(one.dropLast()) + (one.hasSuffix("A") ? "E" : "A"),
      String(one.prefix(16) + other.suffix(43)), one + "x",
      String(one.dropLast()), one.uppercased(), "", " ", "tactus_", "Bearer " + one, one + "\n",
      String(repeating: "a", count: 100_000),
    ] as [String] { #expect(store.verify(text, now: now) == .failure(.invalid), "\(text.prefix(20))") }
  }

  @Test("every bit of a token flipped: invalid")
  func bitFlips() throws {
    let bytes = Array(try create().text.utf8)
    let store = try store()
    for index in bytes.indices {
      for bit in 0..<8 {
        var other = bytes
        other[index] ^= 1 << bit
        #expect(store.verify(String(decoding: other, as: UTF8.self), now: now) == .failure(.invalid))
      }
    }
  }

  @Test("expiry: accepted in the last second before, expired in the second itself; wrong secrets are never told")
  func expiry() throws {
    let (record, text) = try create(expires: now + day)
    let store = try store()
    #expect(
      store.verify(text, now: now + day - 1)
        == .success(TokenGrant(tokenID: record.id, scope: .control, expires: now + day)))
    #expect(store.verify(text, now: now + day) == .failure(.expired))
    #expect(store.verify(text.prefix(16) + String(repeating: "A", count: 43), now: now + day) == .failure(.invalid))
  }

  @Test("rotation: both secrets during the grace period, the old one expires with it, and its grant says so")
  func rotation() throws {
    let (record, old) = try create()
    let new = try folder.tokens.change { file throws(TokenFileError) in
      try file.rotate(record.id, grace: 3600, now: now).text
    }
    let store = try store()
    #expect(new != old)
    #expect(
      store.verify(new, now: now + day) == .success(TokenGrant(tokenID: record.id, scope: .control, expires: nil)))
    #expect(
      store.verify(old, now: now + 3599)
        == .success(TokenGrant(tokenID: record.id, scope: .control, expires: now + 3600)))
    #expect(store.verify(old, now: now + 3600) == .failure(.expired))
  }

  @Test("rotation: a grace period does not outlive the token; a second rotation ends the first secret at once")
  func rotationLimits() throws {
    let (record, first) = try create(expires: now + 60)
    _ = try folder.tokens.change { file throws(TokenFileError) in try file.rotate(record.id, grace: day, now: now) }
    #expect(try store().verify(first, now: now + 60) == .failure(.expired))
    _ = try folder.tokens.change { file throws(TokenFileError) in try file.rotate(record.id, grace: day, now: now) }
    #expect(try store().verify(first, now: now) == .failure(.invalid))
  }

  @Test("revocation while the daemon runs: refused with the next request, both secrets; the other tokens stay")
  func revocation() throws {
    let (record, old) = try create()
    let (_, other) = try create()
    let new = try folder.tokens.change { file throws(TokenFileError) in
      try file.rotate(record.id, grace: day, now: now).text
    }
    let store = try store()
    #expect(try store.verify(new, now: now).get().tokenID == record.id)
    try folder.tokens.change { file throws(TokenFileError) in try file.revoke(record.id, now: now) }
    #expect(store.verify(new, now: now) == .failure(.invalid))
    #expect(store.verify(old, now: now) == .failure(.invalid))
    #expect(try store.verify(other, now: now).get().scope == .control)
    #expect(throws: TokenFileError.revokedToken(record.id)) {
      try folder.tokens.change { file throws(TokenFileError) in try file.rotate(record.id, grace: 1, now: now) }
    }
    #expect(throws: TokenFileError.unknownToken("zzzzzzzz")) {
      try folder.tokens.change { file throws(TokenFileError) in try file.revoke("zzzzzzzz", now: now) }
    }
  }

  @Test("a name that no valid token has: the one that was asked for, or the first with a number behind it")
  func unusedName() throws {
    var file = TokenFile()
    #expect(file.unusedName(like: "phone", now: now) == "phone")
    let first = file.create(name: "phone", scope: .control, expires: nil, now: now).record
    _ = file.create(name: "phone-3", scope: .control, expires: now + day, now: now)
    #expect(file.unusedName(like: "phone", now: now) == "phone-2")
    _ = file.create(name: "phone-2", scope: .control, expires: nil, now: now)
    #expect(file.unusedName(like: "phone", now: now) == "phone-4")
    #expect(file.unusedName(like: "phone", now: now + day) == "phone-3", "expired")
    try file.revoke(first.id, now: now)
    #expect(file.unusedName(like: "phone", now: now) == "phone")
  }

  @Test("the file removed while the daemon runs: nothing is accepted; made again: it is")
  func removed() throws {
    let store = try store()
    let (_, first) = try create()
    #expect(try store.verify(first, now: now).get().scope == .control)
    try FileManager.default.removeItem(atPath: folder.tokens.path)
    #expect(store.verify(first, now: now) == .failure(.invalid))
    let (_, second) = try create(.admin)
    #expect(try store.verify(second, now: now).get().scope == .admin)
  }

  @Test(
    "a damaged file: said with the place at the start, and it opens nothing",
    arguments: [
      ("", ":1:1: "), ("{\n \"tokens\": [\n  oops\n]}", ":3:3: "), ("[]", "expected"), ("{}", "tokens"),
      (#"{"tokens":[{}]}"#, "tokens[0]."), (#"{"tokens":[]} x"#, ":1:15: "), (#"{"tokens":[],"tokens":[]}"#, ":1:"),
      (#"{"tokens":[{"id":"aaaaaaaa","name":"","scope":"king","created":1,"hash":""}]}"#, "tokens[0].scope"),
      (#"{"tokens":[{"id":"aaaaaaaa","name":"","scope":"read","created":1,"hash":""}]}"#, "tokens[0].hash"),
      (
        #"{"tokens":[{"id":"a","name":"","scope":"read","created":1,"hash":"\#(String(repeating: "a0", count: 32))"}]}"#,
        "tokens[0].id"
      ),
    ])
  func damaged(text: String, place: String) throws {
    try folder.write(text)
    let reports = Mutex<[TokenFileError]>([])
    let store = try TokenStore(
      path: folder.tokens.path, report: { error in reports.withLock { $0.append(error) } })
    let error = try #require(reports.withLock { $0 }.first)
    #expect(store.failure == error)
    #expect("\(error)".hasPrefix(folder.tokens.path + ":"))
    #expect("\(error)".contains(place), "\(error)")
    // Nor does a change overwrite what it cannot read.
    #expect(throws: TokenFileError.self) { try create() }
    #expect(try String(contentsOfFile: folder.tokens.path, encoding: .utf8) == text)
  }

  @Test("a file damaged while the daemon runs: reported once, opens nothing but the environment's token; repaired: all")
  func damagedLater() throws {
    let (_, text) = try create()
    let good = try String(contentsOfFile: folder.tokens.path, encoding: .utf8)
    let key = "a key of at least thirty-two bytes"
    let jwt = jsonWebToken(#"{"exp":1810000000,"scope":"read"}"#, key: key)
    let reports = Mutex(0)
    let store = try TokenStore(
      path: folder.tokens.path, jwtKey: key, environmentToken: "sixteen-letters-",
      report: { _ in reports.withLock { $0 += 1 } })
    #expect(try store.verify(text, now: now).get().scope == .control)
    #expect(try store.verify(jwt, now: now).get().scope == .read)
    try folder.write(String(good.dropLast(3)))
    for _ in 0..<3 {
      #expect(store.verify(text, now: now) == .failure(.invalid))
      #expect(store.verify(jwt, now: now) == .failure(.invalid))
      #expect(try store.verify("sixteen-letters-", now: now).get().scope == .admin)
    }
    #expect(reports.withLock { $0 } == 1)
    try folder.write(good)
    #expect(try store.verify(text, now: now).get().scope == .control)
    #expect(try store.verify(jwt, now: now).get().scope == .read)
  }

  @Test("the file gone while the daemon runs: JSON web tokens are refused, since it revokes some; back: accepted")
  func goneWithRevocations() throws {
    let key = "a key of at least thirty-two bytes"
    let jwt = jsonWebToken(#"{"exp":1810000000,"scope":"read","jti":"j1"}"#, key: key)
    let revoked = jsonWebToken(#"{"exp":1810000000,"scope":"read","jti":"j2"}"#, key: key)
    try folder.tokens.change { $0.revokeJWT("j2") }
    let store = try TokenStore(path: folder.tokens.path, jwtKey: key, environmentToken: "sixteen-letters-")
    #expect(try store.verify(jwt, now: now).get().scope == .read)
    try FileManager.default.moveItem(atPath: folder.tokens.path, toPath: folder.tokens.path + "-away")
    for token in [jwt, revoked] { #expect(store.verify(token, now: now) == .failure(.invalid)) }
    let failure = try #require(store.failure)
    #expect("\(failure)".hasSuffix("it is gone; `tactus token` makes another"))
    #expect(try store.verify("sixteen-letters-", now: now).get().scope == .admin)
    try FileManager.default.moveItem(atPath: folder.tokens.path + "-away", toPath: folder.tokens.path)
    #expect(try store.verify(jwt, now: now).get().scope == .read && store.failure == nil)
    #expect(store.verify(revoked, now: now) == .failure(.invalid))
  }

  @Test("no file at the start: JSON web tokens are refused while its mount is missing; mounted: by its revocations")
  func missingMount() throws {
    let key = "a key of at least thirty-two bytes"
    let jwt = jsonWebToken(#"{"exp":1810000000,"scope":"read","jti":"j1"}"#, key: key)
    let revoked = jsonWebToken(#"{"exp":1810000000,"scope":"read","jti":"j2"}"#, key: key)
    let isMissing = Mutex(true)
    let reports = Mutex(0)
    let store = try TokenStore(
      path: folder.tokens.path, jwtKey: key, environmentToken: "sixteen-letters-",
      missing: { _ in isMissing.withLock { $0 } ? "nothing is mounted" : nil },
      report: { _ in reports.withLock { $0 += 1 } })
    for token in [jwt, revoked] { #expect(store.verify(token, now: now) == .failure(.invalid)) }
    #expect(store.failure == .unreadable(path: folder.tokens.path, reason: "nothing is mounted"))
    #expect(try store.verify("sixteen-letters-", now: now).get().scope == .admin)
    #expect(reports.withLock { $0 } == 1)
    isMissing.withLock { $0 = false }
    try folder.tokens.change { $0.revokeJWT("j2") }
    #expect(try store.verify(jwt, now: now).get().scope == .read)
    #expect(store.verify(revoked, now: now) == .failure(.invalid))
  }

  @Test("mounted at the very moment at which it is found missing: its tokens are accepted at the next look")
  func mountedMeanwhile() throws {
    let (_, text) = try create()
    let path = folder.tokens.path
    try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
    let store = try TokenStore(
      path: path,
      missing: {
        rename($0 + "-away", $0)
        return "nothing is mounted"
      })
    #expect(try store.verify(text, now: now).get().scope == .control)
    #expect(store.failure == nil)
  }

  @Test("a file that others may write: refused, and chmod repairs it while the daemon runs", arguments: [0o620, 0o602])
  func exposed(mode: mode_t) throws {
    let (_, text) = try create()
    chmod(folder.tokens.path, mode)
    let exposed = try self.store()
    #expect(exposed.failure == .exposed(path: folder.tokens.path, mode: UInt16(mode)))
    #expect(exposed.verify(text, now: now) == .failure(.invalid))
    chmod(folder.tokens.path, 0o600)
    let store = try store()
    chmod(folder.tokens.path, mode)
    #expect(store.verify(text, now: now) == .failure(.invalid))
    chmod(folder.tokens.path, 0o600)
    #expect(try store.verify(text, now: now).get().scope == .control)
  }

  @Test("eight writers at once: no token is lost, no temporary file stays")
  func concurrent() throws {
    let tokens = folder.tokens
    let written = DispatchSemaphore(value: 0)
    // Threads, not tasks: there must be more of them than processors, blocked in the middle of a change.
    for writer in 0..<8 {
      Thread.detachNewThread {
        for _ in 0..<10 {
          _ = try? tokens.change { $0.create(name: "\(writer)", scope: .read, expires: nil, now: now) }
        }
        written.signal()
      }
    }
    for _ in 0..<8 { written.wait() }
    #expect(try tokens.read().tokens.count == 80)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["tokens.json", "tokens.json.lock"])
  }

  @Test("the environment's token: admin, named env; too short or not presentable: refused with the reason; empty: none")
  func environment() throws {
    let token = "0123456789abcdef"
    #expect(
      try store(environment: token).verify(token, now: now)
        == .success(TokenGrant(tokenID: "env", scope: .admin, expires: nil)))
    #expect(try store(environment: token).verify(token + "0", now: now) == .failure(.invalid))
    #expect(try store(environment: "").verify("", now: now) == .failure(.invalid))
    #expect(throws: AccessError.shortEnvironmentToken(characters: 15)) { try store(environment: "0123456789abcde") }
    #expect(throws: AccessError.oddEnvironmentToken) { try store(environment: "0123456789 abcdef") }
    let message = "\(AccessError.shortEnvironmentToken(characters: 15))"
    #expect(message.contains("16 characters") && !message.contains("0123"))
  }

  @Test("JSON web tokens: named after their subject; a key of 31 bytes is refused; a revoked jti too; no key, no token")
  func jwt() throws {
    let key = String(repeating: "k", count: 32)
    let text = jsonWebToken(#"{"exp":1810000000,"scope":"control","sub":"phone","jti":"j1"}"#, key: key)
    let store = try self.store(jwtKey: key)
    #expect(
      store.verify(text, now: now)
        == .success(TokenGrant(tokenID: "jwt:phone", scope: .control, expires: 1_810_000_000)))
    try folder.tokens.change { $0.revokeJWT("j1") }
    #expect(store.verify(text, now: now) == .failure(.invalid))
    let nameless = jsonWebToken(#"{"exp":1810000000,"scope":"read"}"#, key: key)
    #expect(try store.verify(nameless, now: now).get().tokenID == "jwt")
    #expect(try self.store().verify(nameless, now: now) == .failure(.invalid))
    #expect(throws: AccessError.shortKey(bytes: 31)) { try self.store(jwtKey: String(key.dropLast())) }
  }

  @Test(
    "where the file is: where the environment keeps state, else the package's folder when writable, else the user's; each program its own"
  )
  func place() {
    func path(_ environment: [String: String], of program: String = "tactus", writable: Bool = false) -> String {
      TokenFile.standardPath(of: program, environment: environment) { $0 == "/var/lib/\(program)" && writable }
    }
    #expect(path(["HOME": "/home/pi"], writable: true) == "/var/lib/tactus/tokens.json")
    #expect(path(["HOME": "/home/pi"], of: "fan-daemon", writable: true) == "/var/lib/fan-daemon/tokens.json")
    #expect(path(["HOME": "/home/pi"]) == "/home/pi/.local/state/tactus/tokens.json")
    #expect(path(["HOME": "/home/pi"], of: "fan-daemon") == "/home/pi/.local/state/fan-daemon/tokens.json")
    #expect(path(["HOME": "/home/pi", "XDG_STATE_HOME": "/state"]) == "/state/tactus/tokens.json")
    #expect(path(["HOME": "/home/pi", "XDG_STATE_HOME": "/state"], writable: true) == "/state/tactus/tokens.json")
    #expect(path(["HOME": "/home/pi", "XDG_STATE_HOME": "state"]) == "/home/pi/.local/state/tactus/tokens.json")
    #expect(path([:]) == "/var/lib/tactus/tokens.json")
  }
}
