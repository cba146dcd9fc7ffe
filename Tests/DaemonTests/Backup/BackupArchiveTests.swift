import DaemonSupport
import Foundation
import Service
import Store
import TestSupport
import Testing
import Yams

@testable import TactusDaemon

@Suite("a whole backup", .ownThread)
struct BackupArchiveTests {
  private static let configuration = """
    # Anna's boat
    motors: {backend: sim}
    service: {jwt_key: "jwt-0123456789-0123456789-0123456789"}  # old
    mqtt:
      broker: broker.example.org
      user: pi
      password: pw  # mine
      tls: true
      tls_ca: /etc/ca.pem
    plants: {}
    notify:
      receivers:
        - {name: phone, kind: ntfy, url: 'http://127.0.0.1/path-secret-1', token: tk_secret}
        - {name: office, kind: mail, server: 127.0.0.1, user: pi, password_file: /etc/mail, tls: off, from: a@b.org, to: [a@b.org]}
        - {name: chat, kind: webhook, url: 'http://hooks.example.org/${HOOK}'}

    """

  private func made(_ tokens: [UInt8]? = Array("{\"tokens\": []}".utf8)) throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let copy = try ConfigurationCopy(of: try folder.write("motors: {backend: sim}\n", to: "c.yaml"), environment: [:])
    return BackupArchive.make(configuration: copy, tokens: tokens, store: [1, 2, 3], parts: [])
  }

  private func failure(_ bytes: [UInt8]) -> String? {
    do throws(TarArchive.Failure) {
      _ = try BackupArchive(bytes)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("the configuration file: no secret is in it, all else is as it was; what is not in it is listed")
  func secrets() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(Self.configuration, to: "c.yaml")
    let copy = try ConfigurationCopy(of: path, environment: [:])
    let expected = Self.configuration
      .replacing("\"jwt-0123456789-0123456789-0123456789\"", with: "'${SERVICE_JWT_KEY}'")
      .replacing("# old", with: "# (left out of the backup: jwt_key)")
      .replacing("password: pw  # mine", with: "password: '${MQTT_PASSWORD}'  # (left out of the backup: password)")
      .replacing("'http://127.0.0.1/path-secret-1'", with: "'${NOTIFY_RECEIVERS_0_URL}'")
      .replacing("tk_secret", with: "'${NOTIFY_RECEIVERS_0_TOKEN}'")
    #expect(copy.text == expected)
    #expect(
      copy.notInBackup == [
        "mqtt.password: a secret in the file; ${MQTT_PASSWORD} stands in its place",
        "notify.receivers[0].token: a secret in the file; ${NOTIFY_RECEIVERS_0_TOKEN} stands in its place",
        "notify.receivers[0].url: a secret in the file; ${NOTIFY_RECEIVERS_0_URL} stands in its place",
        "service.jwt_key: a secret in the file; ${SERVICE_JWT_KEY} stands in its place",
        "notify.receivers[2].url: from the environment",
        "mqtt.tls_ca: the file /etc/ca.pem", "notify.receivers[1].password_file: the file /etc/mail",
        "line 3 of the file: a comment that may hold a value of jwt_key",
        "line 7 of the file: a comment that may hold a value of password",
      ])
    // What was taken out is what its restore asks for.
    let lacking = try Configuration.readText(copy.text, of: path, environment: [:]).lacking.compactMap(\.variable)
    #expect(
      Set(lacking)
        == ["MQTT_PASSWORD", "NOTIFY_RECEIVERS_0_TOKEN", "NOTIFY_RECEIVERS_0_URL", "SERVICE_JWT_KEY", "HOOK"])
  }

  @Test("a comment that gives a secret key a value: left out and listed; any other comment, and a # in a value, stay")
  func comments() throws {
    let kept = """
      # token: ${TOKEN}, password:
      # The key: 3 of the tokens; curl: http://a
      motors: {backend: sim}  # tls_key: /etc/key.pem
      mqtt:
        broker: broker.example.org
        user: "a # token: b"

      """
    let folder = try TemporaryFolder()
    func copy(_ text: String) throws -> ConfigurationCopy {
      try ConfigurationCopy(of: try folder.write(text, to: "c.yaml"), environment: [:])
    }
    let plain = try copy(kept)
    #expect(plain.text == kept && plain.notInBackup.isEmpty)
    let secrets = """
      #token: abc
      #  - {name: phone, kind: ntfy, url: 'http://a/b'}
        # the old_Password = abc # and more

      """
    let notes = """
      # (left out of the backup: token)
      # (left out of the backup: url)
        # (left out of the backup: old_Password)

      """
    let lines = [
      "line 1 of the file: a comment that may hold a value of token",
      "line 2 of the file: a comment that may hold a value of url",
      "line 3 of the file: a comment that may hold a value of old_Password",
    ]
    let small = "motors: {backend: sim}  # jwt_key: abc\r\n"
    let made = try copy(secrets + small)
    #expect(made.text == notes + "motors: {backend: sim}  # (left out of the backup: jwt_key)\r\n")
    #expect(made.notInBackup == lines + ["line 4 of the file: a comment that may hold a value of jwt_key"])
    // A value on the lines that follow, and one without a blank before the #.
    let harder = try copy(
      """
      # password: |
      #   abc
      # of the broker
      # token:
      #     def
      mqtt: {broker: "a"}# api_key: ghi

      """)
    for secret in ["abc", "def", "ghi"] { #expect(!harder.text.contains(secret), "\(harder.text)") }
    #expect(harder.text.contains("# of the broker") && harder.notInBackup.filter { $0.hasPrefix("line ") }.count == 5)
    // The same beside what is in values, behind one on its line, too; and a copy of the copy is the same.
    let mixed = try copy(secrets + kept.replacing("b\"", with: "b\"  # Token: c"))
    #expect(mixed.text == notes + kept.replacing("b\"", with: "b\"  # (left out of the backup: Token)"))
    #expect(mixed.notInBackup == lines + ["line 9 of the file: a comment that may hold a value of Token"])
    let again = try copy(mixed.text)
    #expect(again.text == mixed.text && again.notInBackup.isEmpty)
  }

  @Test("a comment beside a secret, or between it and its key: left out and listed; beside another value it stays")
  func besideSecrets() throws {
    let folder = try TemporaryFolder()
    func copy(_ text: String) throws -> ConfigurationCopy {
      try ConfigurationCopy(of: try folder.write(text, to: "c.yaml"), environment: [:])
    }
    let made = try copy(
      """
      mqtt:
        broker: broker.example.org  # the boat's
        user: pi # was ben
        password: "a # b" # was abc
      service: {jwt_key:
        # was def
          jwt-0123456789-0123456789-0123456789, bonjour: false} # ghi, token: jkl
      motors: {backend: sim}  # password: ${NEW} # was mno

      """)
    let text = """
      mqtt:
        broker: broker.example.org  # the boat's
        user: pi # was ben
        password: '${MQTT_PASSWORD}' # (left out of the backup: password)
      service: {jwt_key:
        # (left out of the backup: jwt_key)
          '${SERVICE_JWT_KEY}', bonjour: false} # (left out of the backup: token)
      motors: {backend: sim}  # (left out of the backup: password)

      """
    #expect(made.text == text)
    #expect(
      made.notInBackup.filter { $0.hasPrefix("line ") } == [
        "line 4 of the file: a comment that may hold a value of password",
        "line 6 of the file: a comment that may hold a value of jwt_key",
        "line 7 of the file: a comment that may hold a value of token",
        "line 8 of the file: a comment that may hold a value of password",
      ])
    // A copy of the copy is the same, and so is one with the line ends of another system.
    let again = try copy(text)
    #expect(again.text == text && again.notInBackup.allSatisfy { !$0.hasPrefix("line ") })
    let other = try SecretComments(leftOutOf: "a: b\r\npassword: c # d\r\n# token:\r\n#   e\r\nf: g # h\r\n")
    let notes = ["password", "token", "token"].map { "# (left out of the backup: \($0))" }
    #expect(other.text == "a: b\r\npassword: c \(notes[0])\r\n\(notes[1])\r\n\(notes[2])\r\nf: g # h\r\n")
    #expect(other.leftOut.map { $0.prefix(6) } == ["line 2", "line 3", "line 4"])
  }

  @Test("any number of comments, beside values that read like them: three parses; a mark may be in the text already")
  func parses() throws {
    let text = (0..<5_000).map { "k\($0): 'a # token: b'  # token: c\n" }.joined(separator: "")
    var parses = 0
    let comments = try SecretComments(leftOutOf: text) { yaml in
      parses += 1
      return try Yams.compose(yaml: yaml, .basic)
    }
    #expect(parses == 3)
    #expect(comments.text == text.replacing("# token: c", with: "# (left out of the backup: token)"))
    #expect(comments.leftOut.count == 5_000)
    let marks = "a: \"\\uE000 # token: b\"\nb: |\n  # token: \u{E001}1\u{E001}\n# token: \u{E000}0\u{E000}\n"
    let left = try SecretComments(leftOutOf: marks)
    #expect(left.text == marks.replacing("# token: \u{E000}0\u{E000}", with: "# (left out of the backup: token)"))
    #expect(left.leftOut == ["line 4 of the file: a comment that may hold a value of token"])
    #expect(throws: SecretComments.Failure.self) { _ = try SecretComments(leftOutOf: "a: [ # token: b") }
  }

  @Test("a secret that cannot be taken out, and a file with an error: refused by their lines")
  func refused() throws {
    let folder = try TemporaryFolder()
    func refusal(_ text: String) throws -> String {
      let path = try folder.write(text, to: "c.yaml")
      let errors = #expect(throws: ConfigErrors.self) { _ = try ConfigurationCopy(of: path, environment: [:]) }
      return "\(try #require(errors))".replacing(path, with: "c.yaml")
    }
    #expect(
      try refusal("motors: {backend: sim}\nmqtt:\n  broker: a\n  user: pi\n  password: >-\n    p\n    w\n")
        == "c.yaml:5: mqtt.password: expected a secret on one line, which a backup can leave out, or one in a file of its own "
        + "or of the environment, got another")
    // Elsewhere would be another store.
    #expect(
      try refusal("plants: {}\nstore: {folder: '${NOWHERE}'}\n")
        == "c.yaml:2:17: store.folder: expected the environment variable NOWHERE, got none of that name")
    #expect(try refusal("nonsense: 1\n").hasPrefix("c.yaml:1:1: nonsense: expected a known key"))
  }

  @Test("read again: all that was put in; tokens and a store need not be there")
  func whole() throws {
    let archive = try BackupArchive(try made())
    #expect(archive.configuration == "motors: {backend: sim}\n" && archive.store == [1, 2, 3])
    #expect(archive.tokens == Array("{\"tokens\": []}".utf8) && archive.manifest.program == DaemonProgram.current.name)
    #expect(archive.manifest.entries.map(\.name) == ["configuration.yaml", "tokens.json", "store.sqlite"])
    #expect(try BackupArchive(try made(nil)).tokens == nil)
    #expect(try BackupArchive.store(in: try made()) == [1, 2, 3])
    // What is no archive is a store's file, or is refused as one.
    #expect(try BackupArchive.store(in: [4, 5]) == [4, 5])
  }

  @Test("an entry that was changed, left out or added, another format or program: refused by its name")
  func checked() throws {
    let entries = try TarArchive.decode(try made())
    func change(_ index: Int, _ change: (inout TarArchive.Entry) -> Void) -> String? {
      var changed = entries
      change(&changed[index])
      return failure(TarArchive.encode(changed, at: 0))
    }
    #expect(change(3) { $0.bytes[1] = 9 }?.hasPrefix("store.sqlite: expected 3 bytes with the SHA-256 03905") == true)
    #expect(change(3) { $0.bytes.append(0) }?.contains(", got 4 with ") == true)
    #expect(
      change(2) { $0.name = "other" }
        == "expected the entries configuration.yaml, tokens.json, store.sqlite, got configuration.yaml, other, store.sqlite"
    )
    #expect(
      failure(TarArchive.encode(Array(entries.dropFirst()), at: 0))
        == "manifest.json: expected it as the first entry, got configuration.yaml")
    func manifest(_ text: String, with other: String) -> String? {
      change(0) { first in
        first.bytes = Array(String(decoding: first.bytes, as: UTF8.self).replacing(text, with: other).utf8)
      }
    }
    #expect(
      manifest("\"format\":1", with: "\"format\":2")
        == "manifest.json: expected the format 1, got 2, which another version writes")
    #expect(
      manifest("\"program\":\"tactus\"", with: "\"program\":\"fan\"")
        == "manifest.json: expected a backup of tactus, got one of fan")
    #expect(
      manifest("\"format\":1", with: "")
        == "manifest.json: expected JSON with the number of the format, got something else")
  }

  @Test("a restore to a folder that is not there: the folder is named, and nothing is made")
  func noFolder() throws {
    let folder = try TemporaryFolder()
    let backup = folder.path("b.tar")
    try Data(made()).write(to: URL(filePath: backup))
    let file = folder.path("none/tactus.yaml")
    let state = folder.path("state")
    let process = try TactusProcess(["restore", backup, "-c", file], environment: ["XDG_STATE_HOME": state])
    #expect(process.finish() == 1)
    let words = "\(file): cannot be written: \(folder.path("none")): No such file or directory; nothing was changed"
    #expect(process.said.contains(words), "\(process.said)")
    #expect(!FileManager.default.fileExists(atPath: state))
    #expect(WholeFile.obstacle(to: folder.path("tactus.yaml")) == nil)
    #expect(WholeFile.obstacle(to: backup + "/tactus.yaml") == "\(backup): Not a directory")
  }
}
