import Buses
@_spi(FromOutside) import Conversions
import Devices
import Tactus

/// One bus of the simulated world: its name and the faults that can be injected into it. It may be used from any
/// thread.
public struct SimulatedBus: Sendable {
  /// The simulated or impaired device, by its kind.
  public enum Line: Sendable {
    /// An I2C bus with simulated chips.
    case i2c(SimulatedI2CBus)
    /// One chip select of an SPI bus with a simulated chip.
    case spi(SimulatedSPIBus)
    /// A serial line to a simulated device.
    case serial(SimulatedSerialPort)
    /// A port for datagrams, over UDP or a serial line, behind a simulated unreliable network.
    case datagram(ImpairedDatagrams)
    /// A radio connection, such as Bluetooth, with a simulated peer.
    case link(SimulatedMessageLink)
    /// The lines of a GPIO chip, which are not a bus but are inspected and disturbed like one.
    case gpio(SimulatedGPIOBank)
    /// A serial line to a device of this project, impaired on its way.
    case wire(ImpairedSerialPort)
    /// The devices on a system's ports, which are not a bus either but are disturbed like one.
    case twin(any SimulatedTwin)
  }

  /// The name of the bus: `i2c-1`, `ttyAMA0`, `robot-udp`, `leg-gpio`, `leg-bluetooth`, `pump-serial`, `pump`.
  public let name: String
  let line: Line
  /// The converters on the bus by address, each with the initial voltages of its inputs.
  private let converters: [UInt8: (chip: ADS1115Simulator, atFirst: [Microvolts])]

  /// Makes a bus with the given name.
  ///
  /// - Parameter converters: the converters on an I2C bus by their addresses; the voltages of their inputs can be set.
  public init(_ name: String, _ line: Line, converters: [UInt8: ADS1115Simulator] = [:]) {
    (self.name, self.line) = (name, line)
    self.converters = converters.mapValues { chip in (chip, (0..<ADS1115.channelCount).map { chip.voltage($0) }) }
  }

  var kind: String {
    switch line {
    case .i2c: "i2c"
    case .spi: "spi"
    case .serial, .wire: "serial"
    case .twin(let twin): twin.kind
    case .datagram: "datagram"
    case .link: "link"
    case .gpio: "gpio"
    }
  }

  /// The names, in the API, of the faults that the bus can have.
  public var possibleFaults: Set<String> {
    let known = SimulatedFault.Name.of(line).filter { $0 != .voltage || !converters.isEmpty }
    return Set(known.map(\.rawValue))
  }

  var transactionCount: Int64 {
    switch line {
    case .i2c(let bus): bus.transactionCount
    case .spi(let bus): bus.transactionCount
    case .serial(let line): line.transactionCount
    case .datagram(let port): port.transactionCount
    case .link(let link): link.transactionCount
    case .gpio(let bank): bank.transactionCount
    case .wire(let line): line.transactionCount
    case .twin: 0
    }
  }

  func transactions(since sequence: Int64) -> [BusTransaction] {
    switch line {
    case .i2c(let bus): bus.transactions(since: sequence).map { BusTransaction($0) }
    case .spi(let bus): bus.transactions(since: sequence).map { BusTransaction($0) }
    case .serial(let line): line.transactions(since: sequence).map { BusTransaction($0) }
    case .datagram(let port): port.transactions(since: sequence).map { BusTransaction($0) }
    case .link(let link): link.transactions(since: sequence).map { BusTransaction($0) }
    case .gpio(let bank): bank.transactions(since: sequence).map { BusTransaction($0) }
    case .wire(let line): line.transactions(since: sequence).map { BusTransaction($0) }
    case .twin: []
    }
  }

