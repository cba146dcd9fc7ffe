import Buses
import BusesLinux
@_spi(FromOutside) import Conversions
import Service
import Tactus
import TactusGuard

/// Gives a system its ports, either to the hardware or to a simulation that uses the same names.
///
/// The daemon makes a system twice. The first time it uses a bench that only plans: the ports lead nowhere, and the
/// bench records what is claimed and what the guard must write. The second time, once the file is complete and the
/// guard's list is known, it uses the bench that opens the ports. That list therefore need not be maintained by hand,
/// and `check` and `doctor` know it without touching hardware. The parts that a bench hands out live as long as the
/// system, so a loop need not keep references to them.
public final class Bench<Wiring: Settings> {
  /// The keys of the section that keep their values while the program runs. Outputs and inputs are named by their key
  /// paths: `bench.pwm(\.motor, …)`.
  public let wiring: Wiring
  let parts: BenchParts

  init(_ wiring: Wiring, _ parts: BenchParts) { (self.wiring, self.parts) = (wiring, parts) }

  /// The number of consecutive missed ticks after which the safe state is entered, as the file gives it. Only a system
  /// that adopts `ShapesLane` with `safeStateAfter:` has this key; of others it is an error of `check` and of the start.
  public var safeStateAfter: Int {
    let count = parts.lane.safeStateAfter
    if count < 1 {
      parts.flaws.append("bench.safeStateAfter: expected ShapesLane, whose LaneKeys have safeStateAfter:")
    }
    return max(count, 1)
  }

  /// Whether the program last ended, in the present boot, without stopping its outputs in order, because it died with
  /// or without its guard.
  public var endedWithoutStop: Bool { parts.lastEnd.isWithoutStop }
  /// The writes of the guard after the program's last end in the present boot, or `nil` if that end was orderly or
  /// nothing is known about it.
  public var madeSafe: MadeSafe? { parts.lastEnd.madeSafe }

  /// Whether the ports are simulated. Only then are simulated devices made and attached. The value is `false` on a
  /// bench that only plans. A system with a simulation of its own design registers it with `simulates`.
  public var isSimulated: Bool { parts.mode == .simulated }

  /// Opens a PWM output, which is off until the loop sets it.
  ///
  /// - Parameter period: the PWM period, more than 0.
  public func pwm(
    _ output: KeyPath<Wiring, PWMOutputName>, period: Nanoseconds, safe: SafeOutput
  ) throws -> PWMPart {
    try pwm(value(output), of: output, period: period, safe: safe)
  }

  /// Opens an output line, which is inactive until the loop sets it.
  public func output(
    _ line: KeyPath<Wiring, GPIOLineName>, isActiveLow: Bool = false, safe: SafeOutput
  ) throws -> OutputPart {
    try output(value(line), line, isActiveLow: isActiveLow, safe)
  }

  /// Opens an output line that need not be wired, or returns `nil` if the file does not give the line.
  public func output(
    _ line: KeyPath<Wiring, GPIOLineName?>, isActiveLow: Bool = false, safe: SafeOutput
  ) throws -> OutputPart? {
    try value(line).map { try output($0, line, isActiveLow: isActiveLow, safe) }
  }

  /// Opens an output line of each item of a list as one bank: one write sets any of them, one read returns the levels
  /// of all, and line 0 of the port is that of the first item. The lines are inactive until the loop sets them.
  ///
  /// ```swift
  /// let enable = try bench.outputs(\.heads, each: \.enable, safe: .inactive)   // enable.port(): set(mask:values:)
  /// ```
  ///
  /// - Parameters:
  ///   - list: a list of 1…64 items.
  ///   - line: the key of an item that names its line; all lines are of one chip.
  public func outputs<Item: Settings>(
    _ list: KeyPath<Wiring, [Item]>, each line: KeyPath<Item, GPIOLineName>, isActiveLow: Bool = false,
    safe: SafeOutput
  ) throws -> OutputPart {
    let (items, path, name) = (wiring[keyPath: list], parts.listPath(try key(list)), Item.key(of: line).name)
    guard (1...GPIOLines.maximumCount).contains(items.count) else {
      throw BenchError(key: path, cause: BankSizeError(count: items.count))
    }
    let lines = items.enumerated().map { index, item in
      (line: GPIOLine(item[keyPath: line], isActiveLow: isActiveLow), key: "\(path)[\(index)].\(name)")
    }
    return try outputs(lines, of: list, safe: safe)
  }

  private func output(
    _ name: GPIOLineName, _ line: PartialKeyPath<Wiring>, isActiveLow: Bool, _ safe: SafeOutput
  ) throws -> OutputPart {
    try outputs(
      [(line: GPIOLine(name, isActiveLow: isActiveLow), key: try key(line))], of: line, safe: safe)
  }

