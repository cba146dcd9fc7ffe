import Buses
import BusesLinux
import Devices
import Logging
import Service
import Tactus
import TactusGuard

/// The parts that a bench has handed out: the claims, the writes that make the outputs safe, and what can be inspected
/// and disturbed in a simulation.
///
/// It is used while a system is made and after the system has stopped, but not by its loops.
package final class BenchParts {
  enum Mode { case planning, real, simulated }

  let mode: Mode
  let at: SystemPlace
  /// The name of the system as a part of other names, such as `kettle-left`.
  var system: String { at.word }
  /// The names of the system's sections in the file.
  private let sections: [String]
  /// The settings of the lane in the file.
  let lane: LaneKeys.Values
  var claims: [ResourceClaim] = []
  /// The writes of the guard besides turning lines off.
  var safeWrites: [SafeStateWrite] = []
  /// The lines whose safe state is the inactive level.
  var safeLines: [GPIOLine] = []
  var heldLines: [LinuxGPIOLines] = []
  /// The sensors of the kernel that the system reads.
  var sensors: [PlannedSensor] = []
  var faults: [NamedFault] = []
  /// The errors that `loops` has made in its use of the bench, each with what to write instead.
  var flaws: [String] = []
  /// The values that are shared with readers of the system's state.
  let shared = SharedParts()
  /// The way in which the previous run of the program ended.
  let lastEnd: LastEnd
  /// The clock for the records of simulated parts.
  let clock: RecordClock
  private var outputs: [BenchOutput] = []
  /// The outputs whose safe state needs no write, with the reason.
  private(set) var harmless: [(name: String, reason: String)] = []
  /// The additional routes of a simulated system, such as `GET /api/sim/robot`.
  var simulationRoutes: [Route] = []
  private var buses: [(number: Int, real: LinuxI2CBus)] = []
  private var simulatedBuses:
    [(number: Int, name: String, bus: SimulatedI2CBus, converters: [UInt8: ADS1115Simulator])] = []
  private var simulatedBank: SimulatedGPIOBank?
  /// The simulated parts in the order in which they were opened.
  private(set) var simulatedParts: [SimulatedBus] = []
  /// The claims that also hold if the hardware is simulated.
  var lastingClaims: Set<ResourceClaim.Resource> = []
  /// The links that start with the loops and stop after them.
  var links: [any BenchLink] = []
  /// The work to do after the loops have ended, with the message that is logged if it fails.
  var endings: [(failure: String, work: () throws -> Void)] = []
  /// Whether links are real although the other hardware is simulated, because only the file and not the command line
  /// selects simulated hardware.
  let hasRealLinks: Bool
  let logger: Logger?
  /// The guard's timeout in the file, in seconds; the default while planning.
  var guardTimeoutSeconds = 0.5
  /// The objects that the ports of the loops refer to.
  private var held: [AnyObject] = []
  /// The lines of the simulated bank that stand for lines of the file.
  private var takenLines: Set<Int> = []
  /// The address on which UDP ports listen, or `nil` in simulated time and while planning.
  private let address: String?
  private var datagramParts: [DatagramPart] = []

  init<System: DeviceSystem>(
    _ mode: Mode, of _: System.Type, at place: SystemPlace? = nil, lane: LaneKeys.Values? = nil,
    address: String? = nil, clock: RecordClock = .monotonic, lastEnd: LastEnd = LastEnd(), hasRealLinks: Bool = false,
    logger: Logger? = nil
  ) {
    (self.address, self.lastEnd) = (address, lastEnd)
    (self.hasRealLinks, self.logger) = (mode == .real || mode == .simulated && hasRealLinks, logger)
    (self.mode, self.clock) = (mode, clock)
    at = place ?? System.onlyPlace
    self.lane = lane ?? System.standardLane
    sections = System.several == nil ? System.sectionsOfFile.map(\.name) : []
  }

  /// Whether the system has actuators.
  var drives: Bool { !outputs.isEmpty || !harmless.isEmpty }

  /// The names of the outputs that are not in their safe state, which are read after the loops have ended. Outputs that
  /// can be read back are checked; for real outputs that cannot be read back the loop's report counts.
  var unsafeOutputs: [String] { outputs.filter { !$0.isSafe() }.map(\.name) }

  /// The parts that can be inspected and disturbed under `/api/sim`.
  var simulation: [SimulatedBus] {
    simulatedParts.map { part in
      let bus = simulatedBuses.first { $0.name == part.name }
      return bus.map { SimulatedBus($0.name, .i2c($0.bus), converters: $0.converters) } ?? part
    }
  }

  /// Adds a part that can be inspected and disturbed under `/api/sim`.
  func addSimulated(_ part: SimulatedBus) { simulatedParts.append(part) }

  /// The addresses on which the system listens, with the ports in effect.
  var endpoints: [Endpoint] { datagramParts.map(\.endpoint) }
  /// Whether the system accepts datagrams without a token.
  var isOpenToAll: Bool { !datagramParts.isEmpty }

  /// Opens a UDP port.
  ///
  /// - Parameter suffix: the suffix of the port's name in a simulation, or `nil` to make one.
  func datagrams(_ port: UInt16, _ suffix: String? = nil) throws(BusOpenError) -> DatagramPart {
    let part = try DatagramPart(port, at: address, isSimulated: mode != .real, clock: clock)
    if let impaired = part.impaired {
      let made = datagramParts.isEmpty ? "" : "-\(datagramParts.count)"
      addSimulated(SimulatedBus("\(system)-udp\(suffix ?? made)", .datagram(impaired)))
    }
    datagramParts.append(part)
    return part
  }

  /// Returns the path of a key in the file.
  func path(_ key: String) -> String { key.contains(".") ? key : "\(at.section).\(key)" }

  /// Returns the path in the file of a list of mappings. A list with the name of a section is that section.
  func listPath(_ key: String) -> String { sections.contains(key) ? key : path(key) }

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

  /// Whether any output that can be read back is not in its safe state.
  package var isDriving: Bool { outputs.contains { $0.isDriving() } }

  /// Whether the system has an output that can be read back.
  var hasReadBackOutput: Bool { outputs.contains(where: \.isReadBack) }

  /// The largest duty of all PWM outputs: the share of the period in which an output is on.
  package var mostDuty: Double { outputs.map { $0.duty() }.max() ?? 0 }

  /// Writes the safe state of every output at `now`, as the guard does. Returns whether every write was confirmed.
  package func makeSafe(at now: TickInstant) -> Bool { outputs.map { $0.makeSafe(now) }.allSatisfy(\.self) }

  /// Sets whether every output rejects writes and keeps its present level.
  package func refuse(_ refuses: Bool) {
    for output in outputs { output.refuse(refuses) }
    for (_, _, bus, _) in simulatedBuses {
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

  func simulatedBus(_ number: Int, called name: String?) -> SimulatedI2CBus {
    if let bus = simulatedBuses.first(where: { $0.number == number })?.bus { return bus }
    let bus = SimulatedI2CBus(clock: clock)
    let name = name ?? "\(system)-i2c-\(number)"
    simulatedBuses.append((number, name, bus, [:]))
    addSimulated(SimulatedBus(name, .i2c(bus)))
    return bus
  }

  /// Records a converter on a simulated bus.
  func note(_ converter: ADS1115Simulator, at address: I2CAddress, on number: Int) {
    guard let index = simulatedBuses.firstIndex(where: { $0.number == number }) else { return }
    simulatedBuses[index].converters[address.value] = converter
  }

  func simulatedSerialPort(_ path: String, called name: String?) -> SimulatedSerialPort {
    let port = SimulatedSerialPort(clock: clock, isRead: false)
    let name = name ?? "\(system)-\(Self.last(of: path) ?? "serial")"
    addSimulated(SimulatedBus(name, .serial(port)))
    return port
  }

  func simulatedSPIBus(_ path: String) -> SimulatedSPIBus {
    let bus = SimulatedSPIBus(clock: clock)
    addSimulated(SimulatedBus("\(system)-\(Self.last(of: path) ?? "spi")", .spi(bus)))
    return bus
  }

  private static func last(of path: String) -> String? { path.split(separator: "/").last.map { String($0) } }

  /// Returns the lines of the simulated bank that stand for lines of the file. A name that the bank does not have gets a
  /// free line from its end. While planning, every name gets a separate line, so that a line which two keys name is
  /// reported as a claim with the places of both keys.
  func simulated(_ names: [GPIOLineName]) -> [GPIOLineName] {
    if simulatedBank == nil, mode == .planning || names.contains(where: \.isBeyondHeader) { makeBank(count: 64) }
    let numbers = names.map { name in
      // A line that already stands for another name is not available.
      mode == .planning ? nil : (try? bank.number(name)).flatMap { takenLines.contains($0) ? nil : $0 }
    }
    takenLines.formUnion(numbers.compactMap(\.self))
    return zip(names, numbers).map { name, number in
      guard number == nil, let free = (0..<bank.count).last(where: { !takenLines.contains($0) }) else { return name }
      takenLines.insert(free)
      return GPIOLineName(.offset(free, chip: "simulated"))
    }
  }

  /// The simulated lines, as many as a Raspberry Pi's header has unless the file names more.
  var bank: SimulatedGPIOBank { simulatedBank ?? makeBank(count: 54) }

  @discardableResult
  private func makeBank(count: Int) -> SimulatedGPIOBank {
    let bank = SimulatedGPIOBank(count: count, clock: clock)
    simulatedBank = bank
    addSimulated(SimulatedBus("\(system)-gpio", .gpio(bank)))
    return bank
  }
}

extension GPIOLineName {
  /// Whether the line is one of those that a bank of 64 has and a Raspberry Pi's header has not.
  fileprivate var isBeyondHeader: Bool { if case .offset(54...63, _) = place { true } else { false } }
}

/// The way in which the previous run of the program ended.
struct LastEnd {
  var isWithoutStop = false
  var madeSafe: MadeSafe?
}

/// An output that a bench has opened: its current state, and how it is brought into its safe state.
struct BenchOutput {
  let name: String
  /// Returns whether the output is in its safe state, as far as that can be read back.
  let isSafe: () -> Bool
  /// Returns whether a simulated output can be read back and is not in its safe state.
  let isDriving: () -> Bool
  /// Whether a simulated output can be read back.
  var isReadBack = true
  /// Writes the safe state of a simulated output. Returns whether the write was confirmed.
  let makeSafe: (TickInstant) -> Bool
  /// Sets whether a simulated output that is not part of a bus or a bank rejects writes.
  var refuse: (Bool) -> Void = { _ in }
  /// Returns the duty of a simulated PWM output: the share of its period in which it is on.
  var duty: () -> Double = { 0 }
}

/// The error for a list with more or fewer items than a bank of lines can have.
struct BankSizeError: Error, CustomStringConvertible {
  let count: Int

  var description: String { "expected a list of 1…\(GPIOLines.maximumCount) items with a line each, got \(count)" }
}

/// The error for a part that a bench could not open, with the key that names the part:
/// `kiln.heater: GPIO line GPIO17: no chip has a line of that name`.
struct BenchError: Error, CustomStringConvertible {
  let key: String
  let cause: any Error

  var description: String { "\(key): \(cause)" }
}
