import Buses
import BusesLinux
import Service
import Tactus
import TactusGuard

/// Where a system gets its ports: from the hardware, or from a simulation that knows them by the same names.
///
/// The daemon makes a system twice. The first time on a bench that only plans: its ports lead nowhere, and the bench notes what is
/// claimed and what the guard must write. The second time, when the file is whole and the guard's list known, on the bench that opens the ports.
/// So nobody keeps that list by hand, and `check` and `doctor` know it without touching hardware. What it has handed out lives as long as the
/// system: a loop need not keep the parts of its ports.
public final class Bench<Wiring: Settings> {
  /// The section's keys that hold from the start to the end. Its outputs and inputs are named by key path: `bench.pwm(\.motor, …)`.
  public let wiring: Wiring
  let parts: BenchParts

  init(_ wiring: Wiring, _ parts: BenchParts) { (self.wiring, self.parts) = (wiring, parts) }

  /// Ticks missed in a row after which the safe state is entered, as the file says: of a system that adopts `ShapesLane` with `safeStateAfter:`, which has
  /// that key.
  public var safeStateAfter: Int {
    let count = parts.lane.safeStateAfter
    precondition(count > 0, "\(parts.system): its lane has no key safe_state_after")
    return count
  }

  /// A PWM output, off until the loop sets it.
  ///
  /// - Parameter period: more than 0.
  public func pwm(
    _ output: KeyPath<Wiring, PWMOutputName>, period: Nanoseconds, safe: SafeOutput
  ) throws -> PWMPart {
    let name = wiring[keyPath: output]
    parts.claim(.pwm(path: "\(name)"), key(output))
    if case .inactive = safe { parts.safeWrites.append(.pwm(path: "\(name)")) }
    let part = parts.hold(
      try opening(output) { try PWMPart(name, period: period, isReal: parts.mode == .real) })
    parts.addOutput(
      BenchOutput(
        name: "\(name)", isSafe: { part.isOff }, isDriving: { !part.isOff }, makeSafe: { part.turnOff(at: $0) },
        refuse: { part.simulated?.fail(errno: $0 ? 5 : 0) }, duty: { part.simulated?.duty.ratio() ?? 0 }), safe)
    return part
  }

  /// An output line, inactive until the loop sets it.
  public func output(
    _ line: KeyPath<Wiring, GPIOLineName>, isActiveLow: Bool = false, safe: SafeOutput
  ) throws -> OutputPart {
    let gpio = GPIOLine(wiring[keyPath: line], isActiveLow: isActiveLow)
    parts.claims.append(.gpio(gpio.name, key: parts.path(key(line))))
    let part = parts.hold(try opening(line) { try OutputPart(gpio, parts) })
    if case .inactive = safe {
      parts.safeLines.append(gpio)
      if let held = part.held { parts.heldLines.append(held) }
    }
    parts.addOutput(
      BenchOutput(
        name: "\(gpio.name)", isSafe: { part.isInactive }, isDriving: { part.isActive },
        makeSafe: { part.turnOff(at: $0) }), safe)
    return part
  }

  /// An input line whose changes are wanted.
  ///
  /// - Parameters:
  ///   - edges: which changes are reported.
  ///   - pull: the chip's resistor; unless given it stays as it is.
  ///   - debounce: how long a level must have lasted to count; 0 s or more and less than 4,000 s.
  public func edges(
    _ line: KeyPath<Wiring, GPIOLineName>, edges: GPIOEdges = .rising, pull: GPIOInput.Pull = .asIs,
    debounce: Nanoseconds = .zero
  ) throws -> InputPart {
    let name = wiring[keyPath: line]
    parts.claims.append(.gpio(name, key: parts.path(key(line))))
    let input = GPIOInput(name, edges: edges, debounce: debounce, pull: pull)
    return parts.hold(try opening(line) { try InputPart(input, parts) })
  }

