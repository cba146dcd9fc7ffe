import Buses
import Foundation
import Tactus
import Testing

@testable import BusesLinux

/// On plain files in place of the kernel's: what was written last is a file's first line.
@Suite("PWM of the kernel") final class LinuxPWMOutputTests {
  private let chip: String

  init() throws {
    chip = FileManager.default.temporaryDirectory.appending(path: "tactus-pwm-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: chip + "/pwm1", withIntermediateDirectories: true)
    for (name, text) in [
      ("export", ""), ("pwm1/period", "20000"), ("pwm1/duty_cycle", "15000"), ("pwm1/enable", "1"),
      ("pwm1/polarity", "inversed"),
    ] {
      try "\(text)\n".write(toFile: "\(chip)/\(name)", atomically: false, encoding: .utf8)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: chip) }

  private func text(_ name: String) -> String {
    let text = try? String(contentsOfFile: "\(chip)/\(name)", encoding: .utf8)
    return text?.split(separator: "\n").first.map { String($0) } ?? ""
  }

  private var all: [String] { ["duty_cycle", "enable", "polarity", "period"].map { text("pwm1/\($0)") } }

  @Test("opened: off, upright, at its period and switched on; duties as they are set; released: off and switched off")
  func life() throws {
    do {
      let output = try LinuxPWMOutput(chip: chip, channel: 1, period: .milliseconds(1))
      #expect(all == ["0", "1", "normal", "1000000"])
      var port = output.port()
      try port.set(active: .microseconds(250))
      #expect(text("pwm1/duty_cycle") == "250000")
      try port.set(active: port.period)
      #expect(text("pwm1/duty_cycle") == "1000000")
      try port.set(active: .zero)
      #expect(text("pwm1/duty_cycle") == "0")
      try port.set(active: .microseconds(7))
      withExtendedLifetime(output) {}
    }
    #expect(all == ["0", "0", "normal", "1000000"])
  }

  @Test("a second owner is refused before it writes anything; free again once the first is gone")
  func claimed() throws {
    do {
      let output = try LinuxPWMOutput(chip: chip, channel: 1, period: .milliseconds(1))
      var port = output.port()
      try port.set(active: .microseconds(900))
      #expect(throws: BusOpenError.outputInUse(path: output.path)) {
        try LinuxPWMOutput(chip: chip, channel: 1, period: .milliseconds(2))
      }
      #expect(all == ["900000", "1", "normal", "1000000"])
      withExtendedLifetime(output) {}
    }
    _ = try LinuxPWMOutput(chip: chip, channel: 1, period: .milliseconds(2))
  }

  @Test("another's hold: turns off what somebody else drives, and the owner can go on")
  func shutdown() throws {
    let output = try LinuxPWMOutput(chip: chip, channel: 1, period: .milliseconds(1))
    var port = output.port()
    try port.set(active: .microseconds(900))
    let other = try LinuxPWMShutdown(path: output.path)
    #expect(other.turnOff() == nil)
    #expect(all == ["0", "1", "normal", "1000000"])
    try port.set(active: .microseconds(100))
    #expect(text("pwm1/duty_cycle") == "100000" && text("pwm1/enable") == "1")
    withExtendedLifetime(output) {}
  }

  @Test("no such unit, no such output: told with what to do")
  func refused() {
    func failure(_ chip: String, _ channel: Int) -> BusOpenError? {
      do throws(BusOpenError) {
        _ = try LinuxPWMOutput(chip: chip, channel: channel, period: .milliseconds(1))
        return nil
      } catch {
        return error
      }
    }
    let missing = failure("/sys/class/pwm/pwmchip250", 0)
    #expect(missing == .noSuchDevice(.pwmUnit, path: "/sys/class/pwm/pwmchip250/export"))
    #expect(missing?.description.contains("dtoverlay=pwm") == true)
    #expect(
      (try? LinuxPWMShutdown(path: chip + "/pwm0")) == nil, "an output that nobody has exported cannot be held")
  }

  private static let units = (try? FileManager.default.contentsOfDirectory(atPath: "/sys/class/pwm")) ?? []

  @Test(
    "a real unit: its first output takes a period and a duty, and is off at the end",
    .enabled(if: !units.isEmpty, "no /sys/class/pwm/pwmchip* here"))
  func real() throws {
    let chip = "/sys/class/pwm/\(Self.units.sorted()[0])"
    let output = try LinuxPWMOutput(chip: chip, channel: 0, period: .milliseconds(1))
    var port = output.port()
    try port.set(active: .microseconds(500))
    let duty = try String(contentsOfFile: output.path + "/duty_cycle", encoding: .utf8)
    #expect(Int(duty.trimmingCharacters(in: .whitespacesAndNewlines)) == 500_000)
    #expect(try LinuxPWMShutdown(path: output.path).turnOff() == nil)
    withExtendedLifetime(output) {}
  }
}
