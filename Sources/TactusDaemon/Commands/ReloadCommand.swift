import ArgumentParser
import Service
import Wire

/// The command `tactus reload`.
struct ReloadCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "reload",
      abstract: "Has a running daemon take its configuration file as it is now, or says why it cannot.",
      usage: DaemonOptions.usage("reload [<host>] [<options>]"),
      discussion: """
        The daemon checks the whole file that it was started with. What may change while it runs (see check --reference) is taken by \
        every loop at the beginning of a tick, or by none; whatever else has changed is named with its place, and nothing is taken. \
        A tighter limit holds at once; a wider one when its system has been in its safe state. SIGHUP does not do this: it reopens the \
        log file.
        \(DaemonOptions.tokens) Its scope must be admin.
        Exit status: 0 taken, 1 refused or not reached, 64 bad usage.
        """)
  }

  @Argument(help: "The daemon's name, address or URL. Unless given: this machine's daemon.")
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  func validate() throws {
    try daemon.address(of: host)
  }

  func run() throws {
    let (client, token) = try daemon.client(of: host)
    defer { client.stop() }
    switch client.ask("POST", "/api/reload", limit: .seconds(20)) {
    case .success(let answer) where answer.status == 200:
      print(ReloadReport.text(answer.body))
    case .success(let answer):
      // Every error of the file has a line of its own.
      complain(answer.refusal(hasToken: token != nil))
      throw ExitCode.failure
    case .failure(let failure):
      complain(failure.sentence(of: client.address, namedBy: "HOST"))
      throw ExitCode.failure
    }
  }
}

/// Formats the answer to a reload for people.
enum ReloadReport {
  static func text(_ body: [UInt8]) -> String {
    let document = JSONValue(json: body)
    var lines = (document?["changed"]?.items ?? []).map { change in
      "\(change["key"]?.string ?? ""): \(change["from"]?.string ?? "nothing") → \(change["to"]?.string ?? "nothing")"
    }
    let waiting = (document?["waiting"]?.items ?? []).compactMap(\.string)
    if !waiting.isEmpty {
      lines.append("wider limits of \(waiting.joined(separator: ", ")) take effect after the next safe state")
    }
    lines += (document?["late"]?.items ?? []).compactMap(\.string).map { system in
      "\(system) has not taken it yet: its loop does not tick, or its disk does not answer; it takes it as soon as it can"
    }
    return lines.isEmpty ? "nothing has changed" : lines.joined(separator: "\n")
  }
}
