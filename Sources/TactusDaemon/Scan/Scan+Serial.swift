extension Scan {
  /// Lists the serial lines under the names that stay the same, whatever else is plugged in.
  func serial() -> ScanReport {
    let devices = machine.list("/dev")
    // A line of the board that is not there has type 0.
    let lines = devices.filter { name in
      if name.hasPrefix("ttyS") { return machine.read("/sys/class/tty/\(name)/type").map { $0 != "0" } ?? false }
      return ["ttyUSB", "ttyACM", "ttyAMA", "rfcomm"].contains { name.hasPrefix($0) }
    }
    guard !lines.isEmpty else {
      return ScanReport(remarks: [
        "no serial line: plug the adapter in; the header's is switched on by sudo tactus setup pi --serial".replacing(
          "tactus", with: DaemonProgram.current.name)
      ])
    }
    let stable = stableNames(devices)
    return ScanReport(finds: lines.map { line($0, stable[$0] ?? "/dev/\($0)") })
  }

  private func line(_ name: String, _ path: String) -> ScanFind {
    let device = "/sys/class/tty/\(name)/device"
    // An ACM line is an interface of the USB device, a USB line is a part of such an interface.
    let usb = ["\(device)/..", "\(device)/../.."].first { machine.read("\($0)/idVendor") != nil }
    func said(_ file: String) -> String? { usb.flatMap { machine.read("\($0)/\(file)") }.map { Printable.text($0) } }
    let words = [said("manufacturer"), said("product")].compactMap(\.self).joined(separator: " ")
    var find = ScanFind(kind: .serial, place: path, name: words)
    if path != "/dev/\(name)" { find.details.append("/dev/\(name)") }
    if let vendor = said("idVendor"), let product = said("idProduct") {
      find.details.append("USB \(vendor):\(product)")
    }
    let holders = machine.holders(["/dev/\(name)"]).map { Printable.text($0) }
    if !holders.isEmpty {
      find.trouble = "busy: " + holders.joined(separator: ", ") + " has it open"
    } else if isConsole(name, path) {
      find.trouble = "the kernel's console is on it: sudo raspi-config nonint do_serial_cons 1 && sudo reboot"
    }
    for (key, findable) in keys where findable == .serialLine {
      find.settings.append([ScanFind.Setting(key: key.path, value: path)])
    }
    return find
  }

  private func isConsole(_ name: String, _ path: String) -> Bool {
    (machine.read("/proc/cmdline") ?? "").split(separator: " ").contains { argument in
      guard argument.hasPrefix("console=") else { return false }
      let console = argument.dropFirst("console=".count).prefix { $0 != "," }
      return "/dev/\(console)" == path || console == name
    }
  }

  /// Returns the stable path of each device that has one: by what the USB device says of itself, or the Raspberry Pi's own alias.
  private func stableNames(_ devices: [String]) -> [String: String] {
    var names: [String: String] = [:]
    let aliases = devices.filter { ["serial0", "serial1"].contains($0) }.map { "/dev/\($0)" }
    let byID = machine.list("/dev/serial/by-id").map { "/dev/serial/by-id/\($0)" }
    for path in aliases + byID {
      guard let target = machine.link(path)?.split(separator: "/").last else { continue }
      if names[String(target)] == nil { names[String(target)] = path }
    }
    return names
  }
}
