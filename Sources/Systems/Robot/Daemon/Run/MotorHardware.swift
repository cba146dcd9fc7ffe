import Buses
import BusesLinux
import Devices
import Robot
import TactusDaemon
import Wire

/// The motors of a configuration, real or simulated, and what owns their buses. Must outlive the loop that drives them.
final class MotorHardware {
  /// The robot that the board drives; nil when the board is real.
  let simulated: SimulatedVehicle?
  /// What faults can be injected into; nil when the board is real or on the other kind of line.
  let simulatedBus: SimulatedI2CBus?
  let simulatedLine: SimulatedSerialPort?
  private let owners: [AnyObject]
  private let makeMotors: () -> Motors

  /// Opens the bus or line, or makes a simulated one. Nothing is written yet.
  init(_ motors: Configuration.Motors, simulate: Bool, seed: UInt64 = 1) throws(BusOpenError) {
    let inversion = WheelInversion(left: motors.invertLeft, right: motors.invertRight)
    let simulate = simulate || motors.backend == .sim
    switch motors.backend {
    case .ybPcbCar, .sim:
      let board = motors.ybPcbCar
      let simulator = simulate ? YBPcbCarSimulator(acceptsLegacyRegister: motors.legacyRegister) : nil
      let bus = try I2CHardware(motors, chip: simulator?.chip, seed: seed)
      makeMotors = { Motors(board, on: bus.port(), inversion: inversion) }
      (owners, simulated) = ([bus], simulator?.vehicle)
      (simulatedBus, simulatedLine) = (bus.simulated, nil)
    case .raspbotV2:
      let board = motors.raspbotV2
      let simulator = simulate ? RaspbotV2Simulator() : nil
      let bus = try I2CHardware(motors, chip: simulator?.chip, seed: seed)
      makeMotors = { Motors(board, on: bus.port(), inversion: inversion) }
      (owners, simulated) = ([bus], simulator?.vehicle)
      (simulatedBus, simulatedLine) = (bus.simulated, nil)
    case .xgoRider:
      let board = XGORider()
      if simulate {
        let simulator = XGORiderSimulator()
        let line = SimulatedSerialPort(clock: .monotonic)
        line.attach(simulator.device)
        makeMotors = { Motors(board, on: line.port(), inversion: inversion) }
        (owners, simulated) = ([line], simulator.vehicle)
        (simulatedBus, simulatedLine) = (nil, line)
      } else {
        // Shared with the guard process, which has its own descriptor.
        let line = try LinuxSerialPort(path: motors.serialDevice, baudRate: 115200, exclusive: false)
        makeMotors = { Motors(board, on: line.port(), inversion: inversion) }
        (owners, simulated) = ([line], nil)
        (simulatedBus, simulatedLine) = (nil, nil)
      }
    }
  }

  /// For the one loop that drives them.
  func motors() -> Motors { makeMotors() }
}

/// An I2C adapter of the kernel, or a simulated bus with one board on it.
private final class I2CHardware {
  private let real: LinuxI2CBus?
  let simulated: SimulatedI2CBus?

  init(_ motors: Configuration.Motors, chip: SimulatedI2CChip?, seed: UInt64) throws(BusOpenError) {
    if let chip {
      let bus = SimulatedI2CBus(seed: seed, clock: .monotonic)
      bus.attach(chip, at: motors.address)
      (real, simulated) = (nil, bus)
    } else {
      let bus = try LinuxI2CBus(number: motors.i2cBus, operations: [.writeByte, .writeBlock])
      try bus.claim(motors.address)
      (real, simulated) = (bus, nil)
    }
  }

  func port() -> I2CBus { real?.port() ?? simulated!.port() }
}

extension Configuration.Motors {
  var address: I2CAddress {
    guard let address = I2CAddress(i2cAddress) else { preconditionFailure("the table allows 0x08…0x77 only") }
    return address
  }

  var ybPcbCar: YBPcbCar { YBPcbCar(address: address, dutyScale: dutyScale, legacyRegister: legacyRegister) }

  var raspbotV2: RaspbotV2 { RaspbotV2(address: address, dutyScale: dutyScale) }

  private var dutyScale: DutyScale { DutyScale(maxDuty: maxDuty, minDuty: minDuty) }
}
