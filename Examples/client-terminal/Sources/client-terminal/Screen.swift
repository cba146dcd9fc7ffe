import Foundation
import Observation
import TactusClient

/// Prints what is shown of a daemon, and again whenever something of it has changed.
@MainActor
@Observable
final class Screen {
  private let daemon: DaemonModel
  /// What does not work, and what lies outside the daemon, as it said when it was asked last.
  private var troubles: [String] = []
  @ObservationIgnored private var shown = ""

  init(_ daemon: DaemonModel) { self.daemon = daemon }

  /// Asks the daemon for its health. One that is not reached changes nothing, since the first line says so.
  func checkHealth() async {
    do throws(ClientError) {
      let health = try await daemon.health()
      troubles = [health.message].compactMap(\.self) + health.warnings.map(\.message)
    } catch {
      if case .refused(let refusal) = error { troubles = [refusal.message] }
    }
  }

  func show() {
    // `onChange` is called before the change, and once.
    let text = withObservationTracking {
      ([page(daemon)] + troubles).joined(separator: "\n")
    } onChange: {
      Task { @MainActor in self.show() }
    }
    if text != shown { FileHandle.standardOutput.write(Data((text + "\n\n").utf8)) }
    shown = text
  }
}

/// What is shown of a daemon: one line a system.
@MainActor
func page(_ daemon: DaemonModel) -> String {
  var lines = ["\(daemon.endpoint): \(daemon.state)"]
  if let robot = daemon.robot { lines.append("robot: \(robot.state.reason)") }
  for leg in daemon.legs?.state.legs ?? [] { lines.append("\(leg.name): \(leg.reason)") }
  if let sprinkler = daemon.sprinkler {
    lines.append("sprinkler: \(sprinkler.state.reason)")
    for zone in sprinkler.state.zones where sprinkler.isOn(zone.id) {
      lines.append("  \(zone.id) \(zone.name): open\(zone.remainingSec.map { ", \($0) s left" } ?? "")")
    }
  }
  if let pump = daemon.pump { lines.append("pump: \(pump.state.reason)") }
  for plant in daemon.plants?.state.plants ?? [] {
    let moisture = plant.moisturePercent.map { "\($0) %" } ?? "no reading"
    lines.append("\(plant.name): \(moisture) \(plant.alerts.joined(separator: ", "))")
  }
  for system in daemon.declared {
    let values = system.description.fields.map { "\($0.name) \(system[$0.name]?.text ?? "unknown") \($0.unit)" }
    lines.append("\(system.description.title): \(values.joined(separator: ", "))")
  }
  return lines.joined(separator: "\n")
}
