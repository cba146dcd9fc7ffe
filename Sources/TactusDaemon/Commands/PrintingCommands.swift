import ArgumentParser

/// The command `tactus schema`.
struct SchemaCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "schema",
      abstract: "Prints a JSON Schema of the configuration file: an editor completes and checks the file with it.",
      discussion: """
        For VS Code with its YAML extension, or another editor with yaml-language-server:
          \(DaemonProgram.current.name) schema > tactus.schema.json
        and in the configuration file beside it, as its first line:
          # yaml-language-server: $schema=tactus.schema.json
        """)
  }

  func run() { print(ConfigSchema.text, terminator: "") }
}

/// The command `tactus dashboard`.
struct DashboardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard",
    abstract: "Prints a Grafana dashboard of this program's systems, for import.",
    discussion: "Its data comes from a Prometheus that looks at /metrics of the daemon.")

  func run() { print(Dashboard(.current).text) }
}
