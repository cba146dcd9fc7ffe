import Buses
import Testing

@testable import BusesLinux

/// What needs no chip; what a real one does is in scripts/rig.
@Suite struct LinuxGPIOTests {
  @Test("path without a device, and one that is no GPIO chip: refused by name")
  func wrongPath() {
    #expect(throws: GPIORequestError.noSuchChip("/dev/gpiochip999")) { try LinuxGPIOChip(path: "/dev/gpiochip999") }
    #expect(throws: GPIORequestError.notAChip(path: "/dev/null")) { try LinuxGPIOChip(path: "/dev/null") }
  }

  @Test("folder without chips: none, and no error")
  func none() throws {
    #expect(try LinuxGPIOChip.all(in: "/proc/self").isEmpty)
  }

  @Test("no chip has the line: said with its name; no chip of that name: said with the chip's")
  func noLine() {
    #expect(throws: GPIORequestError.noSuchLine(.bcm(17), chip: nil)) {
      try LinuxGPIOLines([GPIOLine(.bcm(17))], among: [])
    }
    #expect(throws: GPIORequestError.noSuchChip("pinctrl-rp1")) {
      try LinuxGPIOEvents([GPIOInput(GPIOLineName("pinctrl-rp1:4")!)], among: [])
    }
  }

  @Test("a descriptor that holds no lines: refused")
  func inherited() {
    #expect(throws: GPIORequestError.self) {
      try LinuxGPIOLines(inherited: 0, [GPIOLine(.bcm(17))], offsets: [17], chipPath: "/dev/gpiochip0")
    }
  }
}
