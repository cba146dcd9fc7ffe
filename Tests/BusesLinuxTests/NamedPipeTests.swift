import Buses
import Foundation
import Tactus
import TestSupport
import Testing

@testable import BusesLinux

@Suite("a named pipe in the place of a device", .ownThread)
final class NamedPipeTests {
  private let folder: String
  /// A named pipe whose other end nobody opens.
  private var pipe: String { folder + "/pipe" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tactus-pipe-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: folder + "/pwm1", withIntermediateDirectories: true)
    try #require(mkfifo(pipe, 0o600) == 0)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test("is no adapter, no chip, no SPI device and no serial line: refused at once")
  func devices() {
    #expect(throws: BusOpenError.wrongDevice(.i2cAdapter, path: pipe)) { try LinuxI2CBus(path: pipe) }
    #expect(throws: BusOpenError.wrongDevice(.spiDevice, path: pipe)) { try LinuxSPIPort(path: pipe) }
    #expect(throws: BusOpenError.wrongDevice(.serialLine, path: pipe)) {
      try LinuxSerialPort(path: pipe, baudRate: 9600)
    }
    #expect(throws: GPIORequestError.notAChip(path: pipe)) { try LinuxGPIOChip(path: pipe) }
  }

  @Test("is no file of a PWM unit: refused at once, neither waited for nor written to")
  func pwm() throws {
    try #require(mkfifo(folder + "/export", 0o600) == 0)
    #expect(throws: BusOpenError.noSuchDevice(.pwmUnit, path: folder + "/export")) {
      try LinuxPWMOutput(chip: folder, channel: 0, period: .milliseconds(1))
    }
    try #require(mkfifo(folder + "/pwm1/duty_cycle", 0o600) == 0)
    #expect(throws: BusOpenError.wrongDevice(.pwmUnit, path: folder + "/pwm1/duty_cycle")) {
      try LinuxPWMOutput(chip: folder, channel: 1, period: .milliseconds(1))
    }
  }
}
