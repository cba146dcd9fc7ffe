import ArgumentParser

/// The configuration file of a command: `--config FILE`, `-c FILE` or `FILE`.
struct ConfigFile: ParsableArguments {
  @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
  var config: String?

  @Argument(help: "The same, without --config.")
  var file: String?

  func validate() throws {
    if let config, let file {
      throw ValidationError("Expected one configuration file, got two: --config \(config) and \(file).")
    }
  }

  /// `nil` if none is given.
  var path: String? { config ?? file }

  /// The path of a command that needs a file.
  func required() throws -> String {
    guard let path else { throw ValidationError("Expected a configuration file: --config FILE.") }
    return path
  }
}