  /// Opens an input line whose level changes are reported.
  ///
  /// - Parameters:
  ///   - edges: the changes that are reported.
  ///   - pull: the chip's pull resistor; unless given it is left unchanged.
  ///   - debounce: the time for which a level must last to count; 0 s or more and less than 4,000 s.
  public func edges(
    _ line: KeyPath<Wiring, GPIOLineName>, edges: GPIOEdges = .rising, pull: GPIOInput.Pull = .asIs,
    debounce: Nanoseconds = .zero
  ) throws -> InputPart {
    let input = GPIOInput(try value(line), edges: edges, debounce: debounce, pull: pull)
    return try self.edges(input, of: line)
  }

  /// Opens a chip on the I2C bus `/dev/i2c-N`, where N is the value of the key.
  ///
  /// - Parameters:
  ///   - safe: the transfers that bring the chip into its safe state when no loop drives it, or the reason why none are
  ///     needed, for example that the chip is only read.
  ///   - operations: the operations that the driver needs from the adapter, which are checked on opening.
  ///   - name: the name of the bus under `/api/sim`; unless given it is `NAME-i2c-1`.
  ///   - given: the path in the file of the key with the chip's address if that key belongs to an item of a list:
  ///     `plants.sensors[0].i2c_address`.
  public func i2c(
    _ bus: KeyPath<Wiring, Int>, chip: I2CAddress, at address: PartialKeyPath<Wiring>? = nil, safe: SafeTransfers,
    operations: [I2CTransfer.Operation] = [.writeByte, .writeBlock, .readBlock], simulated name: String? = nil,
    key given: String? = nil
  ) throws -> I2CPart {
    let number = try value(bus)
    parts.claim(.i2c(bus: number, address: chip.value), try given ?? key(address ?? bus))
    let real = try opening(bus) { parts.mode == .real ? try parts.realBus(number, operations) : nil }
    let part = parts.hold(
      I2CPart(
        number, real: real, simulated: parts.mode == .real ? nil : parts.simulatedBus(number, called: name), parts))
    try opening(bus) { try part.real?.claim(chip) }
    if case .writes(let stop) = safe {
      let transfers = SafeStatePlan.transfers(of: stop)
      parts.safeWrites += SafeStatePlan.writes(transfers, path: "/dev/i2c-\(number)")
      let last = { part.simulated.flatMap { Self.last(of: $0, are: transfers) } }
      parts.addOutput(
        BenchOutput(
          name: "chip 0x\(String(chip.value, radix: 16)) on /dev/i2c-\(number)",
          isSafe: { part.simulated == nil || last() == true }, isDriving: { last() == false },
          makeSafe: { part.write(stop, at: $0) }), .inactive)
    }
    return part
  }

  /// Claims a resource that can have only one owner and that no other method of the bench claims, such as an input of a
  /// converter or a name that clients use.
  ///
  /// - Parameter key: the path in the file that errors name: `plants.sensors[0].channel`.
  public func claim(_ resource: ResourceClaim.Resource, key: String) {
    parts.claims.append(ResourceClaim(resource: resource, key: key))
  }

  /// Registers simulated buses that the system has made itself, if any, and further routes below `/api/sim`.
  public func simulates(_ buses: [SimulatedBus] = [], routes: [Route]) {
    for bus in buses { parts.addSimulated(bus) }
    parts.simulationRoutes += routes
  }

  /// Opens a serial line.
  ///
  /// - Parameters:
  ///   - baud: one of `LinuxSerialPort.baudRates`.
  ///   - safe: the bytes that make the connected device safe when no loop drives it; they are sent twice if the line
  ///     gives no acknowledgement.
  ///   - name: the name of the line under `/api/sim`; unless given it is `NAME-ttyAMA0`.
  public func serial(
    _ path: KeyPath<Wiring, String>, baud: Int, safe: SafeBytes, simulated name: String? = nil
  ) throws -> SerialPart {
    let device = try value(path)
    parts.claim(.serial(path: device), try key(path))
    let part = parts.hold(try opening(path) { try SerialPart(device, baud: baud, parts, called: name) })
    switch safe {
    case .bytes(let bytes):
      parts.safeWrites.append(.serial(path: device, baud: baud, bytes: bytes))
      addLine(device, .inactive) { part.write(bytes, at: $0) }
    case .none(let reason): addLine(device, .none(because: reason)) { _ in true }
    }
    return part
  }

  /// Opens a chip select of an SPI bus by the path of its device: `/dev/spidev0.0`.
  ///
  /// - Parameters:
  ///   - mode: the SPI mode of the chip, 0…3.
  ///   - hertz: the maximum clock rate of the bus, more than 0.
  ///   - safe: the reason why nothing has to be sent to the chip when no loop drives it.
  public func spi(
    _ path: KeyPath<Wiring, String>, mode: UInt8, hertz: UInt32 = 1_000_000, safe: SafeExchange
  ) throws -> SPIPart {
    let device = try value(path)
    parts.claim(.spi(path: device), try key(path))
    return parts.hold(try opening(path) { try SPIPart(device, mode: mode, hertz: hertz, parts) })
  }

