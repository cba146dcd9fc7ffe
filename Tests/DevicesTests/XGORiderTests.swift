import Buses
import Tactus
import Testing
import Wire

@testable import Devices

/// What the device has received.
private func received(_ line: SimulatedSerialPort) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = bytes.withUnsafeMutableBytes { line.device.read(into: $0) }
  return Array(bytes[..<count])
}

private func reply(_ bytes: [UInt8], on line: SimulatedSerialPort) {
  bytes.withUnsafeBytes { _ = line.device.write($0) }
}

private func frame(_ address: UInt8, _ byte: UInt8) -> [UInt8] {
  [0x55, 0x00, 0x09, 0x01, address, byte, 255 - (0x09 &+ 0x01 &+ address &+ byte), 0x00, 0xAA]
}

private let batteryReply = [UInt8]([0x55, 0x00, 0x09, 0x12, 0x01, 0x4B, 0x98, 0x00, 0xAA])  // 75 %

@Suite struct XGORiderTests {
  @Test(
    "driving: forward speed is the mean, turn rate half the difference, left positive",
    arguments: [
      (speeds(0, 0), 127, 127), (speeds(100, 100), 255, 127), (speeds(-100, -100), 0, 127),
      (speeds(-100, 100), 127, 255),
      (speeds(100, -100), 127, 0), (speeds(50, 100), 223, 159), (speeds(250, 250), 255, 127),
    ] as [(WheelSpeeds, UInt8, UInt8)])
  func drive(speeds: WheelSpeeds, forward: UInt8, yaw: UInt8) throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    try XGORider().drive(speeds, on: &port)
    #expect(received(line) == frame(0x30, forward) + frame(0x32, yaw))
  }

  @Test("driving with lower limits: 100 % is the limit, not the board's range")
  func limits() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    try XGORider(topSpeed: 0.75, topYawRate: 180).drive(speeds(100, 100), on: &port)
    try XGORider(topSpeed: 0.75, topYawRate: 180).drive(speeds(100, -100), on: &port)
    #expect(received(line) == frame(0x30, 191) + frame(0x32, 127) + frame(0x30, 127) + frame(0x32, 63))
  }

  @Test("driving with a speed that is not a number: that wheel rests")
  func notANumber() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    try XGORider().drive(speeds(.nan, .nan), on: &port)
    #expect(received(line) == frame(0x30, 127) + frame(0x32, 127))
  }

  @Test("stop: both neutral, byte for byte")
  func stop() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    try XGORider().stop(on: &port)
    #expect(
      received(line) == [
        0x55, 0x00, 0x09, 0x01, 0x30, 0x7F, 0x46, 0x00, 0xAA, 0x55, 0x00, 0x09, 0x01, 0x32, 0x7F, 0x44, 0x00, 0xAA,
      ])
  }

  @Test("height and balance: one frame each, the height clamped to 60…120 mm")
  func heightAndBalance() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    for height in [60, 90, 120, 200, -5] as [Double] { try XGORider().raise(millimetres: height, on: &port) }
    try XGORider().balance(isOn: true, on: &port)
    try XGORider().balance(isOn: false, on: &port)
    let heights = [0, 127, 255, 255, 0].flatMap { frame(0x35, $0) }
    #expect(received(line) == heights + frame(0x61, 1) + frame(0x61, 0))
  }

  @Test("line full: the command fails and says how much went out")
  func full() {
    let line = SimulatedSerialPort(capacity: 10)
    var port = line.port()
    let failure = serialError { () throws(SerialError) in try XGORider().stop(on: &port) }
    #expect(failure == .full(written: 10, count: 18))
  }

  @Test("device unplugged: stop, request and poll fail as gone")
  func gone() {
    let line = SimulatedSerialPort()
    var port = line.port()
    line.inject(.gone)
    var rider = XGORider()
    #expect(serialError { () throws(SerialError) in try rider.stop(on: &port) } == .gone)
    #expect(serialError { () throws(SerialError) in try rider.request(.battery, on: &port) } == .gone)
    #expect(serialError { () throws(SerialError) in _ = try rider.poll(on: &port) } == .gone)
    #expect(rider.nextDeadline == nil)
  }

  @Test("battery asked: the reply is told once, however it is cut")
  func battery() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    var rider = XGORider()
    try rider.request(.battery, on: &port)
    #expect(received(line) == [0x55, 0x00, 0x09, 0x02, 0x01, 0x01, 0xF2, 0x00, 0xAA])
    for byte in batteryReply {
      #expect(try rider.poll(on: &port) == nil)
      reply([byte], on: line)
    }
    #expect(try rider.poll(on: &port) == .charge(Percent(75)))
    #expect(try rider.poll(on: &port) == nil)
    #expect(rider.nextDeadline == nil)
  }

  @Test("battery asked: no reply for 1 s is told as timed out, at that instant and once")
  func batteryTimesOut() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    var rider = XGORider()
    port.now = milliseconds(500)
    try rider.request(.battery, on: &port)
    #expect(rider.nextDeadline == milliseconds(1500))
    port.now = milliseconds(1499.999)
    #expect(try rider.poll(on: &port) == nil)
    port.now = milliseconds(1500)
    #expect(try rider.poll(on: &port) == .timedOut(.battery))
    #expect(try rider.poll(on: &port) == nil)
  }

  @Test("battery asked: a wrong sum, another register, more than 100 % or the wrong length is no reply")
  func invalidReplies() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    var rider = XGORider()
    try rider.request(.battery, on: &port)
    var wrongSum = batteryReply
    wrongSum[6] ^= 1
    reply(wrongSum, on: line)
    reply([0x55, 0x00, 0x09, 0x12, 0x02, 0x4B, 0x97, 0x00, 0xAA], on: line)
    reply([0x55, 0x00, 0x09, 0x12, 0x01, 0x65, 0x7E, 0x00, 0xAA], on: line)
    reply([0x55, 0x00, 0x0A, 0x12, 0x01, 0x4B, 0x00, 0x97, 0x00, 0xAA], on: line)
    #expect(try rider.poll(on: &port) == nil)
    reply(batteryReply, on: line)
    #expect(try rider.poll(on: &port) == .charge(Percent(75)))
  }

  @Test("battery not asked: a reply is ignored")
  func unasked() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    var rider = XGORider()
    reply(batteryReply, on: line)
    #expect(try rider.poll(on: &port) == nil)
  }
}

