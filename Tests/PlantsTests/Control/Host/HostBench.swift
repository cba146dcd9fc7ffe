import Plants
import Tactus

/// A host with the four probes of a bus, and clients that write to it.
struct HostBench {
  static let sensors = ["0x36", "0x37", "0x38", "0x39"].map { PlantSensorID($0)! }
  var host: PlantHost
  var readings: [PlantSensorID: PlantReading] = [:]
  var now = TickInstant.zero
  private var number = 0

  init(_ settings: PlantHostSettings = PlantHostSettings()) {
    host = PlantHost(settings, book: PlantBook(sensors: Set(Self.sensors)))
    host.settings.spamLimit = nil
  }

  mutating func step(_ text: String) -> PlantHostAction { host.step(text, at: now, readings: readings) }

  /// The replies to a request, as `RES_numPlants 0`, with `payload` as it goes on the wire.
  mutating func ask(_ operation: String, _ payload: String, from sender: String = "6F2A") -> [String] {
    number += 1
    let action = step("ID:\(number);sender:\(sender);receiver:Host-RPI3B+;payload:\(payload);operation:\(operation)")
    return action.replies.map { reply in
      let head = "ID:\(number);sender:Host-RPI3B+;receiver:\(sender);payload:"
      guard reply.encoded.hasPrefix(head) else { return "not to \(sender): \(reply.encoded)" }
      let rest = reply.encoded.dropFirst(head.count).split(separator: ";operation:")
      return rest.count == 2 ? "\(rest[1]) \(rest[0])" : "empty payload: \(reply.encoded)"
    }
  }

  mutating func add(_ name: String, _ sensors: String = "[\"0x36\"]", from sender: String = "6F2A") {
    _ = ask("REQ_addNewPlant", "\(name)--\(sensors)", from: sender)
  }

  mutating func read(_ sensor: String, raw: Double, celsius: Double? = 22) {
    readings[PlantSensorID(sensor)!] = PlantReading(
      raw: raw, moisturePercent: PlantCalibration.seesaw.percent(raw), scale: PlantCalibration.originalScale(raw),
      celsius: celsius, at: now)
  }
}
