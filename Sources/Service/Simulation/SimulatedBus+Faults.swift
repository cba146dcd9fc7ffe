import Buses
@_spi(FromOutside) import Conversions
import Tactus

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
