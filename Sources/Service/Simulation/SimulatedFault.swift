import Buses
import Tactus

/// A fault in the form that `POST /api/sim/fault` accepts and `GET /api/sim/fault` returns; members that do not apply to the fault are absent.
public struct SimulatedFault: Encodable, Hashable, JSONReadable, Sendable {
  /// The kind of fault. The raw value is its name in the API.
  public enum Name: String, Encodable, CaseIterable, Sendable {
    /// On an I2C bus, transfers to `address` are not acknowledged: the next `count`, or all until cleared.
    case nak
    /// On an I2C bus, a chip holds a line low: every transfer ends in ETIMEDOUT.
    case stuck
    /// On an I2C bus, `perMille` of 1,000 transfers are not acknowledged, whatever their address.
    case randomNak = "random-nak"
    /// An input of a converter has the voltage `mv`: an open or shorted sensor, an empty battery.
    case voltage
    /// A serial line accepts no bytes to send.
    case full
    /// The device of a serial line, the SPI bus or the GPIO chip is unplugged: every access fails.
    case gone
    /// The chip on an SPI bus does not drive its data line.
    case noChip = "no-chip"
    /// On a GPIO chip, `line` stays high whatever drives it.
    case stuckHigh = "stuck-high"
    /// On a GPIO chip, `line` stays low whatever drives it.
    case stuckLow = "stuck-low"
    /// No datagram arrives or leaves; on a link, no peer is in reach.
    case linkLoss = "link-loss"
    /// Of 1,000 datagrams that arrive, `perMille` are lost.
    case packetLoss = "packet-loss"
    /// Each datagram arrives `ms` later, plus up to `jitterMs` at random.
    case delay
    /// Of 1,000 datagrams that arrive, `perMille` arrive twice.
    case duplication
    /// Of 1,000 datagrams, `perMille` are held back by `holdMs` (20 by default), so that later ones overtake them.
    case reordering
    /// Bytes are lost in both directions, without an error.
    case silence
    /// The wire of a pump's `sensor` is open.
    case sensorOpen = "sensor-open"
    /// The wire of a pump's `sensor` is shorted.
    case sensorShort = "sensor-short"
    /// The skin that a pump cools is held at `celsius`, whatever cools or warms it.
    case overheat
    /// A pump's motor turns but moves no water.
    case dryRun = "dry-run"
    /// A pump's sensors, pot and button cannot be read.
    case inputsGone = "inputs-gone"
    /// The output to a pump's motor accepts no value and keeps its last one.
    case outputGone = "output-gone"
    /// A tick of the lane's loop blocks once for `ms`, 1…5,000.
    case laneStall = "lane-stall"
    /// Ends the faults of `bus`, or all faults if no bus is given. Only a request; never listed as in force.
    case clear

    /// Returns the faults that a bus of this kind can have.
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

  /// The kind of fault, which determines the other members that apply.
  public var fault: Name
  var bus: String?
  var lane: String?
  /// The address of the chip on an I2C bus, 8…119, or `nil` if the fault has none.
  var address: Int?
  /// The line of the GPIO chip, 0…63, or `nil` if the fault concerns no single line.
  var line: Int?
  /// The input of a converter, 0…3, with `mv`, the voltage at that input, −6144…6144 mV; `nil` unless the fault is `voltage`.
  var channel: Int?
  var mv: Int?
  /// The number of transfers that are still not acknowledged, or `nil` if all are refused until the fault is cleared.
  var count: Int?
  /// The number of affected transfers or datagrams of 1,000, 0…1000, or `nil` if the fault has no such rate.
  var perMille: Int?
  var ms: Int?
  var jitterMs: Int?
  var holdMs: Int?
  /// The temperature sensor of a pump, or `nil` if the fault concerns none.
  public var sensor: Sensor?
  /// The temperature at which the skin is held, 0…60 °C, or `nil` for 41 °C.
  public var celsius: Int?

  /// The temperature sensors of a pump.
  public enum Sensor: String, Encodable, CaseIterable, Sendable {
    /// The sensor in the water that the pump moves.
    case water
    /// The sensor on the skin that the water cools.
    case skin
  }

  /// Makes a fault without its numbers.
  ///
  /// - Parameters:
  ///   - bus: the name of the fault's bus; `nil` for `laneStall`.
  ///   - lane: the name of the fault's lane; `nil` unless the fault is `laneStall`.
  public init(_ fault: Name, bus: String? = nil, lane: String? = nil) {
    (self.fault, self.bus, self.lane) = (fault, bus, lane)
  }

  /// Reads a fault from the body of a request.
  ///
  /// - Throws: 422 with the field for a member that is unknown, missing or out of range.
  public init(_ body: inout JSONReader) throws(APIError) {
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