@Suite struct XGORiderSimulatorTests {
  let simulator = XGORiderSimulator()
  let line = SimulatedSerialPort()
  init() { line.attach(simulator.device) }

  func write(_ bytes: [UInt8], at now: TickInstant = .zero) {
    var port = line.port()
    port.now = now
    bytes.withUnsafeBytes { all in
      let failure = serialError { () throws(SerialError) in try port.write(all) }
      #expect(failure == nil)
    }
  }

  @Test("driven: forward at 1.5 m/s, then turning left at 360 degrees a second, then at rest")
  func driven() throws {
    var port = line.port()
    try XGORider().drive(speeds(100, 100), on: &port)
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds(left: 1.5, right: 1.5))
    try XGORider().drive(speeds(-100, 100), on: &port)
    let turning = simulator.vehicle.snapshot.target
    #expect(abs((turning.right - turning.left) / 0.12 - 2 * .pi) < 1e-9 && abs(turning.right + turning.left) < 1e-12)
    try XGORider().stop(on: &port)
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds())
  }

  @Test("frames cut anywhere: take effect with their last byte")
  func cut() {
    for (index, byte) in frame(0x30, 255).enumerated() {
      #expect(simulator.vehicle.snapshot.commands == 0, "byte \(index)")
      write([byte])
    }
    #expect(simulator.vehicle.snapshot.target.left == 1.5)
  }

  @Test("a frame cut short by a full line, then a whole command: the whole one takes effect")
  func cutThenWhole() {
    write(Array(frame(0x30, 255)[..<5]))
    write(frame(0x30, 127) + frame(0x32, 127))
    write(frame(0x30, 0) + frame(0x32, 127))
    #expect(simulator.vehicle.snapshot.target.left == -1.5)
  }

  @Test("noise of any kind, then whole commands: the last one stands", arguments: 1...20 as ClosedRange<UInt64>)
  func noise(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      write((0..<random.below(30)).map { _ in random.below(4) == 0 ? 0x55 : UInt8(random.below(256)) })
    }
    for _ in 0..<6 { write(frame(0x30, 255) + frame(0x32, 127)) }
    #expect(simulator.vehicle.snapshot.target == DifferentialDrive.Speeds(left: 1.5, right: 1.5), "seed \(seed)")
  }

  @Test("battery asked: answers its charge at once")
  func battery() throws {
    var port = line.port()
    var rider = XGORider()
    simulator.batteryPercent = 42
    try rider.request(.battery, on: &port)
    #expect(try rider.poll(on: &port) == .charge(Percent(42)))
  }

  @Test("roll and pitch asked: little-endian floats in degrees; what is not a number, or beyond 180, is no reply")
  func attitude() throws {
    var port = line.port()
    var rider = XGORider()
    (simulator.rollDegrees, simulator.pitchDegrees) = (-12.5, 30)
    try rider.request(.roll, on: &port)
    #expect(rider.isAsked)
    #expect(try rider.poll(on: &port) == .roll(degrees: -12.5) && !rider.isAsked)
    try rider.request(.pitch, on: &port)
    #expect(try rider.poll(on: &port) == .pitch(degrees: 30))
    for bad in [Float.nan, .infinity, 180.5] {
      simulator.pitchDegrees = bad
      try rider.request(.pitch, on: &port)
      #expect(try rider.poll(on: &port) == nil && rider.isAsked)
    }
    simulator.leavesReadsUnanswered = true
    try rider.request(.roll, on: &port)
    port.now = milliseconds(1000)
    #expect(try rider.poll(on: &port) == .timedOut(.roll))
  }

  @Test("firmware asked: ten characters, R first")
  func firmware() throws {
    write([0x55, 0x00, 0x09, 0x02, 0x07, 0x0A, 0xE3, 0x00, 0xAA])
    var port = line.port()
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = try bytes.withUnsafeMutableBytes { try port.read(into: $0) }
    #expect(count == 18 && bytes[4] == 0x07 && bytes[2] == 18)
    #expect(String(decoding: bytes[5..<15], as: UTF8.self) == "R-1.4.2   ")
  }

  @Test("moving: writes of other registers change nothing, the last command stands")
  func otherRegisters() {
    write(frame(0x30, 255))
    write(frame(0x35, 100) + frame(0x61, 1), at: milliseconds(1000))
    let snapshot = simulator.vehicle.snapshot
    #expect(snapshot.commands == 1 && snapshot.target.left == 1.5)
    #expect(snapshot.at == milliseconds(1000) && snapshot.pose.x > 1.2)
  }
}

