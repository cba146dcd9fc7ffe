import ArgumentParser
import Service
import WallTime

/// The command `tactus check FILE` or `tactus check --config FILE`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks a configuration file and says what it would run.",
    discussion: """
      Every error of the file is reported, as file:line:column: key: expected …, got …, and the exit status is 78 then. What \
      two keys of a section say together is looked at when each of its keys is right.
      """)

  @OptionGroup var file: ConfigFile

  @Flag(help: "Print every known key with its default instead: a complete, commented file.")
  var reference = false

  func validate() throws {
    if reference == (file.path != nil) { throw ValidationError("Give either a FILE to check or --reference.") }
  }

  func run() throws {
    guard let file = file.path else {
      print(ConfigReference.text, terminator: "")
      return
    }
    var configuration = try readConfiguration(file)
    do throws(ConfigError) {
      try configuration.readSecrets()
      _ = try configuration.service?.clients.read()
    } catch {
      complain("\(error)")
      throw ExitCode.badConfig
    }
    let zone = try machineZone()
    say("\(file): ok")
    for line in configuration.summary { say("  " + line) }
    if let store = configuration.storePath(simulate: false, environment: processEnvironment()) {
      say("  store: \(store)")
      if let sharing = configuration.sharing(of: store) { say("  store: \(sharing)") }
    }
    say("  time zone: \(zone.summary(at: .now))")
    if let remark = zone.remark { say("  time zone: \(remark)") }
  }

  /// Prints one line. No value of the file makes two of it, or reaches the terminal as a control character.
  private func say(_ line: String) { print(JSONLine.inOneLine(line)) }
}
