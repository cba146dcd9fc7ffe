import Buses
import BusesLinux
import Service
import Tactus
import TactusGuard

/// What a bench has handed out: what is claimed, what must be written when nobody drives it, what is there to look at and to disturb.
///
/// Used while a system is made and when it has stopped; not by its loops.
package final class BenchParts {
  enum Mode { case planning, real, simulated }

  let mode: Mode
  let at: SystemPlace
  /// As a part of names: `kettle-left`.
  var system: String { at.word }
  /// What the file says of the lane.
  let lane: LaneKeys.Values
  var claims: [ResourceClaim] = []
  /// What the guard writes besides turning lines off.
  var safeWrites: [SafeStateWrite] = []
  /// Lines whose safe state is inactive.
  var safeLines: [GPIOLine] = []
  var heldLines: [LinuxGPIOLines] = []
  var faults: [NamedFault] = []
  /// The clock of what simulated parts record.
  private let clock: RecordClock
  private var outputs: [BenchOutput] = []
  /// Outputs that need nothing written, with the reason.
  private(set) var harmless: [(name: String, reason: String)] = []
  private var buses: [(number: Int, real: LinuxI2CBus)] = []
  private var simulatedBuses: [(number: Int, bus: SimulatedI2CBus)] = []
  private var simulatedBank: SimulatedGPIOBank?
  private var simulatedLines: [SimulatedBus] = []
  private var simulatedPorts: [SimulatedBus] = []
  /// Everything that a port of a loop leads to.
  private var held: [AnyObject] = []
  private var strangers = 0
  /// Where UDP ports listen; `nil` in simulated time and while planning.
  private let address: String?
  private var datagramParts: [DatagramPart] = []

  init<System: DeviceSystem>(
    _ mode: Mode, of _: System.Type, at place: SystemPlace? = nil, lane: LaneKeys.Values? = nil,
    address: String? = nil, clock: RecordClock = .monotonic
  ) {
    self.address = address
    (self.mode, self.clock) = (mode, clock)
    at = place ?? System.onlyPlace
    self.lane = lane ?? System.standardLane
  }

  /// Whether it moves, heats or opens something.
  var drives: Bool { !outputs.isEmpty || !harmless.isEmpty }

  /// Outputs that are not what they must be when nobody drives them: asked after the loops' end. What can be read back is; of what
  /// is real and cannot, the loop's word counts.
  var unsafeOutputs: [String] { outputs.filter { !$0.isSafe() }.map(\.name) }

  /// What can be looked at and disturbed under `/api/sim`.
  var simulation: [SimulatedBus] {
    simulatedBuses.map { SimulatedBus("\(system)-i2c-\($0.number)", .i2c($0.bus)) }
      + simulatedLines + simulatedPorts + (simulatedBank.map { [SimulatedBus("\(system)-gpio", .gpio($0))] } ?? [])
  }

  /// Where it listens, the ports in effect.
  var endpoints: [Endpoint] { datagramParts.map(\.endpoint) }
  /// Whether it takes what comes without a token.
  var isOpenToAll: Bool { !datagramParts.isEmpty }

  func datagrams(_ port: UInt16) throws(BusOpenError) -> DatagramPart {
    let part = try DatagramPart(port, at: address, isSimulated: mode != .real, clock: clock)
    if let impaired = part.impaired {
      let number = simulatedPorts.isEmpty ? "" : "-\(simulatedPorts.count)"
      simulatedPorts.append(SimulatedBus("\(system)-udp\(number)", .datagram(impaired)))
    }
    datagramParts.append(part)
    return part
  }

  /// Where the file has the key of this name.
  func path(_ key: String) -> String { key.contains(".") ? key : "\(at.section).\(key)" }

  func claim(_ resource: ResourceClaim.Resource, _ key: String) {
    // Two chips' claims of one address differ in the bus's key only.
    claims.append(ResourceClaim(resource: resource, key: path(key)))
  }

  func addOutput(_ output: BenchOutput, _ safe: SafeOutput) {
    switch safe {
    case .inactive: outputs.append(output)
    case .none(let reason): harmless.append((output.name, reason))
    }
  }

  // MARK: Simulated outputs

  /// Whether one of the outputs that can be read back is not in its safe state.
  package var isDriving: Bool { outputs.contains { $0.isDriving() } }

  /// The largest share of its period in which a PWM output is on.
  package var mostDuty: Double { outputs.map { $0.duty() }.max() ?? 0 }

  /// Writes the safe state of every output at `now`, as the guard does. Returns whether every write was confirmed.
  package func makeSafe(at now: TickInstant) -> Bool { outputs.map { $0.makeSafe(now) }.allSatisfy(\.self) }

  /// No output takes anything any more, and each stays as it is; or they take it again.
  package func refuse(_ refuses: Bool) {
    for output in outputs { output.refuse(refuses) }
    for (_, bus) in simulatedBuses {
      bus.clearFaults()
      if refuses { bus.inject(.stuck) }
    }
    simulatedBank?.clearFaults()
    if refuses { simulatedBank?.inject(.gone) }
  }

  func hold<Thing: AnyObject>(_ thing: Thing) -> Thing {
    held.append(thing)
    return thing
  }

  func realBus(_ number: Int, _ operations: [I2CTransfer.Operation]) throws -> LinuxI2CBus {
    if let bus = buses.first(where: { $0.number == number })?.real { return bus }
    let bus = try LinuxI2CBus(number: number, operations: operations)
    buses.append((number, bus))
    return bus
  }

  func simulatedBus(_ number: Int) -> SimulatedI2CBus {
    if let bus = simulatedBuses.first(where: { $0.number == number })?.bus { return bus }
    let bus = SimulatedI2CBus(clock: clock)
    simulatedBuses.append((number, bus))
    return bus
  }

  func simulatedSerialPort(_ path: String) -> SimulatedSerialPort {
    let port = SimulatedSerialPort(clock: clock)
    let name = path.split(separator: "/").last.map { String($0) } ?? "serial"
    simulatedLines.append(SimulatedBus("\(system)-\(name)", .serial(port)))
    return port
  }

  func simulatedSPIBus(_ path: String) -> SimulatedSPIBus {
    let bus = SimulatedSPIBus(clock: clock)
    let name = path.split(separator: "/").last.map { String($0) } ?? "spi"
    simulatedLines.append(SimulatedBus("\(system)-\(name)", .spi(bus)))
    return bus
  }

  /// The line of the simulated bank that stands for one: a name that a Raspberry Pi's header does not have gets a line from the header's end.
  /// While planning each gets one of its own, so that a line that two keys name is reported as a claim, with the place of both keys.
  func simulated(_ name: GPIOLineName) -> GPIOLineName {
    if mode != .planning, (try? bank.number(name)) != nil { return name }
    strangers += 1
    return .bcm(54 - strangers)
  }

  /// The lines of a Raspberry Pi's header.
  var bank: SimulatedGPIOBank {
    if let simulatedBank { return simulatedBank }
    let bank = SimulatedGPIOBank(clock: clock)
    simulatedBank = bank
    return bank
  }
}