  /// Sets the voltage of a converter's input.
  ///
  /// - Throws: 422 if there is no converter at that address.
  func set(_ fault: SimulatedFault) throws(APIError) {
    guard let address = fault.address, let converter = converters[UInt8(clamping: address)]?.chip else {
      let known = converters.keys.sorted().map { "\($0)" }.joined(separator: ", ")
      throw .validation(
        "address", expected: known.isEmpty ? "a bus with a converter" : "a converter's address, \(known)",
        got: "\(fault.address ?? 0)")
    }
    converter.set(fault.channel!, Microvolts(Int64(fault.mv!) * 1000))
  }

  /// The voltages that differ from the initial ones, as faults.
  var voltages: [SimulatedFault] {
    converters.sorted { $0.key < $1.key }.flatMap { address, converter in
      (0..<ADS1115.channelCount).filter { converter.chip.voltage($0) != converter.atFirst[$0] }.map { channel in
        var fault = SimulatedFault(.voltage, bus: name)
        (fault.address, fault.channel) = (Int(address), channel)
        fault.mv = Int(converter.chip.voltage(channel).count / 1000)
        return fault
      }
    }
  }

  func clearFaults() {
    for converter in converters.values {
      for (channel, voltage) in converter.atFirst.enumerated() { converter.chip.set(channel, voltage) }
    }
    switch line {
    case .i2c(let bus): bus.clearFaults()
    case .spi(let bus): bus.clearFaults()
    case .serial(let line): line.clearFaults()
    case .datagram(let port):
      port.conditions = .init()
      port.linkIsDown = false
    case .link(let link): link.isOutOfReach = false
    case .gpio(let bank): bank.clearFaults()
    case .wire(let line): line.clearFaults()
    case .twin(let twin): twin.clearFaults()
    }
  }
}

/// The simulated sensors and outputs of a device, which can be disturbed like a bus.
public protocol SimulatedTwin: Sendable {
  /// The kind of the device in the documents of `GET /api/sim/bus`.
  var kind: String { get }
  /// The names of the faults that `inject` accepts.
  var faultNames: [SimulatedFault.Name] { get }
  /// Puts a fault into force in addition to those in force already. It may be used from any thread.
  ///
  /// - Parameter fault: a fault whose name is in `faultNames`.
  func inject(_ fault: SimulatedFault)
  /// Ends all faults that are in force. It may be used from any thread.
  func clearFaults()
  /// Returns the faults in force.
  ///
  /// - Parameter name: the name of the bus in the faults returned.
  func activeFaults(of name: String) -> [SimulatedFault]
}

extension SimulatedBus {
  /// Puts a fault into force.
  ///
  /// - Throws: 422 if a bus of this kind cannot have the fault.
  func inject(_ fault: SimulatedFault) throws(APIError) {
    let known = SimulatedFault.Name.of(line)
    guard known.contains(fault.fault) else {
      let names = known.map(\.rawValue).joined(separator: ", ")
      throw .validation("fault", expected: "one of \(names) on \(name)", got: "\"\(fault.fault.rawValue)\"")
    }
    switch line {
    case .i2c where fault.fault == .voltage: try set(fault)
    case .i2c(let bus): bus.inject(i2cFault(fault))
    case .spi(let bus): bus.inject(fault.fault == .gone ? .fails(errno: 19) : .noChip)
    case .serial(let line): line.inject(fault.fault == .gone ? .gone : .full)
    case .datagram(let port): impair(port, fault)
    case .link(let link): link.isOutOfReach = true
    case .gpio(let bank): try disturb(bank, fault)
    case .wire(let line): line.inject(fault.fault == .silence ? .silence : .gone)
    case .twin(let twin): twin.inject(fault)
    }
  }

  private func i2cFault(_ fault: SimulatedFault) -> SimulatedI2CBus.Fault {
    switch fault.fault {
    case .nak: .noAcknowledge(address: I2CAddress(UInt8(clamping: fault.address!))!, count: fault.count)
    case .randomNak: .randomNoAcknowledge(perMille: fault.perMille!)
    default: .stuck
    }
  }

  private func disturb(_ bank: SimulatedGPIOBank, _ fault: SimulatedFault) throws(APIError) {
    guard let line = fault.line else { return bank.inject(.gone) }
    guard line < bank.count else { throw .validation("line", expected: "0…\(bank.count - 1)", got: "\(line)") }
    bank.inject(.stuck(line: line, isHigh: fault.fault == .stuckHigh))
  }

