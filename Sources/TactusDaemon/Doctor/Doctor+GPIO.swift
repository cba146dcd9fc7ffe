import BusesLinux

/// A GPIO chip as `doctor` reports it.
struct GPIOChipReport: Equatable, Sendable {
  var path: String
  var label: String
  var lines: Int
  /// The lines in use, in the form `GPIO2 (i2c-1)`.
  var used: [String]
  /// The names of all lines that have a name.
  var names: [String] = []

  /// Returns every chip that can be opened, or `nil` if there are chips and none can be opened.
  static func current() -> [GPIOChipReport]? {
    guard let chips = try? LinuxGPIOChip.all() else { return nil }
    return chips.map { chip in
      let lines = (try? chip.lines()) ?? []
      let used = lines.filter(\.isUsed)
      return GPIOChipReport(
        path: chip.path, label: chip.label, lines: chip.lineCount,
        used: used.map { line in
          (line.name.isEmpty ? "line \(line.offset)" : line.name) + (line.consumer.isEmpty ? "" : " (\(line.consumer))")
        }, names: lines.map(\.name).filter { !$0.isEmpty })
    }
  }
}

extension Doctor {
  /// Checks the GPIO chip of the 40-pin header, or every chip if none is known to be that one; then how the kernel
  /// treats a line after its owner has died.
  func gpio() -> [Diagnosis] {
    let why = "relays, the servos' output-enable line and flow sensors are on GPIO lines"
    guard let chips = machine.gpioChips() else {
      return [
        Diagnosis(
          name: "GPIO", status: .warn, found: "no permission to open /dev/gpiochip*", why: why,
          fix: "sudo usermod -aG gpio $USER, then log in again")
      ]
    }
    let header = chips.filter { LinuxGPIOChip.headerLabels.contains($0.label) }
    let shown = header.isEmpty ? chips : header
    guard !shown.isEmpty else {
      return [Diagnosis(name: "GPIO", status: .ok, found: "no GPIO chip", why: why, fix: nil)]
    }
    return shown.map { chip in
      Diagnosis(
        name: "GPIO", status: .ok,
        found: "\(chip.path): \(chip.label), \(chip.lines) lines, in use: "
          + (chip.used.isEmpty ? "none" : chip.used.joined(separator: ", ")), why: why, fix: nil)
    } + releasedLines()
  }

  /// Checks whether released lines keep their level, which only Raspberry Pi kernels may do; others make a released line an input.
  private func releasedLines() -> [Diagnosis] {
    let parameter = "/sys/module/pinctrl_bcm2835/parameters/persist_gpio_outputs"
    guard let value = machine.read(parameter) else { return [] }
    let keeps = value == "Y" || value == "1"
    return [
      Diagnosis(
        name: "GPIO after a crash", status: keeps ? .warn : .ok,
        found: keeps
          ? "a line keeps the level it was last driven to" : "a line becomes an input with its pull resistor",
        why: "when the daemon and its guard process are both gone, nothing else turns a relay off",
        fix: keeps
          ? "sudo sed -i '1 s/$/ pinctrl_bcm2835.persist_gpio_outputs=n/' /boot/firmware/cmdline.txt && sudo reboot"
          : nil)
    ]
  }
}
