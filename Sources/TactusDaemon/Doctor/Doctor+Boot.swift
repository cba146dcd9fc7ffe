@_spi(FromOutside) import Conversions
import Tactus

// Checks of what is decided before this program runs: by the firmware, by the kernel's arguments and by the memory card.
extension Doctor {
  static var setup: String { "sudo \(DaemonProgram.current.name) setup pi" }

  /// Checks whether this machine has the CPUs that the file gives to lanes; returns a result for each lane of which it lacks one.
  func laneCPUs() -> [Diagnosis] {
    guard let configuration, let online = machine.read("/sys/devices/system/cpu/online").flatMap({ CPUSet($0) }) else {
      return []
    }
    return configuration.systems.all.compactMap { system in
      guard let wanted = system.cpus else { return nil }
      let missing = CPUSet(wanted.cpus.filter { !online.contains($0) })
      guard !missing.isEmpty else { return nil }
      let key = "runtime.\(system.name.prefix { $0 != "/" }).cpu"
      return Diagnosis(
        name: key, status: .fail, found: "expected CPUs of this machine, which has \(online), got \(missing)",
        why: "the kernel refuses the others, and a lane of which none is left runs on any CPU",
        fix: "give \(key) CPUs of \(online), or remove it from the file")
    }
  }

  /// Checks for interrupts that run on isolated CPUs; returns no result if no CPU is isolated.
  func interrupts() -> [Diagnosis] {
    let isolated = machine.read("/sys/devices/system/cpu/isolated").flatMap { CPUSet($0) }
    guard let isolated, !isolated.isEmpty else { return [] }
    let numbers = machine.list("/proc/irq").compactMap { Int($0) }.sorted()
    let there = numbers.filter { number in
      let folder = "/proc/irq/\(number)"
      let text = machine.read("\(folder)/effective_affinity_list") ?? machine.read("\(folder)/smp_affinity_list")
      // An interrupt that no driver has requested never runs.
      guard let cpus = text.flatMap({ CPUSet($0) }), !machine.list(folder).isEmpty else { return false }
      return cpus.cpus.allSatisfy { isolated.contains($0) }
    }
    let others = CPUSet(0..<(isolated.cpus.first ?? 1))
    return [
      Diagnosis(
        name: "interrupts", status: there.isEmpty ? .ok : .warn,
        found: there.isEmpty
          ? "none is bound to CPU \(isolated)"
          : "on CPU \(isolated): \(there.prefix(8).map(String.init).joined(separator: ", "))"
            + (there.count > 8 ? " and \(there.count - 8) more" : ""),
        why: "a device's interrupt holds up the lane that the CPU was isolated for",
        fix: there.isEmpty
          ? nil
          : "for i in \(there.map(String.init).joined(separator: " ")); do echo \(others) | "
            + "sudo tee /proc/irq/$i/smp_affinity_list; done; for good: \(Self.setup), which adds irqaffinity=\(others)"
      )
    ]
  }

  /// Checks memory cards for worn flash memory, by the card's own report and by the errors of the file systems on it.
  func cards() -> [Diagnosis] {
    let why = "a card that wears out loses what was acknowledged, and then stops the machine from starting"
    let replace = "sudo dmesg | grep -E 'mmc|EXT4-fs'; then copy what is on it and replace it"
    let cards = machine.list("/sys/block").filter { $0.hasPrefix("mmcblk") && !$0.contains("boot") }.map { name in
      let folder = "/sys/block/\(name)/device"
      let life = (machine.read("\(folder)/life_time") ?? "").split(separator: " ").compactMap {
        UInt8($0.drop { $0 == "0" || $0 == "x" }, radix: 16).map { Int($0) }
      }.max()
      let reserve = machine.read("\(folder)/pre_eol_info").flatMap {
        UInt8($0.drop { $0 == "0" || $0 == "x" }, radix: 16)
      }
      let errors = machine.list("/sys/fs/ext4").filter { $0.hasPrefix(name) }.reduce(0) { sum, partition in
        sum + (machine.read("/sys/fs/ext4/\(partition)/errors_count").flatMap { UInt32($0) }.map { Int($0) } ?? 0)
      }
      // JEDEC JESD84-B51: the life time in tenths, 11 beyond its end; of the reserve 2 says that 80 % are used, 3 more.
      let isWorn = (life ?? 0) >= 9 || (reserve ?? 0) >= 2
      let said = [
        life.map { $0 >= 11 ? "beyond the end of its life" : "\(($0 - 1) * 10) to \($0 * 10) % of its life used" }
          ?? "does not say how worn it is", (reserve ?? 0) >= 2 ? "its reserve is nearly used up" : nil,
        errors > 0 ? "\(errors) file system error\(errors == 1 ? "" : "s") since the last check" : nil,
      ]
      return Diagnosis(
        name: "memory card", status: isWorn || errors > 0 ? .warn : .ok,
        found: "\(name): " + said.compactMap(\.self).joined(separator: ", "), why: why,
        fix: isWorn || errors > 0 ? replace : nil)
    }
    return cards
  }

