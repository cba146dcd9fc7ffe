import Buses
import Foundation
import Testing
import Wire

@testable import Devices

@Suite struct YBPcbCarTests {
  static let run = [UInt8]([1, 0, 1, 0])

  @Test(
    "driving: direction 1 is forward, 0 is back, left wheel first",
    arguments: [
      (speeds(100, 100), [1, 255, 1, 255] as [UInt8]), (speeds(-100, 50), [0, 255, 1, 128]),
      (speeds(0, 0), [1, 0, 1, 0]), (speeds(20, -20), [1, 51, 0, 51]),
    ])
  func drive(speeds: WheelSpeeds, bytes: [UInt8]) throws {
    let playback = PlaybackI2CBus([.writeBlock(bytes, to: carAddress, register: 0x01)])
    var bus = playback.port()
    try YBPcbCar().drive(speeds, on: &bus)
    #expect(playback.isComplete)
  }

  @Test("legacy register: 0x00 with magnitudes 0…100, whatever the duty scale")
  func legacy() throws {
    let playback = PlaybackI2CBus([.writeBlock([0, 60, 1, 100], to: carAddress, register: 0x00)])
    var bus = playback.port()
    try YBPcbCar(dutyScale: DutyScale(maxDuty: 80), legacyRegister: true).drive(speeds(-60, 140), on: &bus)
    #expect(playback.isComplete)
  }

  @Test(
    "legacy register: fractions of a percent are cut off, as the original script does",
    arguments: [
      (33.7, -66.99, [1, 33, 0, 66]), (99.999, 0.4, [1, 99, 1, 0]), (-0.5, -1, [0, 0, 0, 1]),
      (.nan, 100.9, [1, 0, 1, 100]),
    ] as [(Double, Double, [UInt8])])
  func legacyTruncates(left: Double, right: Double, bytes: [UInt8]) throws {
    let playback = PlaybackI2CBus([.writeBlock(bytes, to: carAddress, register: 0x00)])
    var bus = playback.port()
    try YBPcbCar(legacyRegister: true).drive(speeds(left, right), on: &bus)
    #expect(playback.isComplete)
  }

  @Test("stop: the stop register, then a run at zero")
  func stop() throws {
    let playback = PlaybackI2CBus([
      .writeByte(0, to: carAddress, register: 0x02), .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x01),
    ])
    var bus = playback.port()
    try YBPcbCar().stop(on: &bus)
    #expect(playback.isComplete)
  }

  @Test("stop with the legacy register: that one is zeroed too")
  func stopLegacy() throws {
    let playback = PlaybackI2CBus([
      .writeByte(0, to: carAddress, register: 0x02), .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x01),
      .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x00),
    ])
    var bus = playback.port()
    try YBPcbCar(legacyRegister: true).stop(on: &bus)
    #expect(playback.isComplete)
  }

  @Test(
    "stop: the first write is not acknowledged, the second is still made, and the stop fails", arguments: [121, 11, 5])
  func stopTriesBoth(errno: Int32) {
    let playback = PlaybackI2CBus([
      .writeByte(0, to: carAddress, register: 0x02, errno: errno),
      .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x01),
    ])
    var bus = playback.port()
    let failure = error { () throws(I2CError) in try YBPcbCar().stop(on: &bus) }
    #expect(failure != nil)
    #expect(playback.isComplete)
  }

  @Test("stop: the second write fails, the stop fails with its error")
  func stopSecondFails() {
    let playback = PlaybackI2CBus([
      .writeByte(0, to: carAddress, register: 0x02),
      .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x01, errno: 121),
    ])
    var bus = playback.port()
    let failure = error { () throws(I2CError) in try YBPcbCar().stop(on: &bus) }
    #expect(failure == .noAcknowledge(address: carAddress, register: 0x01))
    #expect(playback.isComplete)
  }

  @Test("stop: the bus is stuck, so the second write is not made")
  func stopOnStuckBus() {
    let playback = PlaybackI2CBus([.writeByte(0, to: carAddress, register: 0x02, errno: 110)])
    var bus = playback.port(attempts: 3)
    let failure = error { () throws(I2CError) in try YBPcbCar(legacyRegister: true).stop(on: &bus) }
    #expect(failure == .timedOut(address: carAddress, register: 0x02))
    #expect(playback.isComplete)
  }

  @Test("legacy stop: every register refused, all are tried, the first error is told")
  func legacyStopAllRefused() {
    let playback = PlaybackI2CBus([
      .writeByte(0, to: carAddress, register: 0x02, errno: 121),
      .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x01, errno: 121),
      .writeBlock([1, 0, 1, 0], to: carAddress, register: 0x00, errno: 121),
    ])
    var bus = playback.port()
    let failure = error { () throws(I2CError) in try YBPcbCar(legacyRegister: true).stop(on: &bus) }
    #expect(failure == .noAcknowledge(address: carAddress, register: 0x02))
    #expect(playback.isComplete)
  }

  @Test("drive: not acknowledged, the error names the register")
  func driveFails() {
    let playback = PlaybackI2CBus([.writeBlock([1, 255, 1, 255], to: carAddress, register: 0x01, errno: 121)])
    var bus = playback.port()
    let failure = error { () throws(I2CError) in try YBPcbCar().drive(speeds(100, 100), on: &bus) }
    #expect(failure == .noAcknowledge(address: carAddress, register: 0x01))
  }

  @Test(
    "servo: the angle is clamped before it is sent",
    arguments: [(-5, 0), (0, 0), (89.6, 90), (180, 180), (300, 180), (.nan, 90), (.infinity, 180)] as [(Double, UInt8)])
  func servo(degrees: Double, byte: UInt8) throws {
    let playback = PlaybackI2CBus([.writeBlock([2, byte], to: carAddress, register: 0x03)])
    var bus = playback.port()
    try YBPcbCar().turn(.tilt, degrees: degrees, on: &bus)
    #expect(playback.isComplete)
  }
}