@Suite struct SimulatedSerialPortTests {
  @Test("line held: takes nothing until released")
  func full() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    line.inject(.full)
    let failure = serialError { () throws(SerialError) in try XGORider().stop(on: &port) }
    #expect(failure == .full(written: 0, count: 18))
    line.clearFaults()
    try XGORider().stop(on: &port)
    #expect(received(line).count == 18)
  }

  @Test("queue of 5 bytes: wraps around without losing or inventing a byte")
  func wraps() throws {
    let line = SimulatedSerialPort(capacity: 5)
    var port = line.port()
    var next: UInt8 = 0
    var expected: UInt8 = 0
    for round in 0..<300 {
      let bytes = (0..<(round % 5 + 1)).map { next &+ UInt8($0) }
      next &+= UInt8(bytes.count)
      try bytes.withUnsafeBytes { try port.write($0) }
      for byte in received(line) {
        #expect(byte == expected)
        expected &+= 1
      }
    }
    #expect(expected == next)
  }

  @Test("nothing there: a read gives 0")
  func empty() throws {
    let line = SimulatedSerialPort()
    var port = line.port()
    var bytes = [UInt8](repeating: 0, count: 8)
    #expect(try bytes.withUnsafeMutableBytes { try port.read(into: $0) } == 0)
  }
}
