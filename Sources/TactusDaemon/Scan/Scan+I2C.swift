import Buses
@_spi(FromOutside) import Conversions

extension Scan {
  /// The addresses that are not probed, because a read alone changes something: 0x0C is the alert response address of
  /// SMBus, a read of which ends a chip's alert; at 0x69 are clock chips that a read locks together with the bus.
  static let unasked: [UInt8: String] = [
    0x0C: "a read ends the alert of an SMBus chip", 0x69: "a read can lock a clock chip and its bus",
  ]
  /// Common chips with their addresses, the most likely of an address first. Chips that a key declares are listed
  /// before them.
  private static let chips: [(name: String, addresses: ClosedRange<UInt8>)] = [
    ("SSD1306 display", 0x3C...0x3D), ("MCP23017 or PCF8574 port expander", 0x20...0x27),
    ("VL53L0X distance sensor", 0x29...0x29), ("SHT31 humidity sensor", 0x44...0x45),
    ("INA219 current sensor", 0x40...0x4F), ("AT24C EEPROM", 0x50...0x57),
    ("DS3231 clock or MPU-6050 inertial sensor", 0x68...0x68), ("BME280 air sensor", 0x76...0x77),
  ]

  /// Probes every address of every bus by reading one byte without a register.
  func i2c() -> ScanReport {
    let numbers = machine.list("/dev").compactMap { name in
      name.hasPrefix("i2c-") ? UInt16(name.dropFirst(4)) : nil
    }.sorted()
    guard !numbers.isEmpty else {
      return ScanReport(remarks: [
        "no /dev/i2c-N: sudo raspi-config nonint do_i2c 0 && sudo modprobe i2c-dev"
      ])
    }
    var report = ScanReport()
    for number in numbers { scan(bus: Int(number), into: &report) }
    if report.finds.isEmpty { report.remarks.insert("no chip answers", at: 0) }
    return report
  }

  private func scan(bus: Int, into report: inout ScanReport) {
    let path = "/dev/i2c-\(bus)"
    let name =
      machine.read("/sys/class/i2c-adapter/i2c-\(bus)/name") ?? machine.read("/sys/class/i2c-dev/i2c-\(bus)/name")
    let held = driverHeld(bus)
    for (address, driver) in held.sorted(by: { $0.key < $1.key }) {
      var find = ScanFind(kind: .i2c, place: Self.place(address, bus), name: driver)
      find.trouble = "a driver of the kernel has it; it was not asked"
      report.finds.append(find)
    }
    if !allBuses {
      guard unseenDaemons.isEmpty else {
        let words = unseenDaemons.map(String.init).joined(separator: ", ")
        report.remarks.append(
          "\(path) was not asked: a daemon of another account runs (process \(words)), and only root sees whether it has the "
            + "bus open: sudo \(DaemonProgram.current.name) scan i2c; --all-buses asks nevertheless")
        return
      }
      let holders = machine.holders([path])
      guard holders.isEmpty else {
        let words = holders.map { Printable.text($0) }.joined(separator: ", ")
        report.remarks.append("\(path) was not asked: \(words) has it open; --all-buses asks nevertheless")
        return
      }
      guard name?.hasPrefix("SMBus") != true else {
        report.remarks.append(
          "\(path) was not asked: it is the board's own, with memory modules and clocks (\(Printable.text(name ?? ""))); "
            + "--all-buses asks nevertheless")
        return
      }
    }
    for address in UInt8(0x08)...0x77 where held[address] == nil && Self.unasked[address] == nil {
      guard let answers = machine.i2cAnswers(path, address) else {
        report.remarks.append(
          machine.isThisOne
            ? "\(path) cannot be asked: no permission (sudo usermod -aG i2c $USER, then log in again), or it reads no single byte"
            : "\(path) was not asked: only files are looked at")
        return
      }
      if answers { report.finds.append(chip(address, bus, on: name)) }
    }
    let left = Self.unasked.sorted { $0.key < $1.key }.map { "\(Self.hex($0.key)) (\($0.value))" }
    report.remarks.append("\(path): not asked: " + left.joined(separator: ", "))
  }

  /// The process ids of daemons whose open files this account cannot see. Probing a bus that such a daemon uses could
  /// spoil the answers of its chips.
  private var unseenDaemons: [Int] {
    guard !machine.isRoot else { return [] }
    let name = String(DaemonProgram.current.name.prefix(15))  // the kernel keeps so much of it
    return machine.list("/proc").compactMap { Int($0) }.sorted().filter { process in
      machine.read("/proc/\(process)/comm") == name && machine.list("/proc/\(process)/fd").isEmpty
    }
  }

  private func chip(_ address: UInt8, _ bus: Int, on adapter: String?) -> ScanFind {
    var find = ScanFind(
      kind: .i2c, place: Self.place(address, bus), name: "",
      details: [Printable.text(adapter ?? "")].filter { !$0.isEmpty })
    for (key, findable) in keys {
      guard case .i2cChip(let name, let addresses, let busKey) = findable, addresses.contains(address) else { continue }
      if !find.probably.contains(name) { find.probably.append(name) }
      // The chip's address range may be wider than that of the key.
      guard ScalarReader.value("\(address)", as: key.kind) != nil else { continue }
      let settings = [
        ScanFind.Setting(key: key.path, value: Self.hex(address)), ScanFind.Setting(key: busKey, value: "\(bus)"),
      ]
      if !find.settings.contains(settings) { find.settings.append(settings) }
    }
    find.probably += Self.chips.filter { $0.addresses.contains(address) }.map(\.name)
    return find
  }

  /// Returns the addresses of a bus that drivers of the kernel hold, with the names of the chips.
  private func driverHeld(_ bus: Int) -> [UInt8: String] {
    var held: [UInt8: String] = [:]
    let folder = "/sys/bus/i2c/devices"
    for name in machine.list(folder) where name.hasPrefix("\(bus)-") {
      guard let address = UInt8(name.dropFirst("\(bus)-".count), radix: 16),
        machine.list("\(folder)/\(name)").contains("driver")
      else { continue }
      held[address] = Printable.text(machine.read("\(folder)/\(name)/name") ?? "unknown")
    }
    return held
  }

  private static func hex(_ address: UInt8) -> String {
    let digits = String(address, radix: 16, uppercase: true)
    return "0x" + (digits.utf8.count == 1 ? "0" : "") + digits
  }

  private static func place(_ address: UInt8, _ bus: Int) -> String { "\(hex(address)) on /dev/i2c-\(bus)" }
}
