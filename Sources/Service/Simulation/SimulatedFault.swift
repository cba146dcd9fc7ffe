import Buses
import Tactus

/// A fault as `POST /api/sim/fault` takes it and `GET /api/sim/fault` shows it: absent members do not belong to it.
package struct SimulatedFault: Encodable, Hashable, JSONReadable {
  package enum Name: String, Encodable, CaseIterable {
    case nak, stuck
    case randomNak = "random-nak"
    /// Of a converter's input: a sensor that is open or shorted, an empty battery.
    case voltage
    case full, gone
    /// An SPI bus whose chip does not drive its line.
    case noChip = "no-chip"
    case stuckHigh = "stuck-high"
    case stuckLow = "stuck-low"
    case linkLoss = "link-loss"
    case packetLoss = "packet-loss"
    case delay, duplication, reordering
    /// Bytes are lost both ways, and nobody is told.
    case silence
    /// Of a device: a sensor's wire, a fever, no water, inputs or the motor's output that do not answer.
    case sensorOpen = "sensor-open"
    case sensorShort = "sensor-short"
    case overheat
    case dryRun = "dry-run"
    case inputsGone = "inputs-gone"
    case outputGone = "output-gone"
    case laneStall = "lane-stall"
    case clear

    /// Faults that a bus of this kind can have.
    static func of(_ line: SimulatedBus.Line) -> [Name] {
      switch line {
      case .i2c: [.nak, .randomNak, .stuck, .voltage]
      case .spi: [.noChip, .gone]
      case .serial: [.full, .gone]
      case .gpio: [.stuckHigh, .stuckLow, .gone]
      case .datagram: [.linkLoss, .packetLoss, .delay, .duplication, .reordering]
      case .link: [.linkLoss]
      case .wire: [.gone, .silence]
      case .twin(let twin): twin.faultNames
      }
    }
  }

  package var fault: Name
  var bus: String?
  var lane: String?
  /// 8…119.
  var address: Int?
  /// Of a GPIO chip, 0…63.
  var line: Int?
  /// Of a converter: its input 0…3, and the voltage there, −6144…6144 mV.
  var channel: Int?
  var mv: Int?
  /// Transfers that are still refused; nil: until cleared.
  var count: Int?
  /// 0…1000.
  var perMille: Int?
  var ms: Int?
  var jitterMs: Int?
  var holdMs: Int?
  /// Of a pump.
  package var sensor: Sensor?
  /// At which the skin is held, 0…60; 41 unless given.
  package var celsius: Int?

  package enum Sensor: String, Encodable, CaseIterable {
    case water, skin
  }

  package init(_ fault: Name, bus: String? = nil, lane: String? = nil) {
    (self.fault, self.bus, self.lane) = (fault, bus, lane)
  }

  /// - Throws: 422 with the field for anything unknown, missing or out of range.
  package init(_ body: inout JSONReader) throws(APIError) {
    fault = Name(rawValue: try body.required("fault", .choice(Name.allCases.map(\.rawValue))))!
    let name = JSONKind<String>.text(1...64)
    switch fault {
    case .clear: bus = try body.optional("bus", name)
    case .laneStall:
      lane = try body.required("lane", name)
      ms = try body.required("ms", .integer(1...5_000))
      return
    default: bus = try body.required("bus", name)
    }
    let milliseconds = JSONKind<Int>.integer(0...60_000)
    switch fault {
    case .nak:
      address = try body.required("address", .integer(0x08...0x77))
      count = try body.optional("count", .integer(1...1_000_000))
    case .voltage:
      address = try body.required("address", .integer(0x48...0x4B))
      channel = try body.required("channel", .integer(0...3))
      mv = try body.required("mv", .integer(-6_144...6_144))
    case .stuckHigh, .stuckLow: line = try body.required("line", .integer(0...63))
    case .randomNak, .packetLoss, .duplication: perMille = try body.required("perMille", .integer(0...1000))
    case .reordering:
      perMille = try body.required("perMille", .integer(0...1000))
      holdMs = try body.optional("holdMs", milliseconds)
    case .delay:
      ms = try body.required("ms", milliseconds)
      jitterMs = try body.optional("jitterMs", milliseconds)
    case .sensorOpen, .sensorShort:
      sensor = Sensor(rawValue: try body.required("sensor", .choice(Sensor.allCases.map(\.rawValue))))
    case .overheat: celsius = try body.optional("celsius", .integer(0...60))
    case .stuck, .full, .gone, .noChip, .linkLoss, .silence, .dryRun, .inputsGone, .outputGone, .laneStall, .clear:
      break
    }
  }
}