@Suite struct YBPcbCarSimulatorTests {
  static func robot(legacy: Bool = false) -> (YBPcbCarSimulator, SimulatedI2CBus) {
    let simulator = YBPcbCarSimulator(acceptsLegacyRegister: legacy)
    let bus = SimulatedI2CBus()
    bus.attach(simulator.chip, at: carAddress)
    return (simulator, bus)
  }

  @Test("driven forward at 100 %: after 10 s the robot is 10 s · 0.6 m/s − 0.6 m/s · 150 ms ahead")
  func forward() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    try YBPcbCar().drive(speeds(100, 100), on: &bus)
    simulator.vehicle.advance(to: milliseconds(10_000))
    let pose = simulator.vehicle.snapshot.pose
    #expect(abs(pose.x - 5.91) < 1e-9)
    #expect(pose.y == 0 && pose.heading == 0)
  }

  @Test("driven (−50, 50): turns left on the spot")
  func spin() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    try YBPcbCar().drive(speeds(-50, 50), on: &bus)
    simulator.vehicle.advance(to: milliseconds(1000))
    let snapshot = simulator.vehicle.snapshot
    #expect(snapshot.pose.heading > 3)
    #expect(abs(snapshot.pose.x) < 1e-12 && abs(snapshot.pose.y) < 1e-12)
  }

  @Test("driven below duty 30: the wheels stall")
  func stall() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    try YBPcbCar().drive(speeds(11, -11), on: &bus)  // duty 28
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds())
    try YBPcbCar().drive(speeds(12, -12), on: &bus)  // duty 31
    #expect(simulator.vehicle.snapshot.target.left > 0 && simulator.vehicle.snapshot.target.right < 0)
  }

  @Test("moving: the controller goes silent, the board keeps its last command for ever")
  func keepsLastCommand() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    try YBPcbCar().drive(speeds(100, 100), on: &bus)
    simulator.vehicle.advance(to: milliseconds(3_600_000))
    #expect(abs(simulator.vehicle.snapshot.speeds.left - 0.6) < 1e-9)
  }

  @Test("moving: either stop write alone stops the wheels", arguments: [0x01, 0x02] as [UInt8])
  func eitherStop(register: UInt8) throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    try YBPcbCar().drive(speeds(100, 100), on: &bus)
    bus.now = milliseconds(2000)
    if register == 0x02 {
      try bus.writeByte(0, to: carAddress, register: 0x02)
    } else {
      var bytes = I2CBytes()
      for byte in [1, 0, 1, 0] as [UInt8] { bytes.append(byte) }
      try bus.writeBlock(bytes, to: carAddress, register: 0x01)
    }
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds())
    simulator.vehicle.advance(to: milliseconds(6000))
    #expect(simulator.vehicle.snapshot.speeds == DifferentialDrive.Speeds())
  }

  @Test("register 0x00: the real board ignores it, an imaginary one obeys")
  func legacyRegister() throws {
    for legacy in [false, true] {
      let (simulator, simulated) = Self.robot(legacy: legacy)
      var bus = simulated.port()
      try YBPcbCar(legacyRegister: true).drive(speeds(100, 100), on: &bus)
      #expect(simulator.vehicle.snapshot.target.left == (legacy ? 0.6 : 0))
      #expect(simulator.vehicle.snapshot.ignored == (legacy ? 0 : 1))
    }
  }

  @Test("malformed writes: acknowledged, counted, without effect")
  func malformed() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    let malformed: [(UInt8, [UInt8])] = [
      (0x01, [1, 255, 1]), (0x01, [2, 255, 1, 255]), (0x01, [1, 255, 1, 255, 0]), (0x02, [1]), (0x03, [3, 90]),
      (0x03, [1, 181]), (0x09, [0]), (0xFF, [1, 2, 3, 4]),
    ]
    for (register, bytes) in malformed {
      var block = I2CBytes()
      for byte in bytes { block.append(byte) }
      try bus.writeBlock(block, to: carAddress, register: register)
    }
    let snapshot = simulator.vehicle.snapshot
    #expect(snapshot.ignored == Int64(malformed.count))
    #expect(snapshot.commands == 0 && snapshot.pan == nil && snapshot.target == DifferentialDrive.Speeds())
  }

  @Test("plain write of register and data: the same as a block write")
  func plainWrite() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    var bytes = I2CBytes()
    for byte in [0x01, 1, 255, 0, 255] as [UInt8] { bytes.append(byte) }
    try bus.plainWrite(bytes, to: carAddress)
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds(left: 0.6, right: -0.6))
  }

  @Test("read: the board has no readable register, the bus idles high")
  func read() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    #expect(try bus.readBlock(2, from: carAddress, register: 0x01).array == [0xFF, 0xFF])
    #expect(simulator.vehicle.snapshot.ignored == 0)
  }

  @Test("servos: pan and tilt are shown in degrees, unknown until set")
  func servos() throws {
    let (simulator, simulated) = Self.robot()
    var bus = simulated.port()
    #expect(simulator.vehicle.snapshot.pan == nil && simulator.vehicle.snapshot.tilt == nil)
    try YBPcbCar().turn(.pan, degrees: 45, on: &bus)
    try YBPcbCar().turn(.tilt, degrees: 400, on: &bus)
    #expect(simulator.vehicle.snapshot.pan == 45 && simulator.vehicle.snapshot.tilt == 180)
  }

  @Test("snapshot and faults from another thread while the loop drives: every snapshot is of one instant")
  func concurrentReader() {
    let (simulator, simulated) = Self.robot()
    let writer = Thread {
      var bus = simulated.port(attempts: 1)
      for number in 1...20_000 {
        bus.now = milliseconds(Double(number))
        let speeds = number % 2 == 0 ? speeds(100, 100) : speeds(-100, -100)
        _ = error { () throws(I2CError) in try YBPcbCar().drive(speeds, on: &bus) }
      }
    }
    writer.start()
    var last: Int64 = 0
    while last < 20_000 {
      simulated.inject(.noAcknowledge(address: raspbotAddress, count: 1))
      let snapshot = simulator.vehicle.snapshot
      #expect(snapshot.commands >= last && snapshot.target.left == snapshot.target.right)
      #expect(snapshot.at == milliseconds(Double(snapshot.commands)))
      #expect(snapshot.commands == 0 || snapshot.target.left == (snapshot.commands % 2 == 0 ? 0.6 : -0.6))
      last = snapshot.commands
    }
  }
}
