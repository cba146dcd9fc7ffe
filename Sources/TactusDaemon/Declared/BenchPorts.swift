import Buses
import BusesLinux
import Tactus

/// A PWM output that a bench has opened. The bench keeps it.
public final class PWMPart {
  let simulated: SimulatedPWMOutput?
  private let real: LinuxPWMOutput?

  init(_ name: PWMOutputName, period: Nanoseconds, isReal: Bool) throws(BusOpenError) {
    real = isReal ? try LinuxPWMOutput(chip: name.chip, channel: name.channel, period: period) : nil
    simulated = isReal ? nil : SimulatedPWMOutput(period: period)
  }

  /// For the one loop that drives it.
  public func port() -> PWMOutput { real?.port() ?? simulated!.port() }

  /// What a twin is driven by. Of a real output it traps: there is no twin.
  public var duty: SimulatedPWMDuty { simulated!.duty }

  /// As it reads back.
  var isOff: Bool {
    if let simulated { return simulated.active == .zero }
    let duty = real.flatMap { YAMLFile.contents(of: "\($0.path)/duty_cycle") }
    return duty?.prefix { $0 != "\n" } == "0"
  }

  /// Returns whether it took that.
  func turnOff(at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    do throws(PWMError) {
      try port.set(active: .zero)
      return true
    } catch {
      return false
    }
  }
}

/// An output line that a bench has opened. The bench keeps it.
public final class OutputPart {
  let held: LinuxGPIOLines?
  private let simulated: SimulatedGPIOLines?

  init(_ line: GPIOLine, _ parts: BenchParts) throws {
    if case .real = parts.mode {
      (held, simulated) = (try HeaderLines.request([line]), nil)
    } else {
      var line = line
      line.name = parts.simulated(line.name)
      (held, simulated) = (nil, try parts.bank.outputs([line]))
    }
  }

  /// For the one loop that drives it.
  public func port() -> GPIOLines { held?.port() ?? simulated!.port() }

  /// What a twin is switched by, for its ticks. Of a real line it traps: there is no twin.
  public var level: SimulatedGPIOLevel { simulated!.level() }

  /// As it reads back.
  var isInactive: Bool {
    var port = port()
    return (try? port.read()) == 0
  }

  /// Whether a simulated line is known to be active. One whose chip is gone keeps its level and cannot be read.
  var isActive: Bool { simulated.map { $0.level().isActive() } ?? false }

  /// Returns whether it took that.
  func turnOff(at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    do throws(GPIOError) {
      try port.turnAllOff()
      return true
    } catch {
      return false
    }
  }
}

/// An input line that a bench has opened. The bench keeps it.
public final class InputPart {
  private let real: LinuxGPIOEvents?
  private let simulated: SimulatedGPIOEvents?

  init(_ input: GPIOInput, _ parts: BenchParts) throws(GPIORequestError) {
    if case .real = parts.mode {
      (real, simulated) = (try LinuxGPIOEvents([input]), nil)
      return
    }
    var input = input
    input.line.name = parts.simulated(input.line.name)
    (real, simulated) = (nil, try parts.bank.events([input]))
  }

  /// For the one loop that reads it.
  public func port() -> GPIOEvents { real?.port() ?? simulated!.port() }

  /// What releases the loop when the line changes; empty in a simulation, where the loop finds changes in its period.
  public var loopInputs: [LoopInput] { real.map { [.descriptor($0.descriptor)] } ?? [] }

  /// What a twin moves the line by. Of a real line it traps: there is no twin.
  public func driver() -> SimulatedGPIODriver { simulated!.driver() }
}

/// A chip's bus that a bench has opened. The bench keeps it.
public final class I2CPart {
  let real: LinuxI2CBus?
  let simulated: SimulatedI2CBus?

  init(real: LinuxI2CBus?, simulated: SimulatedI2CBus?) { (self.real, self.simulated) = (real, simulated) }

  /// Puts a twin's chip on the bus. Of a real bus it traps: there is no twin.
  public func attach(_ chip: SimulatedI2CChip, at address: I2CAddress) { simulated!.attach(chip, at: address) }

  /// For loops of the system's lane.
  public func port() -> I2CBus { real?.port() ?? simulated!.port() }

  /// Returns whether the chip took all of it.
  func write(_ stop: (inout I2CBus) throws(I2CError) -> Void, at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    do throws(I2CError) {
      try stop(&port)
      return true
    } catch {
      return false
    }
  }
}

/// A serial line that a bench has opened. The bench keeps it.
public final class SerialPart {
  private let real: LinuxSerialPort?
  private let simulated: SimulatedSerialPort?

  init(_ path: String, baud: Int, _ parts: BenchParts) throws(BusOpenError) {
    // The guard opens it, too.
    real = parts.mode == .real ? try LinuxSerialPort(path: path, baudRate: baud, exclusive: false) : nil
    simulated = parts.mode == .real ? nil : parts.simulatedSerialPort(path)
  }

  /// For the one loop that owns it.
  public func port() -> SerialPort { real?.port() ?? simulated!.port() }

  /// Returns whether it took them.
  func write(_ bytes: [UInt8], at now: TickInstant) -> Bool {
    var port = port()
    port.now = now
    return bytes.withUnsafeBytes { bytes in
      do throws(SerialError) {
        try port.write(bytes)
        return true
      } catch {
        return false
      }
    }
  }

  /// Puts a twin's device at the other end. Of a real line it traps: there is no twin.
  public func attach(_ device: SimulatedSerialDevice) { simulated!.attach(device) }
}

/// One chip select of an SPI bus that a bench has opened. The bench keeps it.
public final class SPIPart {
  private let real: LinuxSPIPort?
  private let simulated: SimulatedSPIBus?

  init(_ path: String, mode: UInt8, hertz: UInt32, _ parts: BenchParts) throws(BusOpenError) {
    real = parts.mode == .real ? try LinuxSPIPort(path: path, mode: mode, hertz: hertz) : nil
    simulated = parts.mode == .real ? nil : parts.simulatedSPIBus(path)
  }

  /// For the one loop that owns it.
  public func port() -> SPIPort { real?.port() ?? simulated!.port() }

  /// Puts a twin's chip on the bus. Of a real bus it traps: there is no twin.
  public func attach(_ chip: SimulatedSPIChip) { simulated!.attach(chip) }
}