  private func impair(_ port: ImpairedDatagrams, _ fault: SimulatedFault) {
    var conditions = port.conditions
    switch fault.fault {
    case .packetLoss: conditions.lossPerMille = fault.perMille!
    case .duplication: conditions.duplicationPerMille = fault.perMille!
    case .reordering:
      conditions.reorderingPerMille = fault.perMille!
      conditions.reorderHold = .milliseconds(Int64(fault.holdMs ?? 20))
    case .delay:
      conditions.delay = .milliseconds(Int64(fault.ms!))
      conditions.jitter = .milliseconds(Int64(fault.jitterMs ?? 0))
    default: port.linkIsDown = true
    }
    port.conditions = conditions
  }

  var activeFaults: [SimulatedFault] {
    switch line {
    case .i2c(let bus): bus.activeFaults.map(described) + voltages
    case .spi(let bus):
      bus.activeFaults.map { SimulatedFault($0 == .noChip ? .noChip : .gone, bus: name) }
    case .serial(let line):
      switch line.fault {
      case .full: [SimulatedFault(.full, bus: name)]
      case .gone: [SimulatedFault(.gone, bus: name)]
      case nil: []
      }
    case .datagram(let port): impairments(port)
    case .link(let link): link.isOutOfReach ? [SimulatedFault(.linkLoss, bus: name)] : []
    case .gpio(let bank): bank.activeFaults.compactMap(described)
    case .wire(let line):
      switch line.fault {
      case .gone: [SimulatedFault(.gone, bus: name)]
      case .silence: [SimulatedFault(.silence, bus: name)]
      case nil: []
      }
    case .twin(let twin): twin.activeFaults(of: name)
    }
  }

  private func described(_ fault: SimulatedI2CBus.Fault) -> SimulatedFault {
    switch fault {
    case .noAcknowledge(let address, let count):
      var nak = SimulatedFault(.nak, bus: name)
      (nak.address, nak.count) = (Int(address.value), count)
      return nak
    case .randomNoAcknowledge(let perMille):
      var nak = SimulatedFault(.randomNak, bus: name)
      nak.perMille = perMille
      return nak
    case .stuck: return SimulatedFault(.stuck, bus: name)
    }
  }

  /// Returns the fault as the API describes it, or `nil` if it cannot be injected through the API.
  private func described(_ fault: SimulatedGPIOBank.Fault) -> SimulatedFault? {
    switch fault {
    case .claimed: return nil
    case .stuck(let line, let isHigh):
      var stuck = SimulatedFault(isHigh ? .stuckHigh : .stuckLow, bus: name)
      stuck.line = line
      return stuck
    case .gone: return SimulatedFault(.gone, bus: name)
    }
  }

  private func impairments(_ port: ImpairedDatagrams) -> [SimulatedFault] {
    let conditions = port.conditions
    var faults = port.linkIsDown ? [SimulatedFault(.linkLoss, bus: name)] : []
    let rates: [(SimulatedFault.Name, Int)] = [
      (.packetLoss, conditions.lossPerMille), (.duplication, conditions.duplicationPerMille),
      (.reordering, conditions.reorderingPerMille),
    ]
    for (rate, perMille) in rates where perMille > 0 {
      var fault = SimulatedFault(rate, bus: name)
      fault.perMille = perMille
      if rate == .reordering { fault.holdMs = Int(saturating: conditions.reorderHold.inMilliseconds) }
      faults.append(fault)
    }
    if conditions.delay > .zero || conditions.jitter > .zero {
      var fault = SimulatedFault(.delay, bus: name)
      (fault.ms, fault.jitterMs) = (
        Int(saturating: conditions.delay.inMilliseconds), Int(saturating: conditions.jitter.inMilliseconds)
      )
      faults.append(fault)
    }
    return faults
  }
}
