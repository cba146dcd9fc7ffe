import DaemonSupport
import Foundation
import Tactus
import Testing

@testable import Service
@testable import TactusDaemon

/// A vault with cameras: every kind of key by which a system names what it needs of the machine.
private enum Vault: WithoutLoops {
  static let name = "vault"
  static let summary = "A vault."
  static let initialState = State()
  static var fields: [Field<State>] { Field("doors", \.doors, "Doors that are open.") }

  struct Camera: Settings, Equatable {
    var host: String?
    var token: Secret?
    static var keys: [Key<Camera>] {
      Key("host", \.host, as: .host, "Where it is.")
      Key("token", \.token, "Its token.")
    }
  }
  struct Wiring: Settings {
    var user: String?
    var pin: Secret?
    var log: String?
    var plan = "/usr/share/plan"
    var cameras: [Camera] = []
    static var keys: [Key<Wiring>] {
      Key("user", \.user, "Who may open it.")
      Key("pin", \.pin, "What opens it.")
      Key("log_dir", \.log, as: .folder, "Where it writes.")
      Key("plan", \.plan, as: .file, "What it reads.")
      Key("cameras", \.cameras, upTo: 3, "Its cameras.")
    }
    func check(_ report: (PartialKeyPath<Wiring>, String) -> Void) {
      if user == nil, pin != nil { report(\.pin, "expected vault.user with it, got none") }
    }
  }
  typealias Rules = NoSettings
  typealias Order = NoOrder
  typealias Refusal = NoRefusal
  typealias Notice = NoNotice
  typealias LoopRules = NoSettings
  struct State: BitwiseCopyable, Sendable { var doors = 0 }

  static func desk(_ made: DeskMaterial<Vault>) throws -> VaultDesk { VaultDesk() }
  static var routes: [SystemRoute<Vault>] { SystemRoute.own { _ in [] } }
}

private final class VaultDesk: LoneDesk {
  func told(_ notice: Told<NoNotice>) {}
  func beat(_ newest: Published<Vault.State>) {}
  func finish(_ last: Published<Vault.State>) {}
}

/// A safe whose declaration gives its secrets away, or has rules that no confinement follows.
private enum Safe: DeviceSystem, ConvertsRules {
  static let name = "safe"
  static let summary = "A safe."
  static let initialState = State()
  static let emergencyStop = Order.off
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.off
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  static var fields: [Field<State>] { Field("doors", \.doors, "Doors that are open.") }
  static var commands: [Command<Order>] { Command("close", "Closes it.") { .off } }
  typealias Refusal = NoRefusal
  typealias Notice = NoNotice
  typealias LoopRules = NoSettings
  enum Order: BitwiseCopyable, Sendable { case off }
  struct State: BitwiseCopyable, Sendable { var doors = 0 }

  struct Lock: Settings {
    var key: String?
    static var keys: [Key<Lock>] { Key("master_key", \.key, "What opens it.") }
  }
  struct Wiring: Settings {
    var password: String?
    var locks: [Lock] = []
    static var keys: [Key<Wiring>] {
      Key("password", \.password, "What opens it.")
      Key("locks", \.locks, upTo: 2, "Its locks.")
    }
  }
  struct Rules: Settings {
    var token: Secret?
    var passphrase = "sesame"
    var tune = "/usr/share/tune"
    static var keys: [Key<Rules>] {
      Key("token", \.token, "A token.")
      Key("passphrase", \.passphrase, "A word.")
      Key("tune", \.tune, as: .file, "A tune.")
    }
  }

  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> NoSettings { NoSettings() }
  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] { [] }
}

@Suite("secrets, files, folders and machines that keys name")
struct SecretTests {
  private static func reading(_ values: [String: ConfigValue], cameras: Int = 0) throws -> SystemReading {
    var found = ConfigReader.Result()
    (found.sections, found.values, found.counts) = (["vault"], values, ["vault.cameras": cameras])
    let file = try YAMLFile(text: "motors: { }", name: "m.yaml")
    let mark = ConfigReader.examine(file, environment: [:]).0.places["motors"]
    for key in values.keys { found.places[key] = mark }
    return DeclaredKind(Vault.self).reading(of: found, file: "v.yaml")
  }

  private static func vault(
    _ values: [String: ConfigValue], cameras: Int = 0
  ) throws -> ConfiguredSystem<Vault> {
    let reading = try reading(values, cameras: cameras)
    #expect(reading.errors.isEmpty)
    return try #require(reading.systems.first as? ConfiguredSystem<Vault>)
  }

  @Test("what a confined program may open and look up, and what it never shows, follows from the keys alone")
  func reach() throws {
    let vault = try Self.vault(
      [
        "vault.user": .text("ann"), "vault.pin": .text("1234-5678"), "vault.log_dir": .text("/srv/vault"),
        "vault.cameras[0].host": .text("192.168.1.7"), "vault.cameras[0].token": .text("tk-of-a-camera"),
        "vault.cameras[1].host": .text("localhost"),
      ], cameras: 2)
    #expect(vault.folders == ["/srv/vault"] && vault.files == ["/usr/share/plan"])
    #expect(vault.secrets == ["1234-5678", "tk-of-a-camera"])
    // An address and this machine's own name are not looked up.
    #expect(!vault.looksUpNames && vault.deviceGroups.isEmpty)
    #expect(try Self.vault(["vault.cameras[0].host": .text("door.local")], cameras: 1).looksUpNames)
  }

