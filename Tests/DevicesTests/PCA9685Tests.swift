import Buses
import Foundation
import Tactus
import Testing

@testable import Devices

let pcaAddress = PCA9685.standardAddress

func microseconds(_ count: UInt16) -> PCA9685Output { .pulse(.microseconds(count)) }

@Suite struct PCA9685Tests {
  @Test(
    "prescale: nearest to the rate, as the facts have it",
    arguments: [(50, 121), (60, 101), (200, 30), (24, 253), (1526, 3)])
  func prescale(hertz: Int64, prescale: UInt8) throws {
    #expect(try PCA9685Timing(rate: .hertz(hertz)).prescale == prescale)
  }

  @Test("prescale: a rate or an oscillator that the chip does not have is an error that says what it has")
  func timingErrors() {
    for rate in [1, 23, 1744] as [Int64] {
      #expect(throws: PCA9685TimingError.rate(.hertz(rate), oscillator: .kilohertz(25_000))) {
        _ = try PCA9685Timing(rate: .hertz(rate))
      }
    }
    #expect(throws: PCA9685TimingError.oscillator(.kilohertz(1))) {
      _ = try PCA9685Timing(rate: .hertz(50), oscillator: .kilohertz(1))
    }
  }

  @Test(
    "counts: at 50 Hz and 25 MHz as in the facts; never longer than a period",
    arguments: [(500, 102), (1000, 205), (1500, 307), (2000, 410), (2500, 512), (0, 0), (65_535, 4095)]
      as [(UInt16, UInt16)])
  func counts(microseconds: UInt16, counts: UInt16) {
    #expect(PCA9685Timing.servo.counts(.microseconds(microseconds)) == counts)
  }

  @Test("counts: a calibrated oscillator makes the pulse right to half a count")
  func calibration() throws {
    for kilohertz in stride(from: Int64(23_000), through: 27_000, by: 250) {
      let timing = try PCA9685Timing(rate: .hertz(50), oscillator: .kilohertz(kilohertz))
      for microseconds in stride(from: UInt16(500), through: 2500, by: 50) {
        let made = timing.duration(counts: timing.counts(.microseconds(microseconds)))
        let wrong = abs(made.inMicroseconds - Double(microseconds))
        #expect(wrong <= timing.duration(counts: 1).inMicroseconds / 2 + 0.01)
      }
      #expect(abs(timing.period.inMilliseconds - 20) < 0.1)
    }
    #expect(PCA9685Timing.servo.period == .nanoseconds(19_988_480))
  }

  @Test("configure: all off first, then MODE2, sleep, rate, awake with auto-increment and without all-call")
  func configure() throws {
    let playback = PlaybackI2CBus([
      .writeByte(0x10, to: pcaAddress, register: 0xFD), .writeByte(0x04, to: pcaAddress, register: 0x01),
      .writeByte(0x30, to: pcaAddress, register: 0x00), .writeByte(121, to: pcaAddress, register: 0xFE),
      .writeByte(0x20, to: pcaAddress, register: 0x00),
    ])
    var bus = playback.port()
    try PCA9685().configure(on: &bus)
    #expect(playback.isComplete)
  }

  @Test("start: restarts only a chip that remembers having been stopped", arguments: [0x20, 0xA0] as [UInt8])
  func start(mode: UInt8) throws {
    let playback = PlaybackI2CBus(
      [.readBlock([mode], from: pcaAddress, register: 0x00)]
        + (mode == 0xA0 ? [.writeByte(0xA0, to: pcaAddress, register: 0x00)] : []))
    var bus = playback.port()
    try PCA9685().start(on: &bus)
    #expect(playback.isComplete)
  }

  @Test("channel: four bytes in one transfer; several adjacent ones too; too short a pulse and off are full-off")
  func write() throws {
    let playback = PlaybackI2CBus([
      .writeBlock([0, 0, 0x33, 0x01], to: pcaAddress, register: 0x06 + 4 * 5),
      .writeBlock([0, 0, 0, 0x10], to: pcaAddress, register: 0x06),
      .writeBlock([0, 0, 0x66, 0, 0, 0, 0, 0x10, 0, 0, 0x00, 0x02], to: pcaAddress, register: 0x06 + 4 * 13),
    ])
    var bus = playback.port()
    try PCA9685().write(microseconds(1500), to: 5, on: &bus)
    try PCA9685().write(microseconds(2), to: 0, on: &bus)
    var outputs = PCA9685Outputs()
    outputs[13] = microseconds(500)
    outputs[15] = microseconds(2500)
    try PCA9685().write(outputs, first: 13, count: 3, on: &bus)
    #expect(playback.isComplete)
  }

  @Test("shutdown: off at once, asleep one period later and not before, again after a failure")
  func shutdown() throws {
    let playback = PlaybackI2CBus([
      .writeByte(0x10, to: pcaAddress, register: 0xFD, errno: 5), .writeByte(0x10, to: pcaAddress, register: 0xFD),
      .writeByte(0x30, to: pcaAddress, register: 0x00, errno: 5), .writeByte(0x30, to: pcaAddress, register: 0x00),
    ])
    var bus = playback.port()
    var shutdown = PCA9685Shutdown(PCA9685())
    #expect(error { () throws(I2CError) in _ = try shutdown.step(on: &bus) } != nil)
    bus.now = milliseconds(1)
    let next = try shutdown.step(on: &bus)
    #expect(next == milliseconds(1) + PCA9685Timing.servo.period)
    bus.now = milliseconds(20)
    #expect(try shutdown.step(on: &bus) == next)
    bus.now = milliseconds(21)
    #expect(error { () throws(I2CError) in _ = try shutdown.step(on: &bus) } != nil)
    #expect(try shutdown.step(on: &bus) == nil)
    #expect(playback.isComplete)
  }

  @Test("servo: clamped to its travel; inverted, the ends change places and the centre stays")
  func channel() throws {
    let plain = try ServoChannel(
      0, lowest: .microseconds(900), centre: .microseconds(1400), highest: .microseconds(2100))
    let mirrored = try ServoChannel(
      0, lowest: .microseconds(900), centre: .microseconds(1400), highest: .microseconds(2100), isInverted: true)
    for (pulse, wired, inverted) in [
      (500, 900, 2100), (900, 900, 2100), (1150, 1150, 1750), (1400, 1400, 1400), (1750, 1750, 1150), (2500, 2100, 900),
    ] as [(UInt16, UInt16, UInt16)] {
      #expect(plain.wired(.microseconds(pulse)) == .microseconds(wired))
      #expect(mirrored.wired(.microseconds(pulse)) == .microseconds(inverted))
    }
    let oneSided = try ServoChannel(0, lowest: .microseconds(1400), centre: .microseconds(1400), isInverted: true)
    #expect(oneSided.wired(.microseconds(1400)) == .microseconds(1400))
    #expect(oneSided.wired(.microseconds(2500)) == .microseconds(1400))
    #expect(throws: ServoChannelError.number(16)) { _ = try ServoChannel(16) }
    #expect(throws: ServoChannelError.self) { _ = try ServoChannel(0, lowest: .microseconds(400)) }
    #expect(throws: ServoChannelError.self) { _ = try ServoChannel(0, centre: .microseconds(2600)) }
  }
}
