import MQTTMosquitto
import Sprinkler
import Tactus
import TactusDaemon

/// The lines of comparators in the soil, opened. The bench keeps all that they refer to.
struct SoilLineParts {
  let parts: [InputPart]

  func ports() -> SoilLines {
    var lines = SoilLines()
    for part in parts { lines.add(part.port()) }
    return lines
  }
}

extension Sprinkler {
  /// Opens the lines of the comparators in the soil. Returns them with the loops of simulated ones, each of which is wet while a fault is on.
  static func openSoilLines(_ bench: Bench<Wiring>) throws -> (lines: SoilLineParts, twins: [Loop]) {
    var parts: [InputPart] = []
    var twins: [Loop] = []
    // A file with more of them has been refused, except by a bench that only plans.
    for pin in bench.wiring.soilPins.prefix(SoilLines.most) {
      let input = bench.wiring.soilInput(pin)
      let part = try bench.edges(input, of: \.soilItems)
      parts.append(part)
      guard bench.isSimulated else { continue }
      let wet = bench.fault("soil-\(pin)", "The soil at the comparator on pin \(pin) is wet.")
      twins += bench.twin("sprinkler.soil-\(pin)", every: .period(.milliseconds(100))) {
        SimulatedContact(part.driver(), isActiveHigh: !input.line.isActiveLow, wet)
      }
    }
    return (SoilLineParts(parts: parts), twins)
  }
}

extension Sprinkler: OnBroker {
  public static func filters(_ wiring: Wiring) -> [String] { Set(wiring.soilTopics.map(\.name)).sorted() }

  public static func take(_ message: MQTTMessage, _ desk: SprinklerDesk, on broker: BrokerLine) {
    desk.hearSoil(message.payload, on: message.topic, isRetained: message.isRetained)
  }

  public static func summary(_ wiring: Wiring, hasBroker: Bool) -> [String] {
    let names = filters(wiring)
    return names.isEmpty ? [] : ["sprinkler: soil is read from \(names.joined(separator: ", "))"]
  }
}
