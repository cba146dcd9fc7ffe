import ArgumentParser

/// The command `tactus doctor`.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Says whether this machine is ready for real time, and for a file, and if not, why and what fixes it.",
    discussion: """
      Exit status 1 when something would prevent real-time operation, or a system of the file from working (FAIL); warnings \
      do not count. With a configuration file it looks for what that needs, too.
      """)

  @OptionGroup var file: ConfigFile

  @Option(
    help: ArgumentHelp(
      "Look at the files below a folder, such as a card's, and not at this machine.", valueName: "folder"))
  var root: String?

  @Flag(help: "Print one JSON object instead.")
  var json = false

  func run() throws {
    let config = file.path
    let configuration = try config.map { try readConfiguration($0) }
    var diagnoses = Doctor(machine: root.map(Machine.at) ?? .current(), configuration: configuration).examine()
    // This check is the last, since this process may become that account.
    if root == nil, let configuration { diagnoses += Doctor.account(of: configuration) }
    let failures = diagnoses.filter { $0.status == .fail }
    if json {
      var line = JSONLine()
      line.add("ready", raw: String(failures.isEmpty))
      line.add("checks", raw: "[" + diagnoses.map(\.json).joined(separator: ",") + "]")
      print(line.text)
    } else {
      for diagnosis in diagnoses { print(diagnosis.text) }
      print("")
      let verdict =
        failures.isEmpty
        ? "ready for real time" + (config.map { ", and for \($0)" } ?? "")
        : "not ready: " + failures.map(\.name).joined(separator: ", ")
      print(JSONLine.inOneLine(verdict))
    }
    if !failures.isEmpty { throw ExitCode.failure }
  }
}
