import DaemonSupport
import TestSupport
import Testing

@testable import TactusDaemon

/// The boot checklist on made-up machines, by their files.
@Suite("doctor: the boot checklist", .ownThread)
struct DoctorBootTests {
  private func examine(_ tree: MachineTree, _ configuration: String? = nil) throws -> [String: Diagnosis] {
    let read = try configuration.map {
      try Configuration.read(YAMLFile(text: $0, name: "c.yaml"), environment: [:])
    }
    let diagnoses = Doctor(machine: .at(root: tree.root), configuration: read).examine()
    return Dictionary(diagnoses.map { ($0.name, $0) }, uniquingKeysWith: { one, _ in one })
  }

  @Test("a Compute Module 4 as Raspberry Pi OS comes: each item with what was found, and its fix")
  func computeModule() throws {
    let found = try examine(MachineTree(MachineTree.computeModule))
    #expect(found["kernel"]?.status == .warn && found["kernel"]?.fix?.contains("linux-image-rpi-v8-rt") == true)
    #expect(found["isolated CPUs"]?.fix?.hasPrefix("sudo tactus setup pi --isolate 3 && sudo reboot") == true)
    #expect(found["interrupts"] == nil, "no CPU is isolated")
    #expect(found["CPU governor"]?.found == "ondemand")
    #expect(found["power and heat"]?.found == "under-voltage now, throttled now (0x50005)")
    #expect(
      found["memory card"]?.found
        == "mmcblk0: 90 to 100 % of its life used, 3 file system errors since the last check")
    #expect(found["memory card"]?.status == .warn)
    #expect(found["watchdog"]?.found == "Broadcom BCM2835 Watchdog timer: nobody feeds it")
    #expect(found["watchdog"]?.fix?.contains("RuntimeWatchdogSec=15s") == true)
    #expect(
      found["serial unit"]?.found == "Bluetooth has the good one (PL011)" && found["serial unit"]?.status == .warn)
    #expect(found["serial line"]?.status == .warn, "a console is on it")
    for name in ["I2C", "SPI", "PWM", "serial line"] {
      #expect(found["firmware, \(name)"]?.found == "off" && found["firmware, \(name)"]?.status == .ok, "\(name)")
    }
    #expect(found.values.filter { $0.status != .ok && $0.name != "time-keeping" }.allSatisfy { $0.fix != nil })
  }

  @Test("what the configuration needs and the firmware does not give: not ready, with the line to add")
  func needed() throws {
    let tree = try MachineTree(MachineTree.computeModule)
    let found = try examine(tree, "motors: { backend: xgo-rider, serial_device: /dev/ttyAMA0 }\nleg: { }\n")
    #expect(
      found["firmware, I2C"]
        == Diagnosis(
          name: "firmware, I2C", status: .fail, found: "off, and the configuration needs it",
          why: "without it the kernel has no such bus or line",
          fix: "printf '\\n[all]\\ndtparam=i2c_arm=on\\n' | sudo tee -a /boot/firmware/config.txt && sudo reboot"))
    #expect(found["firmware, serial line"]?.status == .fail && found["serial unit"]?.status == .fail)
    #expect(found["firmware, SPI"]?.status == .ok)
    // Set up, it is content with all of it.
    var wishes = PiSetup.Wishes()
    (wishes.hasI2C, wishes.hasSerialLine, wishes.isolated) = (true, true, [3])
    for change in try PiSetup(wishes: wishes, read: { tree.text($0) }).changes() {
      try tree.write(change.path, change.new)
    }
    let after = try examine(tree, "motors: { backend: xgo-rider, serial_device: /dev/ttyAMA0 }\nleg: { }\n")
    for name in ["firmware, I2C", "firmware, serial line", "serial unit"] {
      #expect(after[name]?.status == .ok, "\(name): \(after[name]?.found ?? "")")
    }
  }

  @Test("a plain Debian: nothing of a Pi; interrupts on isolated CPUs, and no watchdog")
  func debian() throws {
    let found = try examine(MachineTree(MachineTree.debian))
    #expect(found["kernel"]?.fix?.contains("linux-image-rt-$(dpkg --print-architecture)") == true)
    #expect(
      !found.keys.contains { $0.hasPrefix("firmware") } && found["serial unit"] == nil && found["memory card"] == nil)
    #expect(found["interrupts"]?.found == "on CPU 6-7: 24, 25")
    #expect(
      found["interrupts"]?.fix?.hasPrefix(
        "for i in 24 25; do echo 0-5 | sudo tee /proc/irq/$i/smp_affinity_list; done") == true)
    #expect(found["watchdog"]?.fix?.hasPrefix("sudo modprobe softdog") == true)
    #expect(found["power and heat"]?.found == "not reported here")
  }

  @Test("a card that is like new, one that does not say, one whose reserve is used up; a watchdog that runs")
  func states() throws {
    func card(_ files: [String: String]) throws -> String {
      let found = try examine(MachineTree(files))["memory card"]
      return "\(found?.status.rawValue ?? "") \(found?.found ?? "")"
    }
    let device = "/sys/block/mmcblk0/device"
    #expect(try card(["\(device)/life_time": "0x01 0x01\n"]) == "ok mmcblk0: 0 to 10 % of its life used")
    // No card says more than a byte.
    #expect(
      try card(["\(device)/life_time": "0x7fffffffffffffff 0xfff\n", "\(device)/pre_eol_info": "0x7fffffffffffffff\n"])
        == "ok mmcblk0: does not say how worn it is")
    #expect(try card(["\(device)/life_time": "0x08 0x01\n"]) == "ok mmcblk0: 70 to 80 % of its life used")
    #expect(try card(["\(device)/life_time": "0x09 0x01\n"]) == "warn mmcblk0: 80 to 90 % of its life used")
    #expect(try card(["\(device)/type": "SD\n"]) == "ok mmcblk0: does not say how worn it is")
    #expect(
      try card(["\(device)/life_time": "0x0b 0x03\n", "\(device)/pre_eol_info": "0x02\n"])
        == "warn mmcblk0: beyond the end of its life, its reserve is nearly used up")
    let running = try examine(
      MachineTree([
        "/sys/class/watchdog/watchdog0/identity": "iTCO_wdt", "/sys/class/watchdog/watchdog0/state": "active\n",
        "/sys/class/watchdog/watchdog0/timeout": "15\n",
      ]))["watchdog"]
    #expect(running?.status == .ok && running?.found == "iTCO_wdt: running, after 15 s")
  }

  @Test("a config.txt that is not understood: told with its line, and nothing else of the firmware")
  func unreadable() throws {
    let tree = try MachineTree(["/boot/firmware/config.txt": "a=1\nwhat is this\n"])
    let found = try examine(tree)
    #expect(
      found["firmware"]?.found
        == "/boot/firmware/config.txt:2: expected KEY=VALUE, [FILTER] or # a comment, got what is this")
    #expect(found["firmware"]?.fix == "sudo nano +2 /boot/firmware/config.txt")
  }

  @Test("this machine, and one below a folder: the command says its verdict")
  func command() throws {
    let here = try TactusProcess(["doctor"])
    _ = here.finish()
    #expect(here.said.contains("watchdog: ") && here.said.contains("power and heat: "), "\(here.said)")
    let tree = try MachineTree(MachineTree.computeModule)
    let card = try TactusProcess(["doctor", "--root", tree.root])
    #expect(card.finish() == 0, "\(card.said)")
    #expect(card.said.contains("warn  memory card: mmcblk0"))
  }
}
