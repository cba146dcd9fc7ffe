import Buses
import Foundation
import Tactus
import Testing

@testable import Devices

@Suite struct PCA9685SimulatorTests {
  struct Bench: ~Copyable {
    let simulator: PCA9685Simulator
    let simulated = SimulatedI2CBus()
    var bus: I2CBus
    let chip: PCA9685

    init(
      _ parameters: PCA9685Simulator.Parameters = .init(), chip: PCA9685 = PCA9685(), isConfigured: Bool = true
    ) throws {
      simulator = PCA9685Simulator(parameters)
      simulated.attach(simulator.chip, at: pcaAddress)
      simulated.attach(simulator.allCallChip, at: I2CAddress(0x70)!)
      bus = simulated.port(attempts: 1)
      self.chip = chip
      guard isConfigured else { return }
      try chip.configure(on: &bus)
      at(1)
      try chip.start(on: &bus)
    }

    mutating func at(_ instant: Double) { bus.now = milliseconds(instant) }

    mutating func write(_ register: UInt8, _ bytes: UInt8...) throws {
      var block = I2CBytes()
      for byte in bytes { block.append(byte) }
      try bus.writeBlock(block, to: pcaAddress, register: register)
    }

    mutating func read(_ register: UInt8, _ count: Int = 1) throws -> [UInt8] {
      try bus.readBlock(count, from: pcaAddress, register: register).array
    }

    mutating func servo(_ channel: Int, at instant: Double) -> SimulatedServo {
      simulator.advance(to: milliseconds(instant))
      return simulator.snapshot[channel]
    }
  }

