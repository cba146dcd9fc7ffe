import ArgumentParser
import Foundation
import Logging
import Service
import Tactus

/// The command `tactus logs`.
struct LogsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logs",
    abstract: "Shows the newest log lines of a daemon, here or elsewhere; with -f those that come, too.",
    discussion: """
      The daemon keeps the newest lines in memory; on its own machine journalctl -u tactus has the older ones, too. \
      \(DaemonOptions.tokens)
      """)

  @Argument(help: "The daemon's name, address or URL. Unless given: this machine's daemon.")
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  @Flag(name: [.short, .long], help: "Go on with the lines that come, also of a daemon that starts anew.")
  var follow = false

  @Option(name: [.customShort("n"), .long], help: "How many lines, 1…1000.")
  var lines = 50

  @Option(help: "This level and above: trace, debug, info, notice, warning, error, critical.")
  var level: String?

  @Option(help: "Lines of this system only.")
  var system: String?

  @Flag(help: "One JSON object a line.")
  var json = false

  func validate() throws {
    try daemon.address(of: host)
    guard (1...1000).contains(lines) else { throw ValidationError("Expected 1…1000 lines, got \(lines).") }
    if let level, Logger.Level(rawValue: level) == nil {
      let words = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("Expected a level, one of \(words), got \(level).")
    }
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
    let filters = [level.map { "&level=\($0)" }, system.map { "&system=\($0)" }].compactMap(\.self).joined()
    while true {
      let limit = since == nil ? lines : 1000
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
        for line in page.lines { print(text(line)) }
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
        complain("\(address): \(failure)")
        throw ExitCode.failure
      case nil: break
      }
      if !follow { return }
      // The bell is never rung; its timeout is the pause.
      bell.wait(limit: .seconds(1))
    }
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
