import ArgumentParser
import Foundation
import Service
import Tactus
import Wire

/// The command `tactus support`.
struct SupportCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "support",
      abstract:
        "Writes one file for whoever helps you: versions, states, findings, figures and the newest log, without secrets.",
      usage: DaemonOptions.usage("support [<file>] [--output <file>] [--json] [<options>]"),
      discussion: """
        A text, so that you can read it before you send it. Passwords, tokens, values from the environment and what stands behind the host \
        of an address are left out. It holds names that you have given, such as of rooms and devices, and addresses of your network.
        A daemon that does not answer is a finding, too: the file is written all the same.
        """)
  }

  @OptionGroup var file: ConfigFile

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write, which must not exist. Unless given: tactus-support.txt.", valueName: "file"))
  var output = "tactus-support.txt"

  @Flag(help: "One JSON object for programs: the file, and its bytes.")
  var json = false

  @OptionGroup var daemon: DaemonAtHost

  func run() throws {
    try NewFile.expectNone(at: output)
    let (client, token) = try daemon.client()
    defer { client.stop() }
    let program = DaemonProgram.current
    var report = SupportReport()
    report.add("\(program.name) \(program.version), \(WallClock.text)", SupportReport.machine)
    var secrets = [token].compactMap(\.self)
    var configuration: Configuration?
    if let path = file.path {
      let whole = try readWholeConfiguration(path)
      var read = whole.configuration
      configuration = read
      // A secret that cannot be read cannot be in the report; `doctor` says so.
      try? read.readSecrets()
      secrets += read.secrets
      report.add(whole.found, of: path, secrets: secrets)
    }
    let diagnoses = Doctor(machine: .current(), configuration: configuration).examine()
    report.add("doctor", diagnoses.map(\.text).joined(separator: "\n"))
    try ask(client, into: &report)
    let text = Array(report.text(secrets: secrets).utf8)
    try NewFile.write(text, to: output)
    let made: JSONValue = ["ok": true, "file": .text(output), "bytes": .integer(text.count)]
    print(json ? made.compact : "\(output): written. Read it before you send it to somebody.")
  }

  /// Adds the daemon's answers. In place of an answer that does not come, the reason is added.
  private func ask(_ client: ServiceClient, into report: inout SupportReport) throws {
    let bell = try Doorbell()
    for path in [
      "/api/health", "/api/status", "/api/runtime", "/api/notices", "/api/logs/export", "/metrics",
    ] {
      switch client.ask(path, bell, limit: .seconds(5)) {
      case .success(let answer):
        report.add("GET \(path): status \(answer.status)", String(decoding: answer.body, as: UTF8.self))
      case .failure(let failure): report.add("GET \(path)", "\(failure)")
      case nil: report.add("GET \(path)", "no answer")
      }
    }
  }
}
