import ArgumentParser
import Pump
import Tactus
import TactusDaemon
import Wire

/// The command `tactus sim pump --pty`, which simulates a pump on a pseudo-terminal.
struct SimPumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pump",
    abstract: "A cooling pump that any program can talk to, in real time, on a pseudo-terminal.",
    discussion: """
      Prints the terminal's path, then what happens to the pump. Behaves as the original firmware with its faults solved; \
      --original keeps them. Water, skin and body are simulated. Ends with SIGINT or SIGTERM.
      """)

  enum Dialect: String, ExpressibleByArgument, CaseIterable {
    case firmware
    case legacy
  }

  @Flag(help: "On a pseudo-terminal. The only place there is.")
  var pty = false

  @Option(help: "Water and skin begin between 8…15 °C and 35…36.5 °C, where the seed says.")
  var seed: UInt64 = 1

  @Option(help: "STATUS with water and skin (firmware), or with one temperature (legacy).")
  var dialect = Dialect.firmware

  @Flag(help: "With the original firmware's faults.")
  var original = false

  func validate() throws {
    if !pty { throw ValidationError("Expected --pty.") }
    if original, dialect == .legacy { throw ValidationError("Give one of --original and --dialect legacy.") }
  }

  func run() throws {
    let events = try ServiceEvents()
    let pump = try SimulatedPumpOnTerminal(settings, parameters)
    let runtime = try Runtime { Lane("pump") { pump.loop("pump", bell: events.doorbell.button) } }
    printAtOnce(pump.terminal.path + "\n")
    try runtime.start()
    defer { runtime.stop() }
    while true {
      for event in events.wait() {
        switch event {
        case .stop, .reopenLog:
          for line in pump.takeNews() { printAtOnce(line + "\n") }
          return
        case .doorbell: for line in pump.takeNews() { printAtOnce(line + "\n") }
        case .childEnded, .input: break
        }
      }
    }
  }

  private var settings: PumpDeviceSettings {
    get throws {
      if original { return .original }
      return try PumpDeviceSettings(dialect: dialect == .legacy ? .legacy : .firmware)
    }
  }

  private var parameters: PumpWorld.Parameters {
    var random = SplitMix64(seed: seed)
    var parameters = PumpWorld.Parameters()
    parameters.waterCelsius = .random(in: 8...15, using: &random)
    parameters.skinCelsius = .random(in: 35...36.5, using: &random)
    return parameters
  }
}