  @Test("power-up: asleep, 200 Hz, all off, all-call answers")
  func powerUp() throws {
    var bench = try Bench(isConfigured: false)
    #expect(try bench.read(0x00) == [0x11])
    #expect(try bench.read(0x01) == [0x04])
    #expect(try bench.read(0xFE) == [0x1E])
    for channel in UInt8(0)..<16 { #expect(try bench.read(0x06 + 4 * channel + 3) == [0x10]) }
    #expect(try bench.bus.readBlock(1, from: I2CAddress(0x70)!, register: 0).array == [0x11])
  }

  @Test("registers: without auto-increment one register is read and written; with it they run on and wrap")
  func autoIncrement() throws {
    var bench = try Bench(isConfigured: false)
    #expect(try bench.read(0x00, 3) == [0x11, 0x11, 0x11])
    try bench.write(0x00, 0x30)
    #expect(try bench.read(0x00, 6) == [0x30, 0x04, 0xE2, 0xE4, 0xE8, 0xE0])
    #expect(try bench.read(0x44, 4) == [0x00, 0x10, 0x30, 0x04])
    #expect(try bench.read(0xFD, 4) == [0x00, 0x1E, 0x30, 0x04])
    try bench.write(0x45, 0x10, 0x30, 0x14)
    #expect(try bench.read(0x01) == [0x14])
  }

  @Test("PRE_SCALE: written asleep only, at least 3")
  func prescale() throws {
    var bench = try Bench()
    try bench.write(0xFE, 30)
    #expect(try bench.read(0xFE) == [121])
    #expect(bench.simulator.snapshot.ignored == 1)
    try bench.write(0x00, 0x30)
    try bench.write(0xFE, 1)
    #expect(try bench.read(0xFE) == [3])
  }

  @Test("ALL_LED: writes every channel, reads as nothing; full-off wins over full-on")
  func allLED() throws {
    var bench = try Bench()
    try bench.write(0xFA, 0, 0x10, 0, 0)
    #expect(try bench.read(0xFA, 4) == [0, 0, 0, 0])
    for channel in UInt8(0)..<16 { #expect(try bench.read(0x06 + 4 * channel, 4) == [0, 0x10, 0, 0]) }
    #expect(bench.simulator.snapshot[7].isStuckHigh)
    #expect(bench.simulator.drivenChannels == .max)
    try bench.write(0xFD, 0x10)
    #expect(!bench.simulator.snapshot[7].isStuckHigh)
    #expect(bench.simulator.drivenChannels == 0)
  }

  @Test("servo: a pulse turns it at its speed, to where the pulse says; without pulses it lets go")
  func turns() throws {
    var bench = try Bench()
    #expect(bench.servo(3, at: 50).position == 0)
    try bench.chip.write(microseconds(2500), to: 3, on: &bench.bus)
    let width = bench.servo(3, at: 60).pulse!
    #expect(bench.simulator.drivenChannels == 1 << 3)
    #expect(abs(width.inMicroseconds - 2500) < 2.5)
    #expect(bench.servo(3, at: 100).position > 10)
    #expect(bench.servo(3, at: 100).position < 60)
    #expect(abs(bench.servo(3, at: 400).position - 90) < 0.3)
    let pulses = bench.servo(3, at: 401).pulses
    #expect(pulses == 17)
    bench.at(401)
    try bench.chip.write(microseconds(500), to: 3, on: &bench.bus)
    #expect(bench.servo(3, at: 450).position < 89)
    bench.at(455)
    try bench.chip.write(.off, to: 3, on: &bench.bus)
    let halfway = bench.servo(3, at: 600).position
    #expect(halfway > -60 && halfway < 80)
    #expect(bench.servo(3, at: 60_000).position == halfway)
    #expect(bench.servo(3, at: 60_000).pulse == nil)
    #expect(bench.servo(2, at: 60_000) == SimulatedServo())
  }

  @Test("servo: a new pulse every 20 ms in the middle of the old one, each is made whole")
  func updatesInMidPulse() throws {
    var bench = try Bench()
    // The counter began 1.5 ms after the start: 0.5 ms into every pulse, and the cycle is 19.98848 ms long.
    for number in 0..<100 {
      bench.at(1 + Double(number) * 19.98848 + 0.5)
      try bench.chip.write(microseconds(1000 + UInt16(number)), to: 0, on: &bench.bus)
    }
    let servo = bench.servo(0, at: 2_001)
    #expect(servo.pulses >= 98 && servo.cutPulses == 0)
    #expect(abs(servo.position - (1099 - 1500) * 0.09) < 0.5)
  }

  @Test("oscillator off by 6 %: the pulse is wrong by 6 %, and right again once calibrated")
  func oscillator() throws {
    var parameters = PCA9685Simulator.Parameters()
    parameters.oscillator = .kilohertz(26_500)
    var naive = try Bench(parameters)
    try naive.chip.write(microseconds(1500), to: 0, on: &naive.bus)
    #expect(abs(naive.servo(0, at: 100).pulse!.inMicroseconds - 1500 / 1.06) < 3)
    let timing = try PCA9685Timing(rate: .hertz(50), oscillator: .kilohertz(26_500))
    var calibrated = try Bench(parameters, chip: PCA9685(timing: timing))
    try calibrated.chip.write(microseconds(1500), to: 0, on: &calibrated.bus)
    #expect(abs(calibrated.servo(0, at: 100).pulse!.inMicroseconds - 1500) < 3)
  }

  @Test("sleep in mid-pulse cuts it and sets restart; restart brings the pulses back, a write of a channel clears it")
  func sleepInMidPulse() throws {
    var bench = try Bench()
    try bench.chip.write(microseconds(1500), to: 0, on: &bench.bus)
    // Cycles begin 0.5 ms after the wake-up at 0.
    bench.at(0.5 + 19.98848 * 5 + 0.7)
    try bench.write(0x00, 0x30)
    #expect(try bench.read(0x00) == [0xB0])
    #expect(bench.simulator.snapshot[0].cutPulses == 1)
    let pulses = bench.servo(0, at: 500).pulses
    bench.at(500)
    try bench.write(0x00, 0x20)
    #expect(bench.servo(0, at: 600).pulses == pulses)
    bench.at(600)
    try bench.chip.start(on: &bench.bus)
    #expect(try bench.read(0x00) == [0x20])
    #expect(bench.servo(0, at: 700).pulses == pulses + 5)
    try bench.write(0x00, 0x30)
    try bench.chip.write(microseconds(1500), to: 0, on: &bench.bus)
    #expect(try bench.read(0x00) == [0x30])
  }

  @Test("shutdown at any moment of a pulse: sleep cuts none")
  func shutdown() throws {
    for step in 0..<100 {
      var bench = try Bench()
      try bench.chip.write(microseconds(2500), to: 0, on: &bench.bus)
      bench.at(100 + Double(step) * 0.2)
      var shutdown = PCA9685Shutdown(bench.chip)
      let next = try #require(try shutdown.step(on: &bench.bus))
      let cut = bench.simulator.snapshot[0].cutPulses
      bench.bus.now = next
      #expect(try shutdown.step(on: &bench.bus) == nil)
      #expect(bench.simulator.snapshot[0].cutPulses == cut)
      #expect(bench.simulator.snapshot.isAsleep)
      #expect(try bench.read(0x00) == [0x30], "nothing to restart")
    }
  }

  @Test("check: configured; after a loss of power or a reset it says what it finds, after configuring all is well")
  func check() throws {
    var bench = try Bench()
    #expect(try bench.chip.check(on: &bench.bus) == .configured)
    try bench.chip.write(microseconds(1500), to: 0, on: &bench.bus)
    #expect(bench.servo(0, at: 100).pulse != nil)
    bench.simulator.isPowered = false
    bench.at(101)
    #expect(error { () throws(I2CError) in _ = try bench.chip.check(on: &bench.bus) } != nil)
    #expect(bench.simulator.snapshot[0].pulse == nil)
    bench.simulator.isPowered = true
    let lost = PCA9685Health.lost(mode1: 0x11, mode2: 0x11, prescale: 0x1E)
    // Without auto-increment both bytes read are MODE1's.
    #expect(try bench.chip.check(on: &bench.bus) == lost)
    try bench.chip.write(microseconds(1500), to: 0, on: &bench.bus)
    #expect(bench.servo(0, at: 200).pulse == nil, "takes writes, makes no pulse")
    bench.at(200)
    try bench.chip.configure(on: &bench.bus)
    #expect(try bench.chip.check(on: &bench.bus) == .configured)
    bench.simulator.reset()
    #expect(try bench.chip.check(on: &bench.bus) == lost)
    #expect(bench.simulator.snapshot.resets == 2)
  }

  @Test("all-call: answers until configured, not after")
  func allCall() throws {
    var bench = try Bench()
    let allCall = I2CAddress(0x70)!
    #expect(error { () throws(I2CError) in try bench.bus.writeByte(0x10, to: allCall, register: 0xFD) } != nil)
  }

  @Test("jammed servo: gets its pulses and stays")
  func jam() throws {
    var bench = try Bench()
    bench.simulator.jam(1)
    try bench.chip.write(microseconds(2000), to: 1, on: &bench.bus)
    #expect(bench.servo(1, at: 1_000).position == 0)
    #expect(bench.servo(1, at: 1_000).pulses > 40)
    bench.simulator.jam(1, false)
    #expect(abs(bench.servo(1, at: 2_000).position - 45) < 0.5)
  }

  @Test("looked at often or seldom: the same position and pulses")
  func looks() throws {
    var seen: [SimulatedServo] = []
    for step in [0.37, 5, 1_000] {
      var bench = try Bench()
      try bench.chip.write(microseconds(2200), to: 0, on: &bench.bus)
      var now = 1.0
      while now < 145 {
        now = min(145, now + step)
        bench.simulator.advance(to: milliseconds(now))
      }
      bench.at(145)
      try bench.chip.write(microseconds(900), to: 0, on: &bench.bus)
      while now < 333 {
        now = min(333, now + step)
        bench.simulator.advance(to: milliseconds(now))
      }
      var servo = bench.simulator.snapshot[0]
      servo.position = (servo.position * 1e6).rounded() / 1e6
      seen.append(servo)
    }
    #expect(seen[0] == seen[1] && seen[1] == seen[2])
  }
}
