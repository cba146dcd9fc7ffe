import BusesLinux
@_spi(FromOutside) import Conversions

extension Doctor {
  /// Checks every I2C adapter; a single result says that there is none.
  func i2c() -> [Diagnosis] {
    let adapters = machine.list("/dev").filter { $0.hasPrefix("i2c-") && Int($0.dropFirst(4)) != nil }
    guard !adapters.isEmpty else {
      return [
        Diagnosis(
          name: "I2C", status: .warn, found: "no /dev/i2c-N",
          why: "boards, servos' chips and converters are driven over I2C",
          fix: "sudo raspi-config nonint do_i2c 0 && sudo modprobe i2c-dev")
      ]
    }
    return adapters.map { adapter($0) }
  }

  private func adapter(_ name: String) -> Diagnosis {
    let why = "boards and chips need SMBus byte and I2C block writes"
    let path = "/dev/" + name
    guard let functions = machine.i2cFunctions(path) else {
      return Diagnosis(
        name: "I2C", status: .warn, found: "\(path): no permission to open it", why: why,
        fix: "sudo usermod -aG i2c $USER, then log in again")
    }
    // I2C_FUNC_I2C, …_SMBUS_WRITE_BYTE_DATA, …_SMBUS_WRITE_I2C_BLOCK of linux/i2c.h.
    let known: [(UInt64, String)] = [(1, "plain"), (0x0010_0000, "byte write"), (0x0800_0000, "block write")]
    let has = known.filter { functions & $0.0 != 0 }.map(\.1)
    let ok = functions & 0x0810_0000 == 0x0810_0000
    return Diagnosis(
      name: "I2C", status: ok ? .ok : .warn,
      found: "\(path): " + (has.isEmpty ? "none of the needed functions" : has.joined(separator: ", ")),
      why: why, fix: ok ? nil : "set the file's key of the bus to another adapter: i2cdetect -l lists them")
  }

  /// Checks that the I2C chips of the configuration answer.
  func chips() -> [Diagnosis] {
    guard let configuration else { return [] }
    return configuration.claims.compactMap { claim in
      guard case .i2c(let bus, let address) = claim.resource else { return nil }
      let place = "address 0x\(String(address, radix: 16)) on /dev/i2c-\(bus)"
      guard machine.list("/dev").contains("i2c-\(bus)") else {
        return Diagnosis(
          name: claim.key, status: .fail, found: "no /dev/i2c-\(bus), for address 0x\(String(address, radix: 16))",
          why: "what is on a bus that is not there cannot be driven",
          fix:
            "sudo raspi-config nonint do_i2c 0 && sudo modprobe i2c-dev, or set the file's key of the bus to one that "
            + "ls /dev/i2c-* shows")
      }
      let answers = machine.i2cAnswers("/dev/i2c-\(bus)", address)
      return Diagnosis(
        name: claim.key, status: answers == true ? .ok : .fail,
        found: place + (answers.map { $0 ? " answers" : " does not answer" } ?? " cannot be asked"),
        why: "what does not answer cannot be driven",
        fix: answers == true
          ? nil
          : answers == nil
            ? "see I2C above"
            : "check the board's power, its wires and its address (i2cdetect -y \(bus)); the file's key is \(claim.key)"
      )
    }
  }

  /// Checks the SPI chip select of the configuration, or lists the available ones if there is no configuration.
  func spi() -> [Diagnosis] {
    let there = machine.list("/dev").filter { $0.hasPrefix("spidev") }.map { "/dev/" + $0 }
    let why = "an mcp3008, which reads soil probes, is on SPI"
    let wanted = configuration?.claims.lazy.compactMap { claim -> (path: String, key: String)? in
      guard case .spi(let path) = claim.resource, path.hasPrefix("/") else { return nil }
      return (path, claim.key)
    }.first
    guard let (wanted, key) = wanted else {
      guard configuration == nil, !there.isEmpty else { return [] }
      return [Diagnosis(name: "SPI", status: .ok, found: there.joined(separator: ", "), why: why, fix: nil)]
    }
    let isThere = there.contains(wanted)
    return [
      Diagnosis(
        name: "SPI", status: isThere ? .ok : .fail, found: isThere ? wanted : "no \(wanted)", why: why,
        fix: isThere
          ? nil : "sudo raspi-config nonint do_spi 0, then set \(key) to one that ls /dev/spidev* shows")
    ]
  }

  func serialConsole() -> Diagnosis {
    let arguments = (machine.read("/proc/cmdline") ?? "").split(separator: " ")
    let consoles = arguments.filter { KernelArguments.isSerialConsole(String($0)) }
    let here = machine.list("/dev").contains("ttyAMA0")
    let ok = consoles.isEmpty || !here
    return Diagnosis(
      name: "serial line", status: ok ? .ok : .warn,
      found: here
        ? "/dev/ttyAMA0, "
          + (consoles.isEmpty ? "no console on it" : "console on it (\(consoles.joined(separator: " ")))")
        : "no /dev/ttyAMA0",
      why: "on a device's line the console's text would reach it as commands",
      fix: ok ? nil : "sudo raspi-config nonint do_serial_cons 1 && sudo reboot")
  }

  /// Checks that the process belongs to the device groups that exist on this host.
  func groups() -> [Diagnosis] {
    let wanted =
      ["i2c", "spi", "dialout", "gpio"] + Set(configuration?.systems.all.flatMap(\.deviceGroups) ?? []).sorted()
    let existing = (machine.read("/etc/group") ?? "").split(separator: "\n").compactMap { line -> (String, Int)? in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count >= 3, wanted.contains(String(fields[0])), let number = Int(fields[2]) else { return nil }
      return (String(fields[0]), number)
    }
    let missing = existing.filter { !machine.groups.contains($0.1) }.map(\.0).sorted()
    let ok = machine.isRoot || missing.isEmpty
    return [
      Diagnosis(
        name: "groups", status: ok ? .ok : .warn,
        found: machine.isRoot
          ? "root"
          : existing.isEmpty
            ? "none of i2c, spi, dialout, gpio exists here"
            : missing.isEmpty
              ? "in all of \(existing.map(\.0).sorted().joined(separator: ", "))"
              : "not in \(missing.joined(separator: ", "))",
        why: "a device that cannot be opened cannot be driven",
        fix: ok ? nil : "sudo usermod -aG \(missing.joined(separator: ",")) $USER, then log in again")
    ]
  }
}

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
