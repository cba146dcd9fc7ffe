import ArgumentParser

/// The configuration file of a command, given as `--config FILE`, `-c FILE` or `FILE`.
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

  /// The path of the file, or `nil` if none is given.
  var path: String? { config ?? file }

  /// Returns the path for a command that needs a file; throws a usage error if none is given.
  func required() throws -> String {
    guard let path else { throw ValidationError("Expected a configuration file: --config FILE.") }
    return path
  }
}
