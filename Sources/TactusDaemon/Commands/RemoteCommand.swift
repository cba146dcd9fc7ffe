import ArgumentParser
import Service
import Wire

/// The command `tactus remote`.
struct RemoteCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let remote = "\(DaemonProgram.current.name) remote"
    return CommandConfiguration(
      commandName: "remote",
      abstract: "Looks after a daemon elsewhere: its state, its log, its log level and what may change while it runs.",
      discussion: """
        Examples:
          \(remote) status NAME.local
          \(remote) logs NAME.local -f --level warning
          \(remote) level debug --host NAME.local
          \(remote) get --host NAME.local
          \(remote) set KEY VALUE --host NAME.local
        \(DaemonOptions.tokens) get and set need one of scope admin.
        Commands of systems: call. The file as it is now: reload. All that is kept: backup.
        """,
      subcommands: [
        StatusCommand.self, LogsCommand.self, LevelCommand.self, GetSettingCommand.self, SetSettingCommand.self,
      ])
  }
}

/// The command `tactus remote level`.
struct LevelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "level",
    abstract: "Shows the log level of a daemon, or changes it until the next reload that changes it, or start.")

  @OptionGroup var daemon: DaemonAtHost

  @Argument(
    help: "trace, debug, info, notice, warning, error or critical, in any case.",
    completion: .list(LevelWord.allValueStrings))
  var level: String?

  func run() throws {
    // The daemon itself refuses a word that is no level.
    let body = level.map { word in
      JSONValue.object(["level": .text(LevelWord(argument: word)?.level.rawValue ?? word)]).bytes
    }
    let answer = try daemon.answer(level == nil ? "GET" : "PUT", "/api/log-level", body: body)
    print(answer["level"]?.string ?? "unknown")
  }
}

/// The command `tactus remote get`.
struct GetSettingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Shows the keys that may change while a daemon runs, with value, range and sentence.",
    discussion: "With a KEY only that one, or those of its section or list. Exit status 1 if there is none.")

  @OptionGroup var daemon: DaemonAtHost

  @Flag(help: "One JSON object a line.")
  var json = false

  @Argument(
    help: "A key, a section or an item of a list: logging.level, logging, notify.rules[0].",
    completion: CallCompletion.keys)
  var key: String?

  func run() throws {
    let all = try daemon.answer("GET", "/api/settings")["settings"]?.items ?? []
    let found = SettingReport.chosen(all, key)
    guard !found.isEmpty else {
      complain(SettingReport.nothing(key ?? "", among: all.compactMap { $0["key"]?.string }))
      throw ExitCode.failure
    }
    print(
      found.map { json ? String(decoding: $0.bytes, as: UTF8.self) : SettingReport.text($0) }
        .joined(separator: json ? "\n" : "\n\n"))
  }
}

/// The command `tactus remote set`.
struct SetSettingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes a key that may change while a daemon runs, until the next reload or start.",
    discussion: """
      The daemon checks the whole file with the new value, as a reload does, and says what would change; then it is asked \
      whether to do it. The file stays as it is: a reload or a start puts its value back, so put what is to stay into the file.
      Without a terminal nothing is changed unless --yes is given.
      Exit status: 0 done, or nothing to do; 1 refused, not agreed to, or not reached.
      """)

  @OptionGroup var daemon: DaemonAtHost

  @Flag(help: "Change it without asking.")
  var yes = false

  @Argument(help: "The key, as get shows it: logging.level.", completion: CallCompletion.keys)
  var key: String

  @Argument(help: "The value: a number, true or false, or a word of a choice; behind -- if it begins with a minus.")
  var value: String

  func run() throws {
    func ask(preview: Bool) throws -> JSONValue {
      let body: JSONValue = .object(["key": .text(key), "value": .text(value), "preview": .boolean(preview)])
      return try daemon.answer("PUT", "/api/settings", body: body.bytes)
    }
    let preview = try ask(preview: true)
    print(ReloadReport.text(preview.bytes))
    guard preview["changed"]?.items.isEmpty == false else { return }
    guard yes || isAgreed("Change this until the next reload or start?", to: "change") else {
      complain("nothing was changed")
      throw ExitCode.failure
    }
    let done = try ask(preview: false)
    if !yes || done["waiting"]?.items.isEmpty == false || done["late"]?.items.isEmpty == false {
      print(ReloadReport.text(done.bytes))
    }
  }
}

extension DaemonAtHost {
  /// Returns the document with which the daemon answers a request. Prints an error and throws the exit status 1 if there is no answer.
  public func answer(_ method: String, _ path: String, body: [UInt8]? = nil) throws -> JSONValue {
    let (client, token) = try client()
    defer { client.stop() }
    switch client.ask(method, path, body: body, limit: .seconds(20)) {
    case .success(let answer) where answer.status == 200:
      if let document = JSONValue(json: answer.body) { return document }
      complain("what answers at \(client.address) is not \(DaemonProgram.current.name)")
    case .success(let answer): complain(answer.refusal(hasToken: token != nil))
    case .failure(let failure): complain(failure.sentence(of: client.address))
    }
    throw ExitCode.failure
  }
}

/// Formats settings of `GET /api/settings` for people.
enum SettingReport {
  /// Returns the settings with a key, or of a section or list, or all for `nil`.
  static func chosen(_ all: [JSONValue], _ key: String?) -> [JSONValue] {
    guard let key else { return all }
    return all.filter { setting in
      let name = setting["key"]?.string ?? ""
      return name == key || name.hasPrefix(key + ".") || name.hasPrefix(key + "[")
    }
  }

  /// Returns the error message for a key that is not among the settings.
  static func nothing(_ key: String, among keys: [String]) -> String {
    let nearest = nearestName(to: key, among: keys).map { ", such as \($0)" } ?? ""
    return "expected a key that may change while the daemon runs\(nearest), got '\(key)'"
  }

  /// Returns the lines of one setting.
  static func text(_ setting: JSONValue) -> String {
    func word(_ name: String) -> String? { setting[name]?.string }
    let origin =
      setting["isSet"] == .boolean(true)
      ? " (set until the next reload or start)" : setting["isGiven"] == .boolean(true) ? "" : " (unless set)"
    let lines = [
      "\(word("key") ?? ""): \(word("value") ?? "nothing")\(origin)",
      "  \(word("expected") ?? "")" + (word("standard").map { "; unless set: \($0)" } ?? ""),
      "  \(word("meaning") ?? "")",
    ]
    // Texts of the daemon may contain control characters of a terminal.
    return TopScreen.text(lines.map { TopScreen.Line(text: $0) })
  }
}