  @Test("a secret is in no text of it, and in no mirror")
  func hidden() {
    let camera = Vault.Camera(host: "a", token: Secret("tk-of-a-camera"))
    var dumped = ""
    dump(camera, to: &dumped)
    for text in ["\(camera)", "\(String(reflecting: camera))", dumped] { #expect(!text.contains("tk-of"), "\(text)") }
  }

  @Test("each secret has a key for a file that holds it, also in the items of a list")
  func table() {
    let keys = ConfigTable.keys(of: Vault.self)
    let kinds = Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0.kind) })
    #expect(kinds["vault.pin"] == .secret && kinds["vault.pin_file"] == .secretFile)
    #expect(kinds["vault.cameras[].token"] == .secret && kinds["vault.cameras[].token_file"] == .secretFile)
    #expect(kinds["vault.plan_file"] == nil)
    #expect(keys.first { $0.path == "vault.pin_file" }?.doc.contains("in place of vault.pin") == true)
  }

  @Test(
    "a secret in a file of its own: empty until it is read, then the first line; another reading is the same system")
  func files() throws {
    let folder = try TemporaryFolder()
    let (pin, token) = (folder.path("pin"), folder.path("token"))
    try Data("8765-4321\nnot this\n".utf8).write(to: URL(filePath: pin))
    try Data("tk-in-a-file".utf8).write(to: URL(filePath: token))
    let values: [String: ConfigValue] = [
      "vault.user": .text("ann"), "vault.pin_file": .text(pin), "vault.cameras[0].token_file": .text(token),
    ]
    var vault = try Self.vault(values, cameras: 2)
    #expect(vault.wiring.pin == Secret("") && vault.wiring.cameras.map(\.token) == [Secret(""), nil])
    #expect(vault.secrets.isEmpty && vault.files == ["/usr/share/plan"])
    try vault.readSecrets()
    #expect(vault.withSecrets.wiring.pin?.text == "8765-4321")
    #expect(vault.withSecrets.wiring.cameras.map { $0.token?.text } == ["tk-in-a-file", nil])
    #expect(vault.secrets == ["8765-4321", "tk-in-a-file"])
    // A reload reads no secrets.
    #expect(vault.isSame(as: try Self.vault(values, cameras: 2)))
  }

  @Test("a file that cannot be read, or has no secret: the error names the file and its key")
  func unreadable() throws {
    let folder = try TemporaryFolder()
    let (absent, empty, cut) = (folder.path("absent"), folder.path("empty"), folder.path("cut"))
    try Data("\nhunter2\n".utf8).write(to: URL(filePath: empty))
    try Data("hunter\02\n".utf8).write(to: URL(filePath: cut))
    for (path, complaint) in [
      (absent, "expected a file that can be read, got"),
      (empty, "expected a secret in the first line, got an empty line"),
      (cut, "expected text without a NUL"),
    ] {
      var vault = try Self.vault(["vault.user": .text("ann"), "vault.pin_file": .text(path)])
      let error = #expect(throws: ConfigError.self) { try vault.readSecrets() }
      #expect(error?.file == path && error?.key == "vault.pin_file" && error?.message.hasPrefix(complaint) == true)
      #expect(error.map { !"\($0)".contains("hunter") } == true)
    }
  }

  @Test("a check that blames a secret blames the key that the file gives; a secret that is given twice is an error")
  func blamed() throws {
    func errors(_ values: [String: ConfigValue], cameras: Int = 0) throws -> [String] {
      try Self.reading(values, cameras: cameras).errors.map { "\($0.key): \($0.message)" }
    }
    #expect(try errors(["vault.pin": .text("1")]) == ["vault.pin: expected vault.user with it, got none"])
    #expect(try errors(["vault.pin_file": .text("/p")]) == ["vault.pin_file: expected vault.user with it, got none"])
    let twice = ["vault.cameras[0].token": ConfigValue.text("t"), "vault.cameras[0].token_file": .text("/t")]
    #expect(
      try errors(twice, cameras: 1) == [
        "vault.cameras[0].token_file: expected one of vault.cameras[0].token and vault.cameras[0].token_file, got both"
      ])
  }

  @Test(
    "a text that reads like a secret, and rules that a confined program could not follow: errors of the declaration")
  func misdeclared() throws {
    let error = try #require(throws: Misdeclared.self) { _ = try ConfiguredSystem<Safe>() }
    #expect(
      "\(error)".split(separator: "; ").prefix(6) == [
        "password reads like a secret, which a log would show: expected the type Secret?",
        "locks[].master_key reads like a secret, which a log would show: expected the type Secret?",
        "passphrase reads like a secret, which clients would see: expected it in Wiring, with the type Secret?",
        "token is fixed when the program is confined, and rules may change: expected it in Wiring",
        "tune is fixed when the program is confined, and rules may change: expected it in Wiring",
        "no loop has the mailboxes: expected one by mailbox.loop(…) among `loops`, or WithoutLoops",
      ])
  }

  @Test(
    "the name or address of a machine",
    arguments: [
      ("door.local", true), ("192.168.1.7", true), ("fe80::1", true), ("http://door", false), ("a b", false),
      ("ü.de", false), (String(repeating: "a", count: 254), false),
    ])
  func hosts(text: String, isHost: Bool) {
    #expect((ScalarReader.value(text, as: .host) != nil) == isHost)
  }

  @Test("a key of this program whose name reads like a secret is one, or names a file")
  func ownKeys() {
    let texts = ConfigTable.keys.filter { [.text, .textOrNothing, .texts].contains($0.kind) }
    #expect(texts.map(\.path).filter { SecretNames.isSecret($0.utf8) }.isEmpty)
    #expect(texts.map(\.path).filter { $0.hasSuffix("_file") } == ["service.token_file"])
  }

  @Test("a reload that is refused and a report show no secret, whatever the rest of the file says; they show paths")
  func shown() throws {
    func taken(_ key: String, _ secret: String) throws -> TakenFile {
      let text = """
        motors: { }
        mqtt: { broker: b.example.org, user: u, password: \(secret), tls: true, tls_certificate: /c.pem, tls_key: \(key) }
        service: { jwt_key: \(secret)-of-at-least-32-bytes-of-text }
        """
      let (configuration, found) = try Configuration.readWhole(YAMLFile(text: text, name: "c.yaml"), environment: [:])
      return TakenFile(configuration: configuration, found: found)
    }
    let refused = try taken("/a.pem", "hunter2").refusals(of: taken("/b.pem", "hunter3")) { _ in false }
    let hidden = "expected a (hidden) value until the next start, got a (hidden) value"
    #expect(
      refused.map { "\($0.key): \($0.message)" } == [
        "mqtt.password: \(hidden)", "mqtt.tls_key: expected /a.pem until the next start, got /b.pem",
        "service.jwt_key: \(hidden)",
      ])
    func reported(_ key: String) -> String { SupportReport.shown(.text("/hunter2"), of: key, secrets: []) }
    #expect(reported("mqtt.password") == "[scrubbed]" && reported("notify.receivers[3].token") == "[scrubbed]")
    #expect(reported("service.tls_key") == "/hunter2" && reported("mqtt.password_file") == "/hunter2")
  }

  @Test(
    "the first line of a file: without a byte order mark, whatever ends it; what is cut or changed on the way is refused",
    arguments: [
      ("abc\r\nrest", "abc"), ("\u{FEFF}abc\nrest", "abc"), ("a b\u{0C}c", "a b\u{0C}c"), ("abc", "abc"),
      (String(repeating: "a", count: 1_001), nil), ("\n", nil), ("", nil),
    ])
  func firstLine(text: String, secret: String?) throws {
    let folder = try TemporaryFolder()
    try Data(text.utf8).write(to: URL(filePath: folder.path("secret")))
    #expect((try? SecretFile(key: "a.pin_file", path: folder.path("secret")).read()) == secret)
  }

  @Test("bytes that are not UTF-8 are no secret, and a path from the environment is in no error")
  func paths() throws {
    let folder = try TemporaryFolder()
    try Data([0x61, 0xE9, 0x0A]).write(to: URL(filePath: folder.path("latin")))
    let latin = #expect(throws: ConfigError.self) {
      try SecretFile(key: "a.pin_file", path: folder.path("latin")).read()
    }
    #expect(latin?.message == "expected text in UTF-8, got other bytes")
    let text = "motors: { }\nmqtt: { broker: b.example.org, user: u, password_file: '${HIDDEN}' }"
    var configuration = try Configuration.read(
      YAMLFile(text: text, name: "c.yaml"), environment: ["HIDDEN": "hunter2"])
    let error = #expect(throws: ConfigError.self) { try configuration.readSecrets() }
    #expect(error.map { "\($0)" }?.hasPrefix("a (hidden) path: mqtt.password_file: expected a file") == true)
  }

  @Test(
    "where a key and its secret are one word, or in a list, the error shows neither",
    arguments: [
      ("mqtt:\n  password:hunter2\n", "mqtt: expected a mapping of keys, got a text"),
      ("mqtt: [password, hunter2]\n", "mqtt: expected a mapping of keys, got a list"),
      ("mqtt: {password:hunter2}\n", "mqtt.password:…: expected a known key"),
      ("notify: {receivers: [hunter2]}\n", "notify.receivers[0]: expected a mapping of keys, got a text"),
      ("mqtt:\n  ? [hunter2]\n  : a\n", "mqtt: expected a key, got a list"),
    ])
  func misplaced(text: String, expected: String) throws {
    let errors = ConfigReader.examine(try YAMLFile(text: text, name: "c.yaml"), environment: [:]).1.map { "\($0)" }
    #expect(errors.contains { $0.contains(expected) }, "\(errors)")
    #expect(!errors.contains { $0.contains("hunter2") }, "\(errors)")
  }
}