  var isPi: Bool { PiSetup.bootFolder(machine.read) != nil }

  /// Checks the devices that the firmware of a Raspberry Pi switches on: one result for each, which fails if the
  /// configuration needs a device that is off.
  func firmware() -> [Diagnosis] {
    guard let folder = PiSetup.bootFolder(machine.read) else { return [] }
    let path = "\(folder)/config.txt"
    let file: FirmwareConfiguration
    do {
      file = try FirmwareConfiguration(machine.read(path) ?? "", path: path)
    } catch {
      return [
        Diagnosis(
          name: "firmware", status: .warn, found: "\(error)", why: "what is not understood cannot be checked",
          fix: "sudo nano +\(error.line) \(path)")
      ]
    }
    let wishes = configuration.map { PiSetup.Wishes($0) } ?? PiSetup.Wishes()
    func overlay(_ name: String, _ isOn: Bool, isNeeded: Bool, _ setting: String) -> Diagnosis {
      Diagnosis(
        name: "firmware, \(name)", status: isOn || !isNeeded ? .ok : .fail,
        found: isOn ? "on" : isNeeded ? "off, and the configuration needs it" : "off",
        why: "without it the kernel has no such bus or line",
        fix: isOn || !isNeeded ? nil : "printf '\\n[all]\\n\(setting)\\n' | sudo tee -a \(path) && sudo reboot")
    }
    return [
      overlay(
        "I2C", file.parameter("i2c_arm", "i2c", "i2c1") == "on", isNeeded: wishes.hasI2C, "dtparam=i2c_arm=on"),
      overlay("SPI", file.parameter("spi") == "on", isNeeded: wishes.hasSPI, "dtparam=spi=on"),
      overlay("PWM", file.hasOverlay("pwm", "pwm-2chan"), isNeeded: wishes.hasPWM, "dtoverlay=pwm-2chan"),
      overlay("serial line", file.value(of: "enable_uart") == "1", isNeeded: wishes.hasSerialLine, "enable_uart=1"),
    ]
  }

  /// Checks which serial unit is connected to the header. On boards with a radio it is the slow one, whose bit rate
  /// follows the CPU's frequency, unless an overlay exchanges the two.
  func serialUnit() -> [Diagnosis] {
    guard let folder = PiSetup.bootFolder(machine.read),
      let file = try? FirmwareConfiguration(machine.read("\(folder)/config.txt") ?? "", path: "")
    else { return [] }
    let bluetooth = "/proc/device-tree/soc/serial@7e201000/bluetooth"
    guard !machine.list(bluetooth).isEmpty else { return [] }
    let status = machine.read("\(bluetooth)/status") ?? "okay"
    let holds =
      !status.hasPrefix("disabled")
      && !file.hasOverlay("disable-bt", "miniuart-bt", "pi3-disable-bt", "pi3-miniuart-bt")
    let isNeeded = configuration.map { PiSetup.Wishes($0).hasSerialLine } ?? false
    return [
      Diagnosis(
        name: "serial unit", status: holds ? (isNeeded ? .fail : .warn) : .ok,
        found: holds ? "Bluetooth has the good one (PL011)" : "the good one (PL011) is at the header",
        why: "the slow one changes its bit rate with the CPU's frequency, and a board at its other end hears garbage",
        fix: holds
          ? "printf '\\n[all]\\ndtoverlay=disable-bt\\n' | sudo tee -a \(folder)/config.txt && sudo reboot"
            + " (miniuart-bt keeps Bluetooth, on the slow one)" : nil)
    ]
  }
}
