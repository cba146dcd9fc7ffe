import Buses
import BusesLinux
import Devices
import Tactus

/// A PWM output that a bench has opened. The bench keeps it alive.
public final class PWMPart {
  let simulated: SimulatedPWMOutput?
  private let real: LinuxPWMOutput?

  init(_ name: PWMOutputName, period: Nanoseconds, isReal: Bool) throws(BusOpenError) {
    real = isReal ? try LinuxPWMOutput(chip: name.chip, channel: name.channel, period: period) : nil
    simulated = isReal ? nil : SimulatedPWMOutput(period: period)
  }

  /// Returns the port for the loop that drives the output.
  public func port() -> PWMOutput { real?.port() ?? simulated!.port() }

  /// The simulated duty, which drives a twin. The property traps for a real output, because that has no twin.
  public var duty: SimulatedPWMDuty { simulated!.duty }

  /// Whether the output is off, as read back.
  var isOff: Bool {
    if let simulated { return simulated.active == .zero }
    let duty = real.flatMap { YAMLFile.contents(of: "\($0.path)/duty_cycle") }
    return duty?.prefix { $0 != "\n" } == "0"
  }

  /// Turns the output off. Returns whether the output accepted the write.
  func turnOff(at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    return (try? port.set(active: .zero)) != nil
  }
}

/// An output line, or several that one write sets, that a bench has opened. The bench keeps it alive.
public final class OutputPart {
  let held: LinuxGPIOLines?
  private let simulated: SimulatedGPIOLines?
  private let count: Int

  init(_ lines: [GPIOLine], _ parts: BenchParts) throws {
    count = lines.count
    if case .real = parts.mode {
      (held, simulated) = (try HeaderLines.request(lines), nil)
    } else {
      let names = parts.simulated(lines.map(\.name))
      let simulated = zip(names, lines).map { GPIOLine($0, isActiveLow: $1.isActiveLow) }
      (held, self.simulated) = (nil, try parts.bank.outputs(simulated))
    }
  }

  /// Returns the port for the loop that drives the lines.
  public func port() -> GPIOLines { held?.port() ?? simulated!.port() }

  /// The simulated level of the first line, which a twin reads in its ticks. The property traps for a real line, because
  /// that has no twin.
  public var level: SimulatedGPIOLevel { simulated!.level() }

  /// The simulated level of each line, in the order of the request, which a twin reads in its ticks. The property traps for real lines,
  /// because those have no twin.
  public var levels: [SimulatedGPIOLevel] { (0..<count).map { simulated!.level($0) } }

  /// Whether every line is inactive, as read back.
  var isInactive: Bool {
    var port = port()
    return (try? port.read()) == 0
  }

  /// Whether a simulated line is known to be active. If the chip of the lines is gone, they keep their levels but cannot
  /// be read.
  var isActive: Bool { simulated.map { lines in (0..<count).contains { lines.level($0).isActive() } } ?? false }

  /// Turns the lines off. Returns whether they accepted the write.
  func turnOff(at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    return (try? port.turnAllOff()) != nil
  }
}

/// An input line that a bench has opened. The bench keeps it alive.
public final class InputPart {
  private let real: LinuxGPIOEvents?
  private let simulated: SimulatedGPIOEvents?

  init(_ input: GPIOInput, _ parts: BenchParts) throws(GPIORequestError) {
    if case .real = parts.mode {
      (real, simulated) = (try LinuxGPIOEvents([input]), nil)
      return
    }
    var input = input
    input.line.name = parts.simulated([input.line.name])[0]
    (real, simulated) = (nil, try parts.bank.events([input]))
  }

  /// Returns the port for the loop that reads the line.
  public func port() -> GPIOEvents { real?.port() ?? simulated!.port() }

  /// The input that releases the loop when the line changes. It is empty in a simulation, where the loop notices
  /// changes in its next period.
  public var loopInputs: [LoopInput] { real.map { [.descriptor($0.descriptor)] } ?? [] }

  /// Returns the driver by which a twin sets the line. The function traps for a real line, because that has no twin.
  public func driver() -> SimulatedGPIODriver { simulated!.driver() }
}

/// The bus of a chip that a bench has opened. The bench keeps it alive.
public final class I2CPart {
  let real: LinuxI2CBus?
  let simulated: SimulatedI2CBus?
  private let number: Int
  private unowned let parts: BenchParts

  init(_ number: Int, real: LinuxI2CBus?, simulated: SimulatedI2CBus?, _ parts: BenchParts) {
    (self.number, self.real, self.simulated, self.parts) = (number, real, simulated, parts)
  }

  /// Attaches a twin's chip to the bus, unless the bus is real.
  public func attach(_ chip: SimulatedI2CChip, at address: I2CAddress) { simulated?.attach(chip, at: address) }

  /// Attaches a converter to the bus. `/api/sim` can override the converter's inputs, which then return to their
  /// present values. A real bus is left as it is.
  public func attach(_ converter: ADS1115Simulator, at address: I2CAddress) {
    attach(converter.chip, at: address)
    parts.note(converter, at: address, on: number)
  }

  /// Returns a port for the loops of the system's lane.
  public func port() -> I2CBus { real?.port() ?? simulated!.port() }

  /// Writes to the chip. Returns whether the chip acknowledged all transfers.
  func write(_ stop: (inout I2CBus) throws(I2CError) -> Void, at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    return (try? stop(&port)) != nil
  }
}

/// A serial line that a bench has opened. The bench keeps it alive.
public final class SerialPart {
  private let real: LinuxSerialPort?
  private let simulated: SimulatedSerialPort?

  init(_ path: String, baud: Int, _ parts: BenchParts, called name: String?) throws(BusOpenError) {
    // The line is not exclusive, since the guard opens it, too.
    real = parts.mode == .real ? try LinuxSerialPort(path: path, baudRate: baud, exclusive: false) : nil
    simulated = parts.mode == .real ? nil : parts.simulatedSerialPort(path, called: name)
  }

  /// Returns the port for the loop that owns the line.
  public func port() -> SerialPort { real?.port() ?? simulated!.port() }

  /// Writes bytes. Returns whether the line accepted all of them.
  func write(_ bytes: [UInt8], at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    return bytes.withUnsafeBytes { (try? port.write($0)) != nil }
  }

  /// Attaches a twin's device to the other end of the line, unless the line is real.
  public func attach(_ device: SimulatedSerialDevice) { simulated?.attach(device) }
}

/// A chip select of an SPI bus that a bench has opened. The bench keeps it alive.
public final class SPIPart {
  private let real: LinuxSPIPort?
  private let simulated: SimulatedSPIBus?

  init(_ path: String, mode: UInt8, hertz: UInt32, _ parts: BenchParts) throws(BusOpenError) {
    real = parts.mode == .real ? try LinuxSPIPort(path: path, mode: mode, hertz: hertz) : nil
    simulated = parts.mode == .real ? nil : parts.simulatedSPIBus(path)
  }

  /// Returns the port for the loop that owns the chip select.
  public func port() -> SPIPort { real?.port() ?? simulated!.port() }

  /// Attaches a twin's chip to the bus, unless the bus is real.
  public func attach(_ chip: SimulatedSPIChip) { simulated?.attach(chip) }
}
