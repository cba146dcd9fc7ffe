import ArgumentParser

/// The command `tactus dashboard`.
struct DashboardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard",
    abstract: "Prints a Grafana dashboard of this program's systems, for import.",
    discussion: "Its data comes from a Prometheus that looks at /metrics of the daemon.")

  func run() { print(Dashboard(.current).text) }
}