  /// A chip on an I2C bus, `/dev/i2c-N` of the key's number.
  ///
  /// - Parameters:
  ///   - safe: what must be written to it when nobody drives it; of a chip that is only read, that it is.
  ///   - operations: what its driver asks of the adapter, which is checked when it is opened.
  public func i2c(
    _ bus: KeyPath<Wiring, Int>, chip: I2CAddress, safe: SafeTransfers,
    operations: [I2CTransfer.Operation] = [.writeByte, .writeBlock, .readBlock]
  ) throws -> I2CPart {
    let number = wiring[keyPath: bus]
    parts.claim(.i2c(bus: number, address: chip.value), key(bus))
    let real = try opening(bus) { parts.mode == .real ? try parts.realBus(number, operations) : nil }
    let part = parts.hold(I2CPart(real: real, simulated: parts.mode == .real ? nil : parts.simulatedBus(number)))
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

  /// A serial line.
  ///
  /// - Parameters:
  ///   - baud: one of `LinuxSerialPort.baudRates`.
  ///   - safe: what is written to it when nobody drives what hangs on it. Twice, if a line does not say whether it arrived whole.
  public func serial(_ path: KeyPath<Wiring, String>, baud: Int, safe: SafeBytes) throws -> SerialPart {
    let device = wiring[keyPath: path]
    parts.claim(.serial(path: device), key(path))
    let part = parts.hold(try opening(path) { try SerialPart(device, baud: baud, parts) })
    switch safe {
    case .bytes(let bytes):
      parts.safeWrites.append(.serial(path: device, baud: baud, bytes: bytes))
      addLine(device, .inactive) { part.write(bytes, at: $0) }
    case .none(let reason): addLine(device, .none(because: reason)) { _ in true }
    }
    return part
  }

  /// A chip select of an SPI bus, by its device: `/dev/spidev0.0`.
  ///
  /// - Parameters:
  ///   - mode: 0…3, of the chip.
  ///   - hertz: clock of the bus at most, more than 0.
  ///   - safe: why nothing has to be sent to the chip when nobody drives it.
  public func spi(
    _ path: KeyPath<Wiring, String>, mode: UInt8, hertz: UInt32 = 1_000_000, safe: SafeExchange
  ) throws -> SPIPart {
    let device = wiring[keyPath: path]
    parts.claim(.spi(path: device), key(path))
    return parts.hold(try opening(path) { try SPIPart(device, mode: mode, hertz: hertz, parts) })
  }

  /// A UDP port, at the file's `network.bind_address`: what is heard there needs no token.
  ///
  /// - Parameters:
  ///   - port: the key of its number; 0 takes any free one.
  ///   - offset: added to a number that is not 0, for several ports behind one key; a sum beyond 65535 is that.
  public func datagrams(_ port: KeyPath<Wiring, UInt16>, plus offset: Int = 0) throws -> DatagramPart {
    let number = wiring[keyPath: port]
    let wanted = number == 0 ? 0 : UInt16(clamping: Int(number) + offset)
    if wanted > 0 { parts.claim(.udp(port: wanted), key(port)) }
    return parts.hold(try opening(port) { try parts.datagrams(wanted) })
  }

  /// What a line was told nobody can read back.
  private func addLine(_ device: String, _ safe: SafeOutput, makeSafe: @escaping (TickInstant) -> Bool) {
    parts.addOutput(
      BenchOutput(name: device, isSafe: { true }, isDriving: { false }, makeSafe: makeSafe), safe)
  }

  /// The loop of a twin: what hangs on the ports in a simulation. Empty where the ports are real; `body` is not called there, nor on a
  /// bench that only plans.
  ///
  /// - Parameters:
  ///   - name: unique in the program: `fan.simulated`.
  ///   - rate: how often it is released.
  ///   - body: makes the twin of the parts' simulated ends.
  public func twin<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, body: () -> Body
  ) -> [Loop] {
    guard case .simulated = parts.mode else { return [] }
    return [Loop(parts.at.loop(name), every: rate, counting: .injected(nil), body: body)]
  }

  /// Something that can be made to go wrong in the simulation: `POST /api/sim/fault`, `fault:` in a scenario.
  ///
  /// - Parameters:
  ///   - name: lower-case words with dashes between them.
  ///   - meaning: one sentence.
  /// - Returns: what the twin looks at in its ticks.
  public func fault(_ name: String, _ meaning: String) -> FaultSwitch {
    precondition(!parts.faults.contains { $0.name == name }, "two faults are called \(name)")
    let box = parts.hold(FaultBox())
    let fault = box.value
    parts.faults.append(NamedFault(name: name, meaning: meaning) { fault.set($0) })
    return fault
  }

  /// Opens something, and says of which key it is if that fails.
  private func opening<Part>(_ path: PartialKeyPath<Wiring>, _ open: () throws -> Part) throws -> Part {
    do {
      return try open()
    } catch {
      throw BenchError(key: parts.path(key(path)), reason: "\(error)")
    }
  }

  /// `i2c_bus` of `\.bus`.
  private func key(_ path: PartialKeyPath<Wiring>) -> String { Wiring.key(of: path).name }

  /// Whether the last write to each register of these is what these write, or `nil` if nothing has been written to their chips.
  private static func last(of bus: SimulatedI2CBus, are transfers: [I2CTransfer]) -> Bool? {
    let addresses = Set(transfers.map(\.address))
    let writes = bus.transactions().filter {
      $0.result == 0 && [.writeByte, .writeBlock].contains($0.operation) && addresses.contains($0.address)
    }
    return writes.isEmpty
      ? nil
      : transfers.allSatisfy { wanted in
        let last = writes.last { $0.address == wanted.address && $0.register == wanted.register }
        guard let last, last.bytes.count == wanted.bytes.count else { return false }
        return (0..<wanted.bytes.count).allSatisfy { last.bytes[$0] == wanted.bytes[$0] }
      }
  }
}
