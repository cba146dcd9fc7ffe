import Buses
import Testing

@testable import Devices

@Suite struct RaspbotV2Tests {
  @Test("driving: four writes, motors 0 and 1 left, 2 and 3 right, direction 0 forward and 1 back")
  func drive() throws {
    let playback = PlaybackI2CBus([
      .writeBlock([0, 0, 255], to: raspbotAddress, register: 0x01),
      .writeBlock([1, 0, 255], to: raspbotAddress, register: 0x01),
      .writeBlock([2, 1, 128], to: raspbotAddress, register: 0x01),
      .writeBlock([3, 1, 128], to: raspbotAddress, register: 0x01),
    ])
    var bus = playback.port()
    try RaspbotV2().drive(speeds(100, -50), on: &bus)
    #expect(playback.isComplete)
  }

  @Test("driving: the second motor is not acknowledged, the drive ends there")
  func driveFails() {
    let playback = PlaybackI2CBus([
      .writeBlock([0, 0, 255], to: raspbotAddress, register: 0x01),
      .writeBlock([1, 0, 255], to: raspbotAddress, register: 0x01, errno: 121),
    ])
    var bus = playback.port()
    let failure = error { () throws(I2CError) in try RaspbotV2().drive(speeds(100, 100), on: &bus) }
    #expect(failure == .noAcknowledge(address: raspbotAddress, register: 0x01))
    #expect(playback.isComplete)
  }

  @Test("stop: one motor is not acknowledged, the others are still stopped, and the stop fails", arguments: 0..<4)
  func stopTriesAll(failing: Int) {
    let playback = PlaybackI2CBus(
      (0..<4).map { motor in
        .writeBlock([UInt8(motor), 0, 0], to: raspbotAddress, register: 0x01, errno: motor == failing ? 121 : 0)
      })
    var bus = playback.port()
    let failure = error { () throws(I2CError) in try RaspbotV2().stop(on: &bus) }
    #expect(failure == .noAcknowledge(address: raspbotAddress, register: 0x01))
    #expect(playback.isComplete)
  }

  @Test("stop: the bus is stuck, no further motor is tried")
  func stopOnStuckBus() {
    let playback = PlaybackI2CBus([.writeBlock([0, 0, 0], to: raspbotAddress, register: 0x01, errno: 110)])
    var bus = playback.port(attempts: 3)
    let failure = error { () throws(I2CError) in try RaspbotV2().stop(on: &bus) }
    #expect(failure == .timedOut(address: raspbotAddress, register: 0x01))
    #expect(playback.isComplete)
  }

  @Test("servos: pan to 180 degrees, tilt only to 110")
  func servos() throws {
    let playback = PlaybackI2CBus([
      .writeBlock([1, 180], to: raspbotAddress, register: 0x02),
      .writeBlock([2, 110], to: raspbotAddress, register: 0x02),
    ])
    var bus = playback.port()
    try RaspbotV2().turn(.pan, degrees: 181, on: &bus)
    try RaspbotV2().turn(.tilt, degrees: 181, on: &bus)
    #expect(playback.isComplete)
  }

  @Test("simulated: direction byte 0 drives forward, a side moves at the mean of its motors, stop rests all")
  func simulator() throws {
    let simulator = RaspbotV2Simulator()
    let simulated = SimulatedI2CBus()
    simulated.attach(simulator.chip, at: raspbotAddress)
    var bus = simulated.port()
    try RaspbotV2().drive(speeds(100, -100), on: &bus)
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds(left: 0.6, right: -0.6))

    var one = I2CBytes()
    for byte in [0, 0, 0] as [UInt8] { one.append(byte) }
    try bus.writeBlock(one, to: raspbotAddress, register: 0x01)
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds(left: 0.3, right: -0.6))

    try RaspbotV2().stop(on: &bus)
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds())
  }

  @Test("simulated: malformed writes are acknowledged, counted, without effect")
  func malformed() throws {
    let simulator = RaspbotV2Simulator()
    let simulated = SimulatedI2CBus()
    simulated.attach(simulator.chip, at: raspbotAddress)
    var bus = simulated.port()
    for bytes in [[4, 0, 255], [0, 2, 255], [0, 0], [0, 0, 255, 0]] as [[UInt8]] {
      var block = I2CBytes()
      for byte in bytes { block.append(byte) }
      try bus.writeBlock(block, to: raspbotAddress, register: 0x01)
    }
    #expect(simulator.vehicle.snapshot.ignored == 4 && simulator.vehicle.snapshot.commands == 0)
  }
}