  /// Opens a UDP port at the file's `network.bind_address`. Datagrams that arrive there need no token.
  ///
  /// - Parameters:
  ///   - port: the key of the port number; 0 takes any free port.
  ///   - offset: a number that is added to a port number other than 0, for several ports that share one key; their
  ///     simulated ends are distinguished by it. A sum above 65535 is reduced to 65535.
  public func datagrams(_ port: KeyPath<Wiring, UInt16>, plus offset: Int? = nil) throws -> DatagramPart {
    let number = try value(port)
    let wanted = number == 0 ? 0 : UInt16(clamping: Int(number) + (offset ?? 0))
    if wanted > 0 { parts.claim(.udp(port: wanted), try key(port)) }
    return parts.hold(try opening(port) { try parts.datagrams(wanted, offset.map { "-\($0)" }) })
  }

  /// Adds an output whose level cannot be read back.
  private func addLine(_ device: String, _ safe: SafeOutput, makeSafe: @escaping (TickInstant) -> Bool) {
    parts.addOutput(
      BenchOutput(name: device, isSafe: { true }, isDriving: { false }, isReadBack: false, makeSafe: makeSafe), safe)
  }

  /// Returns the loop of a twin, the simulated device at the ports. The result is empty if the ports are real or the
  /// bench only plans; `body` is not called then.
  ///
  /// - Parameters:
  ///   - name: the name of the loop, unique in the program: `fan.simulated`.
  ///   - rate: the rate of the loop.
  ///   - body: makes the twin from the simulated ends of the parts.
  public func twin<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, body: () -> Body
  ) -> [Loop] {
    guard case .simulated = parts.mode else { return [] }
    return [Loop(parts.at.loop(name), every: rate, counting: .injected(nil), body: body).unrecorded()]
  }

  /// Declares a fault of the simulation, which is set by `POST /api/sim/fault` or by `fault:` in a scenario.
  ///
  /// - Parameters:
  ///   - name: the name in lower-case words with dashes between them.
  ///   - meaning: a description in one sentence.
  /// - Returns: the switch that the twin reads in its ticks.
  public func fault(_ name: String, _ meaning: String) -> FaultSwitch {
    if parts.faults.contains(where: { $0.name == name }) {
      parts.flaws.append("two faults are called \(name): expected a name for each")
    }
    let box = parts.hold(FaultBox())
    let fault = box.value
    parts.faults.append(NamedFault(name: name, meaning: meaning) { fault.set($0) })
    return fault
  }

  /// Opens a part, and adds the name of its key to the error if opening fails.
  public func opening<Part>(_ path: PartialKeyPath<Wiring>, _ open: () throws -> Part) throws -> Part {
    let key = try key(path)
    do {
      return try open()
    } catch {
      throw BenchError(key: key, cause: error)
    }
  }

  /// Returns the path in the file of the key that sets a property, such as `kiln.i2c_bus` for `\.bus`, and `kiln.lamps[0].line` for `\.lamps[0].line`.
  func key(_ property: PartialKeyPath<Wiring>) throws(BenchError) -> String {
    let path = wiring.path(of: property) { $0.items == nil ? parts.path($0.name) : parts.listPath($0.name) }
    if let path { return path }
    let example = #"for index in bench.wiring.lamps.indices { try bench.output(\.lamps[index].line, …) }"#
    throw BenchError(
      key: parts.at.name,
      cause: Misdeclared(
        "no key sets \(property): expected a property with a Key, or one of an item that a list has: \(example)"))
  }

  /// Returns the value of a property. Throws if no key sets it, since errors could not name its place, or if a list has no such item.
  func value<Value>(_ property: KeyPath<Wiring, Value>) throws(BenchError) -> Value {
    _ = try key(property)
    return wiring[keyPath: property]
  }

  /// Returns whether the last writes to each register of the chips are those in these transfers, or `nil` if nothing has
  /// been written to the chips. A register that several of the transfers write to, as a board's motors may, is compared
  /// with as many of its last writes.
  private static func last(of bus: SimulatedI2CBus, are transfers: [I2CTransfer]) -> Bool? {
    let addresses = Set(transfers.map(\.address))
    let writes = bus.transactions().filter {
      $0.result == 0 && [.writeByte, .writeBlock, .plainWrite].contains($0.operation) && addresses.contains($0.address)
    }
    return writes.isEmpty
      ? nil
      : transfers.allSatisfy { transfer in
        func isSame(_ address: I2CAddress, _ register: UInt8) -> Bool {
          address == transfer.address && register == transfer.register
        }
        let wanted = transfers.filter { isSame($0.address, $0.register) }
        let last = writes.filter { isSame($0.address, $0.register) }.suffix(wanted.count)
        return last.count == wanted.count
          && zip(last, wanted).allSatisfy { last, wanted in
            last.bytes.count == wanted.bytes.count
              && (0..<wanted.bytes.count).allSatisfy { last.bytes[$0] == wanted.bytes[$0] }
          }
      }
  }
}
