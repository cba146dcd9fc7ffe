import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import LegDaemon
@testable import TactusDaemon

/// Name and status of everything that is not ok.
private func complaints(_ machine: Machine) -> [String] {
  Doctor(machine: machine).examine().filter { $0.status != .ok }.map { "\($0.name) \($0.status.rawValue)" }
}

@Suite("doctor", .ownThread)
struct DoctorTests {
  @Test("a kernel without Landlock, and a file that switches the confinement off: told, with the way out")
  func confinement() throws {
    #expect(complaints(goodPi().changed { $0.landlockVersion = 7 }) == [])
    #expect(complaints(goodPi().changed { $0.landlockVersion = 0 }) == ["confinement warn"])
    var doctor = Doctor(machine: goodPi().changed { $0.landlockVersion = 7 })
    doctor.configuration = try read("motors: { backend: sim }\nruntime: { confine: false }")
    let found = doctor.examine().filter { $0.name == "confinement" }
    #expect(found.map(\.found) == ["switched off"])
    #expect(found.map(\.fix) == ["remove runtime.confine from the file"])
  }

  @Test("newlines and control characters of the file are told, and not printed")
  func controlCharacters() throws {
    var doctor = Doctor(machine: goodPi())
    doctor.configuration = try read(#"pump: { device: "/dev/tty\nUSB0\e[2J" }"#)
    let line = try #require(doctor.serialLines().first).text
    #expect(line.hasPrefix(#"FAIL  pump.device: /dev/tty\nUSB0\u001b[2J is not there"# + "\n        why: "), "\(line)")
    #expect(!line.contains("\u{1B}"))
    let diagnosis = Diagnosis(name: "a\u{1B}[2J", status: .fail, found: "b\nc", why: "d\re", fix: "f\u{7F}")
    let lines = [#"FAIL  a\u001b[2J: b\nc"#, #"        why: d\re"#, #"        fix: f\u007f"#]
    #expect(diagnosis.text == lines.joined(separator: "\n"))
  }

  @Test("a machine on which everything is right: no complaint, nothing to fix")
  func good() {
    #expect(complaints(goodPi()) == [])
    #expect(Doctor(machine: goodPi()).examine().allSatisfy { $0.fix == nil })
  }

  @Test("a CPU for a lane that the machine does not have: told with the key and the CPUs that there are")
  func laneCPUs() throws {
    var doctor = Doctor(machine: goodPi())
    doctor.configuration = try read(
      "motors: { backend: sim }\nleg: { backend: sim }\nruntime: { robot: { cpu: \"2-3,99\" }, leg: { cpu: 3 } }")
    let found = doctor.laneCPUs()
    #expect(found.map(\.name) == ["runtime.robot.cpu"] && found.map(\.status) == [.fail])
    #expect(found.map(\.found) == ["expected CPUs of this machine, which has 0-3, got 99"])
    #expect(found.map(\.fix) == ["give runtime.robot.cpu CPUs of 0-3, or remove it from the file"])
    #expect(doctor.examine().contains { $0.name == "runtime.robot.cpu" })
  }

  @Test("a folder in the place of a file, and the other way round: told; what is not there yet is in order")
  func places() throws {
    #expect(Doctor.flaw(of: "/dev", isFolder: true) == nil && Doctor.flaw(of: "/dev/null", isFolder: false) == nil)
    #expect(Doctor.flaw(of: "/dev", isFolder: false) == "a folder")
    #expect(Doctor.flaw(of: "/dev/null", isFolder: true) == "something else")
    #expect(Doctor.flaw(of: "/dev/null/store", isFolder: true) == "a path through something that is no folder")
    #expect(Doctor.flaw(of: "/nothing/there", isFolder: true) == nil)
    var doctor = Doctor(machine: goodPi().changed { $0.isThisOne = true })
    doctor.configuration = try read(
      "motors: { backend: sim }\nservice: { token_file: /dev }\nlogging: { file: /dev }\n"
        + "sprinkler: { backend: sim, zones: [{ pin: 17 }] }\nstore: { folder: /dev/null }\n")
    let found = doctor.places()
    #expect(found.map(\.name) == ["store.folder", "service.token_file", "logging.file"])
    #expect(found.map(\.found).last == "/dev: expected a file, got a folder")
    #expect(found.allSatisfy { $0.status == .fail && $0.fix != nil })
  }

  @Test("SPI: the chip select of the file is there, or how to get it; nothing is said where no chip is on SPI")
  func spi() throws {
    func found(_ sensor: String, _ devices: [String]) throws -> [Diagnosis] {
      let configuration = try Configuration.read(
        YAMLFile(text: "plants: { sensors: [{ chip: \(sensor) }] }", name: "c.yaml"), environment: [:])
      let machine = goodPi().changed { $0.list = { $0 == "/dev" ? devices : [] } }
      return Doctor(machine: machine, configuration: configuration).spi()
    }
    #expect(try found("mcp3008", ["spidev0.0", "spidev0.1"]).map(\.found) == ["/dev/spidev0.0"])
    let missing = try found("mcp3008", ["i2c-1"])
    #expect(missing.map(\.found) == ["no /dev/spidev0.0"] && missing[0].fix?.contains("do_spi 0") == true)
    #expect(try found("seesaw", ["spidev0.0"]).isEmpty)
    #expect(Doctor(machine: goodPi()).spi().isEmpty)
  }

  @Test(
    "GPIO: the header's chip with who is on it; a kernel that keeps a released line's level, and one that forbids, warn"
  )
  func gpio() {
    let header = GPIOChipReport(path: "/dev/gpiochip0", label: "pinctrl-rp1", lines: 54, used: ["GPIO8 (spi0 CS0)"])
    let other = GPIOChipReport(path: "/dev/gpiochip10", label: "gpio-brcmstb@107d508500", lines: 32, used: [])
    let pi = goodPi().changed { $0.gpioChips = { [header, other] } }
    let found = Doctor(machine: pi).gpio()
    #expect(found.map(\.found) == ["/dev/gpiochip0: pinctrl-rp1, 54 lines, in use: GPIO8 (spi0 CS0)"])
    let parameter = "/sys/module/pinctrl_bcm2835/parameters/persist_gpio_outputs"
    #expect(complaints(pi.with(parameter, "N")) == [])
    #expect(complaints(pi.with(parameter, "Y")) == ["GPIO after a crash warn"])
    #expect(complaints(pi.changed { $0.gpioChips = { nil } }) == ["GPIO warn"])
  }

  @Test("chips: those of the configuration, each with its key; without one, whether a PCA9685's address answers")
  func chips() throws {
    let pi = goodPi().changed { $0.i2cAnswers = { path, address in path == "/dev/i2c-1" ? address == 0x40 : nil } }
    #expect(Doctor(machine: pi).servoChips().map(\.found) == ["0x40 answers on /dev/i2c-1"] && complaints(pi) == [])
    let empty = goodPi().changed { $0.i2cAnswers = { _, _ in false } }
    #expect(Doctor(machine: empty).servoChips().map(\.found) == ["nothing answers at 0x40, where a PCA9685 is"])
    #expect(complaints(empty) == [], "not every machine has servos")
    #expect(Doctor(machine: goodPi()).servoChips() == [], "a bus that cannot be asked is told of already")
    let text = "motors:\nleg: { battery: { sensor: ads1115 } }\n"
    let configuration = try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:])
    let found = Doctor(machine: pi, configuration: configuration).chips()
    #expect(found.map(\.name) == ["motors.i2c_address", "leg.i2c_address", "leg.battery.i2c_address"])
    #expect(found.map(\.status) == [.fail, .ok, .fail])
    #expect(
      found[0].found == "address 0x16 on /dev/i2c-1 does not answer" && found[0].fix?.contains("i2cdetect -y 1") == true
    )
    let silent = Doctor(machine: goodPi(), configuration: configuration).chips()
    #expect(silent.allSatisfy { $0.status == .fail && $0.found.hasSuffix("cannot be asked") && $0.fix != nil })
    let without = goodPi().changed { $0.list = { _ in [] } }
    let missing = Doctor(machine: without, configuration: configuration).chips()
    #expect(missing.map(\.status) == [.fail, .fail, .fail] && missing[0].found == "no /dev/i2c-1, for address 0x16")
  }

  @Test("GPIO lines of the file: no chip, no such line, no permission: not ready")
  func configuredLines() throws {
    let text = "sprinkler: { zones: [{ pin: 17 }, { pin: 27 }] }\nleg: { output_enable: 'gpiochip4:99' }\n"
    let configuration = try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:])
    func found(_ chips: [GPIOChipReport]?) -> [String] {
      Doctor(machine: goodPi().changed { $0.gpioChips = { chips } }, configuration: configuration).lines().map {
        "\($0.name) \($0.status): \($0.found)"
      }
    }
    let names = ["GPIO17", "GPIO27"]
    let chip = GPIOChipReport(path: "/dev/gpiochip4", label: "pinctrl-rp1", lines: 100, used: [], names: names)
    #expect(found([chip]) == [])
    let short = GPIOChipReport(path: "/dev/gpiochip4", label: "pinctrl-rp1", lines: 54, used: [], names: names)
    #expect(found([short]) == ["leg.output_enable fail: no chip here has gpiochip4:99"])
    #expect(found([]).count == 3)
    #expect(found(nil) == ["leg.output_enable fail: no permission to open /dev/gpiochip*"])
  }

  @Test("tactus doctor with a file whose bus is not there: not ready, names the key, and ends with status 1")
  func fileWithoutItsBus() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(
      "motors: { backend: xgo-rider, serial_device: /dev/tty-that-is-not-there }\n", to: "c.yaml")
    let doctor = try TactusProcess(["doctor", "--config", path])
    #expect(doctor.finish() == 1)
    #expect(doctor.said.contains("FAIL  motors.serial_device: /dev/tty-that-is-not-there is not there"))
    let verdict = doctor.said.split(separator: "\n").last ?? ""
    #expect(verdict.hasPrefix("not ready: ") && verdict.contains("motors.serial_device"), "\(doctor.said)")
  }

  @Test("one thing wrong: one complaint, with its severity")
  func oneThing() {
    let pi = goodPi()
    #expect(complaints(pi.changed { $0.kernelVersion = "#1 SMP PREEMPT Debian" }) == ["kernel warn"])
    #expect(complaints(pi.changed { $0.priorityLimit = 0 }) == ["real-time priority fail"])
    #expect(complaints(pi.changed { $0.memoryLimit = 8 << 20 }) == ["locked memory fail"])
    #expect(complaints(pi.with("/proc/sys/kernel/sched_rt_runtime_us", "0")) == ["real-time throttling fail"])
    #expect(complaints(pi.with("/proc/sys/kernel/sched_rt_runtime_us", "-1")) == ["real-time throttling warn"])
    let grouped = pi.with("/proc/self/cgroup", "0::/tactus")
    #expect(complaints(grouped) == [])
    #expect(complaints(grouped.with("/sys/fs/cgroup/tactus/cpu.max", "20000 100000")) == ["control group warn"])
    #expect(complaints(grouped.with("/sys/fs/cgroup/memory.max", "1000000")) == ["control group warn"])
    let without = grouped.with("/sys/fs/cgroup/cpu.rt_runtime_us", "0")
    #expect(complaints(without.with("/sys/fs/cgroup/cpu.rt_period_us", "1000000")) == ["control group fail"])
    #expect(
      complaints(pi.with("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand")) == ["CPU governor warn"])
    #expect(complaints(pi.with("/sys/devices/system/cpu/isolated", "")) == ["isolated CPUs warn"])
    #expect(
      complaints(pi.with("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"))
        == ["clock source warn"])
    #expect(
      complaints(pi.with("/sys/devices/platform/soc/soc:firmware/get_throttled", "50005")) == ["power and heat warn"])
    #expect(complaints(pi.changed { $0.timeIsSynchronized = false }) == ["time-keeping warn"])
    #expect(complaints(pi.changed { $0.i2cFunctions = { _ in nil } }) == ["I2C warn"])
    #expect(complaints(pi.changed { $0.i2cFunctions = { _ in 0x0010_0000 } }) == ["I2C warn"])
    #expect(complaints(pi.with("/proc/cmdline", "console=serial0,115200 root=x")) == ["serial line warn"])
    #expect(complaints(pi.changed { $0.groups = [1000, 994] }) == ["groups warn"])
  }

  @Test("Bluetooth: no adapter is fine; a blocked one, or one without bluetoothd, is told with what to do")
  func bluetooth() {
    func found(_ files: [String: String], hci: [String] = ["hci0", "hci0:64"]) -> Diagnosis {
      let pi = goodPi().changed {
        let (read, list) = ($0.read, $0.list)
        let folders = [
          "/sys/class/bluetooth": hci, "/sys/class/rfkill": ["rfkill0", "rfkill1"], "/proc": ["1", "42", "stat"],
        ]
        $0.read = { files[$0] ?? read($0) }
        $0.list = { folders[$0] ?? list($0) }
      }
      return Doctor(machine: pi).bluetooth()
    }
    let radio = ["/sys/class/rfkill/rfkill1/type": "bluetooth", "/sys/class/rfkill/rfkill0/soft": "1"]
    let daemon = radio.merging(["/proc/42/comm": "bluetoothd"]) { $1 }
    #expect(found([:], hci: []).status == .ok)
    #expect(found(daemon).found == "hci0, bluetoothd is running")
    #expect(found(radio).fix == "sudo apt install bluez && sudo systemctl enable --now bluetooth")
    #expect(
      found(daemon.merging(["/sys/class/rfkill/rfkill1/soft": "1"]) { $1 }).fix == "sudo rfkill unblock bluetooth")
    #expect(
      found(daemon.merging(["/sys/class/rfkill/rfkill1/hard": "1"]) { $1 }).found
        == "hci0, blocked by a switch on the machine")
  }

  @Test("privileges: make up for the limits")
  func privileges() {
    let machine = goodPi().changed {
      $0.priorityLimit = 0
      $0.memoryLimit = 0
      $0.maySetPriority = true
      $0.mayLockMemory = true
      $0.groups = []
      $0.isRoot = true
    }
    #expect(complaints(machine) == [])
  }

  @Test("every complaint: says why and how to fix it")
  func fixes() {
    let machine = goodPi().changed {
      $0.read = { _ in nil }
      $0.list = { _ in [] }
      $0.kernelVersion = ""
      $0.priorityLimit = 0
      $0.memoryLimit = 0
      $0.timeIsSynchronized = nil
    }
    for diagnosis in Doctor(machine: machine).examine() where diagnosis.status != .ok {
      #expect(!diagnosis.why.isEmpty, "\(diagnosis.name)")
      if diagnosis.name != "clock source" { #expect(diagnosis.fix != nil, "\(diagnosis.name)") }
    }
  }

  @Test("tactus doctor --json on this machine: one JSON object whose verdict is the exit status")
  func json() throws {
    let doctor = try TactusProcess(["doctor", "--json"])
    let status = try #require(doctor.finish())
    let object = try #require(try JSONSerialization.jsonObject(with: Data(doctor.said.utf8)) as? [String: Any])
    let checks = try #require(object["checks"] as? [[String: String]])
    #expect(checks.count >= 11)
    #expect(object["ready"] as? Bool == (status == 0))
    #expect(checks.contains { $0["status"] == "fail" } == (status == 1))
  }
}
