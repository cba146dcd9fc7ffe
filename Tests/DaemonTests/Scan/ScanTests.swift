import Foundation
import Service
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

/// A machine of files: a path and its text, or its link's target. Folders follow from the paths.
private func machine(
  _ files: [String: String], links: [String: String] = [:], answering: Set<UInt8>? = [],
  holders: [String: [String]] = [:], asked: @escaping @Sendable (UInt8) -> Void = { _ in }
) -> Machine {
  var machine = Machine.at(root: "/nonexistent")
  machine.read = { files[$0] }
  machine.list = { folder in
    let below = (Array(files.keys) + links.keys).filter { $0.hasPrefix(folder + "/") }
    return Set(below.compactMap { $0.dropFirst(folder.count + 1).split(separator: "/").first.map(String.init) })
      .sorted()
  }
  machine.link = { links[$0] }
  machine.i2cAnswers = { _, address in
    asked(address)
    return answering.map { $0.contains(address) }
  }
  machine.holders = { paths in paths.flatMap { holders[$0] ?? [] } }
  machine.isThisOne = false
  return machine
}

private final class Asked: @unchecked Sendable {
  // Touched by the test's own thread only.
  var addresses: [UInt8] = []
}

private func scan(_ machine: Machine, allBuses: Bool = false) -> Scan {
  Scan(machine: machine, patience: .seconds(1), allBuses: allBuses)
}

