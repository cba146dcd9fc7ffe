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

  @Test("lights and buzzer: all by 0x08, one by 0x09 with its number, the buzzer by 0x06")
  func lightsAndBuzzer() throws {
    let playback = PlaybackI2CBus([
      .writeBlock([255, 128, 7], to: raspbotAddress, register: 0x08),
      .writeBlock([13, 0, 0, 1], to: raspbotAddress, register: 0x09),
      .writeBlock([1], to: raspbotAddress, register: 0x06),
      .writeBlock([0], to: raspbotAddress, register: 0x06),
    ])
    var bus = playback.port()
    try RaspbotV2().light(LightColour(red: 255, green: 128, blue: 7), on: &bus)
    try RaspbotV2().light(13, LightColour(blue: 1), on: &bus)
    try RaspbotV2().switchBuzzer(isOn: true, on: &bus)
    try RaspbotV2().switchBuzzer(isOn: false, on: &bus)
    #expect(playback.isComplete)
  }

  @Test("line: bits 3…0 are X1…X4; a byte above 15 is no reading")
  func line() throws {
    func read(_ byte: UInt8) throws -> LineProbes? {
      let playback = PlaybackI2CBus([.readBlock([byte], from: raspbotAddress, register: 0x0A)])
      var bus = playback.port()
      return try RaspbotV2().line(on: &bus)
    }
    let probes = try #require(try read(0b1010))
    #expect(probes.x1 && !probes.x2 && probes.x3 && !probes.x4)
    #expect(try read(16) == nil && read(0xFF) == nil)
  }

  @Test("simulated: lights, buzzer and line sensor; a light that is none is ignored and counted")
  func simulatedFittings() throws {
    let simulator = RaspbotV2Simulator()
    let simulated = SimulatedI2CBus()
    simulated.attach(simulator.chip, at: raspbotAddress)
    var bus = simulated.port()
    try RaspbotV2().light(LightColour(red: 1, green: 2, blue: 3), on: &bus)
    try RaspbotV2().light(4, LightColour(), on: &bus)
    try RaspbotV2().switchBuzzer(isOn: true, on: &bus)
    var seen = simulator.vehicle.snapshot
    #expect(seen.lights[13] == LightColour(red: 1, green: 2, blue: 3) && seen.lights[4] == LightColour())
    #expect(seen.isBuzzing && seen.ignored == 0)
    var bytes = I2CBytes()
    for byte in [14, 9, 9, 9] as [UInt8] { bytes.append(byte) }
    try bus.writeBlock(bytes, to: raspbotAddress, register: 0x09)
    try RaspbotV2().switchBuzzer(isOn: false, on: &bus)
    seen = simulator.vehicle.snapshot
    #expect(seen.ignored == 1 && !seen.isBuzzing)
    #expect(try RaspbotV2().line(on: &bus) == LineProbes(byte: 15))
    simulator.vehicle.setLine(6)
    #expect(try RaspbotV2().line(on: &bus) == LineProbes(byte: 6))
  }

  @Test("distance: high, low and high byte; none if the high byte changes, at 0 and at ones")
  func distance() throws {
    func read(_ bytes: [UInt8]) throws -> Int? {
      let playback = PlaybackI2CBus(
        zip(bytes, [0x1B, 0x1A, 0x1B] as [UInt8]).map { .readBlock([$0], from: raspbotAddress, register: $1) })
      var bus = playback.port()
      let distance = try RaspbotV2().distanceAhead(on: &bus)
      #expect(playback.isComplete)
      return distance
    }
    #expect(try read([0x01, 0x2C, 0x01]) == 300)
    #expect(try read([0x00, 0x00, 0x01]) == nil, "255 mm became 256 mm in between")
    #expect(try read([0, 0, 0]) == nil)
    #expect(try read([0xFF, 0xFF, 0xFF]) == nil)
  }

  @Test("simulated: the distance sensor gives nothing until it is on, then the wall ahead, from where it stands")
  func simulatedDistance() throws {
    let simulator = RaspbotV2Simulator()
    let simulated = SimulatedI2CBus()
    simulated.attach(simulator.chip, at: raspbotAddress)
    var bus = simulated.port()
    simulator.vehicle.setWall(1.5)
    #expect(try RaspbotV2().distanceAhead(on: &bus) == nil)
    try RaspbotV2().switchDistanceSensor(isOn: true, on: &bus)
    #expect(try RaspbotV2().distanceAhead(on: &bus) == 1_500)
    simulator.vehicle.place(.init(x: 1, y: 0, heading: 1.0471975511965976))
    #expect(try RaspbotV2().distanceAhead(on: &bus).map { abs($0 - 1_000) <= 1 } == true, "aslant, twice as far")
    simulator.vehicle.place(.init(x: 1, y: 0, heading: 3))
    #expect(try RaspbotV2().distanceAhead(on: &bus) == 4_000, "behind it")
    simulator.vehicle.setWall(nil)
    #expect(try RaspbotV2().distanceAhead(on: &bus) == 4_000)
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
