import ArgumentParser
import Foundation
import Logging
import Service
import Tactus
import Wire

/// The command `tactus logs`.
struct LogsCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "logs",
      abstract: "Shows the newest log lines of a daemon, here or elsewhere; with -f those that come, too.",
      usage: DaemonOptions.usage(
        "logs [<host>] [-f] [-n <lines>] [--since <time>] [--level <level>] [--system <system>] [--json] [<options>]"),
      discussion: """
        The daemon keeps the newest lines in memory; on its own machine journalctl -u tactus has the older ones, too. \
        \(DaemonOptions.tokens)
        """)
  }

  @Argument(help: "The daemon's name, address or URL. Unless given: this machine's daemon.")
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  @Flag(name: [.short, .long], help: "Go on with the lines that come, also of a daemon that starts anew.")
  var follow = false

  @Option(
    name: [.customShort("n", allowingJoined: true), .long, .customLong("tail")],
    help: "How many lines, 1…1000. Unless given: 50, and with --since all that are kept.")
  var lines: Int?

  @Option(help: ArgumentHelp("Only lines of this time until now: 10m, 2h, 1d.", valueName: "time"))
  var since: LongTimeSpan?

  @Option(
    name: [.customShort("p"), .long], help: "This level and above, in any case; warn and err are levels, too.",
    completion: .list(LevelWord.allValueStrings))
  var level: LevelWord?

  @Option(help: "Lines of this system only.", completion: CallCompletion.systems)
  var system: String?

  @Flag(help: "One JSON object a line.")
  var json = false

  func validate() throws {
    try daemon.address(of: host)
    if let lines, !(1...1000).contains(lines) { throw ValidationError("Expected 1…1000 lines, got \(lines).") }
    guard system?.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }) ?? true
    else {
      throw ValidationError("Expected a system's name for --system, got \(system ?? "").")
    }
  }

  private struct Page {
    var lines: [[String: Any]]
    var next: Int64
    var dropped: Int64

    init?(_ body: [UInt8]) {
      guard let page = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
        let lines = page["lines"] as? [[String: Any]], let next = page["next"] as? Int64, next >= 0
      else { return nil }
      (self.lines, self.next, dropped) = (lines, next, page["dropped"] as? Int64 ?? 0)
    }
  }

  func run() throws {
    let (client, token) = try daemon.client(of: host)
    let address = client.address
    defer { client.stop() }
    let bell = try Doorbell()
    var (since, isLost): (Int64?, Bool) = (nil, false)
    let filters = [level.map { "&level=\($0.level.rawValue)" }, system.map { "&system=\($0)" }].compactMap(\.self)
      .joined()
    let begin = self.since.map { Int(clamping: WallClock.microseconds / 1_000_000 - $0.seconds) } ?? .min
    while true {
      let limit = since == nil ? lines ?? (self.since == nil ? 50 : 1000) : 1000
      let path = "/api/logs?limit=\(limit)\(filters)\(since.map { "&since=\($0)" } ?? "")"
      switch client.ask(path, bell, limit: .seconds(5)) {
      case .success(let answer) where answer.status == 200:
        guard let page = Page(answer.body) else {
          complain("what answers at \(address) is not \(DaemonProgram.current.name)")
          throw ExitCode.failure
        }
        if isLost { complain("\(address) answers again") }
        isLost = false
        // A restarted daemon counts from 0.
        if let asked = since, page.next < asked {
          since = 0
          continue
        }
        if since != nil, page.dropped > 0 { complain("\(page.dropped) lines were too old to be kept") }
        if since == nil, page.lines.isEmpty { try checkSystem(client, bell) }
        for line in page.lines where LogTime(line["ts"] as? String ?? "").seconds >= begin { print(text(line)) }
        fflush(nil)
        since = page.next
        if page.lines.count == 1000, limit == 1000 { continue }
      case .success(let answer):
        complain("\(address): \(answer.refusal(hasToken: token != nil))")
        throw ExitCode.failure
      case .failure(let failure) where follow && since != nil:
        if !isLost { complain("\(address): \(failure); trying again") }
        isLost = true
      case .failure(let failure):
        complain(failure.sentence(of: address, namedBy: "HOST"))
        throw ExitCode.failure
      case nil: break
      }
      if !follow { return }
      // The bell is never rung; its timeout is the pause.
      bell.wait(limit: .seconds(1))
    }
  }

  /// Checks that the daemon has a system of the given name or has logged a line of it. Otherwise prints the names of
  /// the systems and throws the exit status of bad usage.
  private func checkSystem(_ client: ServiceClient, _ bell: borrowing Doorbell) throws {
    guard let system,
      case .success(let health)? = client.ask("/api/health", bell, limit: .seconds(5)),
      case .success(let logs)? = client.ask("/api/logs?limit=1000", bell, limit: .seconds(5)),
      let states = JSONValue(json: health.body)?["systems"]?.members, let page = Page(logs.body)
    else { return }
    let names = Set(states.map(\.name)).union(page.lines.compactMap { ($0["system"] ?? $0["label"]) as? String })
      .sorted()
    guard !names.contains(system) else { return }
    let near = nearestName(to: system, among: names).map { " (\($0)?)" } ?? ""
    complain("expected a system, one of \(names.joined(separator: ", "))\(near), got \(system)")
    throw ExitCode(64)
  }

  private func text(_ line: [String: Any]) -> String {
    if json {
      let data = try? JSONSerialization.data(withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
      return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
    let known: Set = ["seq", "ts", "level", "label", "message", "msg"]
    let metadata = line.filter { !known.contains($0.key) }.mapValues { Logger.MetadataValue.string("\($0)") }
    let text = LogFormat.text.line(
      level: (line["level"] as? String).flatMap { Logger.Level(rawValue: $0) } ?? .info,
      label: line["label"] as? String ?? DaemonProgram.current.name,
      message: (line["message"] ?? line["msg"]) as? String ?? "",
      metadata: metadata, timestamp: line["ts"] as? String ?? "")
    return TopScreen.text([TopScreen.Line(text: text)])
  }
}

/// A log level on the command line, in any case, and as syslog and other programs call it: `warn`, `err`, `crit`.
struct LevelWord: ExpressibleByArgument {
  /// The level for which the word stands.
  let level: Logger.Level

  private static let others = [
    "warn": "warning", "err": "error", "crit": "critical", "fatal": "critical", "alert": "critical",
    "emerg": "critical",
  ]

  init?(argument: String) {
    let word = argument.lowercased()
    guard let level = Logger.Level(rawValue: Self.others[word] ?? word) else { return nil }
    self.level = level
  }

  /// The levels' own names, for help and completion.
  static var allValueStrings: [String] { Logger.Level.allCases.map(\.rawValue) }
}