@Suite("scan", .ownThread)
struct ScanTests {
  @Test("sensors of the kernel, as the file names them; none: what to do")
  func sensors() throws {
    let pi = machine([
      "/sys/class/hwmon/hwmon2/name": "lm75", "/sys/class/hwmon/hwmon2/temp1_input": "23125",
      "/sys/class/hwmon/hwmon2/temp1_label": "Tank", "/sys/bus/iio/devices/iio:device0/name": "bme280",
      "/sys/bus/iio/devices/iio:device0/in_pressure_input": "101.3",
      "/sys/bus/w1/devices/28-0316a2795bff/temperature": "23125",
      "/sys/bus/w1/devices/w1_bus_master1/w1_master_name": "w1_bus_master1",
    ])
    let report = scan(pi).report(.sensor)
    #expect(
      report.finds.map(\.place) == ["iio:bme280/pressure", "hwmon:lm75/temp1", "w1:28-0316a2795bff"])
    #expect(report.finds[1].name == "Tank")
    #expect(report.finds[1].details == ["°C", "/sys/class/hwmon/hwmon2/temp1_input"])
    #expect(scan(machine([:])).report(.sensor).remarks.first?.contains("dtoverlay=w1-gpio") == true)
  }

  @Test(
    "I2C: what answers, what it may be, for which key; a kernel driver's address is told and not asked, two addresses never"
  )
  func chips() throws {
    let asked = Asked()
    let pi = machine(
      [
        "/dev/i2c-1": "", "/sys/bus/i2c/devices/1-0068/driver": "", "/sys/bus/i2c/devices/1-0068/name": "ds3231",
        "/sys/class/i2c-adapter/i2c-1/name": "bcm2835 (i2c@7e804000)",
      ], answering: [0x40, 0x48, 0x23, 0x0C, 0x69], asked: { asked.addresses.append($0) })
    let report = scan(pi).i2c()
    #expect(
      report.finds.map(\.place) == [
        "0x68 on /dev/i2c-1", "0x23 on /dev/i2c-1", "0x40 on /dev/i2c-1", "0x48 on /dev/i2c-1",
      ])
    #expect(report.finds[0].name == "ds3231" && report.finds[0].trouble?.hasPrefix("a driver of the kernel") == true)
    #expect(report.finds[1].settings.isEmpty && report.finds[1].probably == ["MCP23017 or PCF8574 port expander"])
    #expect(report.finds[2].probably == ["PCA9685 servo driver", "INA219 current sensor"])
    #expect(
      report.finds[2].settings.map { $0.map(\.key) }.contains(["leg.i2c_address", "leg.i2c_bus"]))
    #expect(report.finds[2].settings[0].map(\.value) == ["0x40", "1"])
    #expect(
      Set(report.finds[3].settings.map { $0[0].key }) == [
        "leg.i2c_address", "leg.battery.i2c_address", "plants.sensors[].i2c_address", "pump.adc.i2c_address",
      ])
    #expect(asked.addresses.count == 0x77 - 0x08 + 1 - 3)
    #expect(Set(asked.addresses).isDisjoint(with: [0x68, 0x0C, 0x69]))
    #expect(report.remarks.count == 1 && report.remarks[0].contains("0x0C (a read ends the alert"))
  }

  @Test("I2C: while a daemon of another account runs, whose open files only root sees, no bus is asked unless told to")
  func unseenDaemon() {
    let files = ["/dev/i2c-1": "", "/proc/812/comm": "tactus", "/proc/9/comm": "bash"]
    var stranger = machine(files, answering: [0x40])
    stranger.isRoot = false
    #expect(scan(stranger).i2c().finds.isEmpty)
    #expect(scan(stranger).i2c().remarks.last?.contains("(process 812), and only root sees") == true)
    #expect(scan(stranger, allBuses: true).i2c().finds.count == 1)
    stranger.isRoot = true
    #expect(scan(stranger).i2c().finds.count == 1)
    // This account sees the open files of its own daemon, and the bus is not among them.
    var own = machine(files.merging(["/proc/812/fd/0": ""]) { $1 }, answering: [0x40])
    own.isRoot = false
    #expect(scan(own).i2c().finds.count == 1)
  }

  @Test("I2C: a bus that a program has open, or that is the board's own, is asked only when told to")
  func busyBus() {
    let busy = machine(["/dev/i2c-1": ""], answering: [0x40], holders: ["/dev/i2c-1": ["812 tactus"]])
    #expect(scan(busy).i2c().finds.isEmpty)
    #expect(
      scan(busy).i2c().remarks.last == "/dev/i2c-1 was not asked: 812 tactus has it open; --all-buses asks nevertheless"
    )
    #expect(scan(busy, allBuses: true).i2c().finds.map(\.place) == ["0x40 on /dev/i2c-1"])
    let own = machine(
      ["/dev/i2c-0": "", "/sys/class/i2c-adapter/i2c-0/name": "SMBus I801 adapter"], answering: [0x50])
    #expect(scan(own).i2c().finds.isEmpty)
    #expect(scan(own).i2c().remarks.last?.contains("the board's own") == true)
    #expect(scan(own, allBuses: true).i2c().finds.count == 1)
  }

  @Test("I2C: no bus, one that cannot be asked, and one on which nothing answers: each says why")
  func nothing() {
    #expect(
      scan(machine([:])).i2c().remarks == ["no /dev/i2c-N: sudo raspi-config nonint do_i2c 0 && sudo modprobe i2c-dev"])
    let files = scan(machine(["/dev/i2c-1": ""], answering: nil)).i2c()
    #expect(files.remarks == ["no chip answers", "/dev/i2c-1 was not asked: only files are looked at"])
    #expect(scan(machine(["/dev/i2c-1": ""])).i2c().remarks.first == "no chip answers")
  }

  @Test(
    "serial: the stable name, what USB says, who has it, the console; a line of the board that is not there is left out"
  )
  func serial() {
    let pi = machine(
      [
        "/dev/ttyUSB0": "", "/dev/ttyACM0": "", "/dev/ttyS0": "", "/dev/ttyAMA0": "", "/dev/tty1": "",
        "/sys/class/tty/ttyS0/type": "0", "/proc/cmdline": "console=serial0,115200 console=tty1",
        "/sys/class/tty/ttyUSB0/device/../../idVendor": "1a86", "/sys/class/tty/ttyUSB0/device/../../idProduct": "7523",
        "/sys/class/tty/ttyUSB0/device/../../product": "USB\u{1B}[31m Serial",
        "/sys/class/tty/ttyACM0/device/../idVendor": "2e8a", "/sys/class/tty/ttyACM0/device/../manufacturer": "Pico",
      ],
      links: [
        "/dev/serial0": "ttyAMA0", "/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0": "../../ttyUSB0",
      ], holders: ["/dev/ttyACM0": ["99 minicom"]])
    let finds = scan(pi).serial().finds
    #expect(finds.map(\.place) == ["/dev/ttyACM0", "/dev/serial0", "/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0"])
    #expect(finds.map(\.name) == ["Pico", "", "USB[31m Serial"])
    #expect(finds[0].trouble == "busy: 99 minicom has it open")
    #expect(finds[1].trouble?.hasPrefix("the kernel's console is on it") == true)
    #expect(finds[2].trouble == nil && finds[2].details == ["/dev/ttyUSB0", "USB 1a86:7523"])
    #expect(
      finds[2].settings.map { $0[0].key } == ["motors.serial_device", "leg.serial", "pump.device"])
    #expect(finds[2].settings[0][0].value == "/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0")
    #expect(scan(machine(["/dev/ttyS0": ""])).serial().finds.isEmpty)
    #expect(scan(machine([:])).serial().remarks[0].hasPrefix("no serial line: "))
  }

  @Test("cameras of files: one a device, without its node of metadata; none: what to look at")
  func cameras() {
    let folder = "/sys/class/video4linux"
    let report = scan(
      machine([
        "\(folder)/video0/name": "HD Webcam", "\(folder)/video0/index": "0", "\(folder)/video1/name": "HD Webcam",
        "\(folder)/video1/index": "1",
      ])
    ).cameras()
    #expect(report.finds.map(\.place) == ["/dev/video0"] && report.finds[0].name == "HD Webcam")
    #expect(report.finds[0].settings == [[.init(key: "camera.device", value: "/dev/video0")]])
    #expect(scan(machine([:])).cameras().remarks[0].hasPrefix("no camera: "))
  }

  @Test("the table and the JSON of a report")
  func shown() {
    var find = ScanFind(kind: .serial, place: "/dev/a", name: "A", details: ["1", "2", "3", "4", "5"])
    find.settings = [[.init(key: "leg.serial", value: "/dev/a")]]
    let report = ScanReport(finds: [find], remarks: ["and more"])
    #expect(
      report.text(.serial) == """
        serial: 1 found
          PLACE   NAME  PROBABLY  FOR KEY     MORE
          /dev/a  A               leg.serial  1, 2, 3, 4, 1 more
          and more

        """)
    #expect(ScanReport(remarks: ["none"]).text(.ble) == "ble: nothing found\n  none\n")
    #expect(
      String(decoding: ScanReport.json([(.serial, report)]).bytes, as: UTF8.self)
        == #"{"serial":{"finds":[{"place":"/dev/a","name":"A","probably":[],"details":["1","2","3","4","5"],"trouble":null,"#
        + #""keys":[[{"key":"leg.serial","value":"/dev/a"}]]}],"remarks":["and more"]}}"#)
  }

  @Test(
    "a choice: a key that a scan cannot fill, an item without number and a bad value are refused; a bus goes with an address"
  )
  func choices() throws {
    func refusal(_ argument: String) -> String? {
      do throws(ScanChoice.Refusal) { _ = try ScanChoice(argument) } catch { return "\(error)" }
      return nil
    }
    #expect(refusal("leg.frequency_hz")?.hasPrefix("expected a key that a scan can fill (") == true)
    #expect(
      refusal("plants.sensors[].i2c_address")
        == "expected the number of an item, as plants.sensors[0].i2c_address, got plants.sensors[].i2c_address")
    #expect(refusal("leg.i2c_address=0x05") == "leg.i2c_address: expected an integer 64…119, got 0x05")
    #expect(refusal("leg.i2c_address=0x41") == nil)
    let report = scan(machine(["/dev/i2c-3": ""], answering: [0x36])).i2c()
    let candidates = try ScanChoice("plants.sensors[0].i2c_address").candidates(in: report.finds)
    #expect(candidates.count == 1)
    let text = try ScanChoice.apply(
      candidates[0].settings, to: "plants:\n  sensors:\n    - chip: seesaw # the fern\n", file: "a.yaml",
      environment: [:])
    #expect(
      text == "plants:\n  i2c_bus: 3\n  sensors:\n    - chip: seesaw # the fern\n      i2c_address: 0x36\n")
    // The default says the same already.
    let first = scan(machine(["/dev/i2c-1": ""], answering: [0x40])).i2c()
    let leg = try ScanChoice("leg.i2c_address").candidates(in: first.finds)[0].settings
    #expect(
      try ScanChoice.apply(leg, to: "leg:\n", file: "a.yaml", environment: [:]) == "leg:\n  i2c_address: 0x40\n")
  }
}
