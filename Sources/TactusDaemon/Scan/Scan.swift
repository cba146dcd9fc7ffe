import AvahiSystemd
import BluetoothBlueZ
import Buses
import Tactus

/// A kind of device that `tactus scan` looks for.
public enum ScanKind: String, CaseIterable, Sendable {
  /// The scan looks for Bluetooth LE devices that advertise.
  case ble
  /// The scan looks for chips that answer on the I2C buses.
  case i2c
  /// The scan looks for serial lines.
  case serial
  /// The scan looks for sensors that drivers of the kernel read.
  case sensor
  /// The scan looks for cameras.
  case camera
  /// The scan looks for services that others announce on the local network.
  case mdns
}

/// Looks for the devices that a configuration file can name.
///
/// The keys that a find can fill are those declared with `Key.found(by:)`. A scan blocks for up to `patience`, so it
/// must not run on a thread that others wait for.
struct Scan: Sendable {
  var machine: Machine
  /// The time for which Bluetooth devices and services are listened for, 0 to 60 s each.
  var patience: Nanoseconds
  /// Whether I2C buses are also searched that another program has open or that the board uses internally.
  var allBuses = false
  /// The address of the D-Bus, or `nil` for the system bus.
  var busAddress: String?
  /// The keys that a scan can fill, each with one of the kinds of device that fill it.
  var keys: [(key: ConfigKey, by: Findable)] { Self.fillable }

  static let fillable = ConfigTable.keys.flatMap { key in key.finds.map { (key: key, by: $0) } }

  /// Runs the scan of one kind.
  func report(_ kind: ScanKind) -> ScanReport {
    switch kind {
    case .ble: bluetooth()
    case .i2c: i2c()
    case .serial: serial()
    case .sensor: sensors()
    case .camera: cameras()
    case .mdns: announced()
    }
  }

  /// Returns the report of the first system that has its own scan of this kind, or `nil` if none has.
  func ownReport(_ kind: ScanKind) -> ScanReport? {
    DaemonProgram.current.kinds.lazy.compactMap { ($0.declaration as? any FindsDevices.Type)?.found(kind, on: machine) }
      .first
  }
}

extension Scan {
  /// Browses the local network for other daemons, for services that the keys need, and for services that the systems announce.
  func announced() -> ScanReport {
    guard machine.isThisOne else { return ScanReport(remarks: ["nothing is browsed: only files are looked at"]) }
    #if Bonjour
      let types = Set(
        [Announcement.type]
          + keys.compactMap { if case .announced(let type, _, _) = $0.by { type } else { nil } })
      do throws(AvahiBrowser.Failure) {
        let services = try AvahiBrowser.services(types.sorted(), on: busAddress, patience: patience)
        return ScanReport(
          finds: services.map { find($0) },
          remarks: services.isEmpty ? ["nobody announces " + types.sorted().joined(separator: " or ")] : [])
      } catch {
        return ScanReport(remarks: [error.reason])
      }
    #else
      return ScanReport(remarks: ["this build browses no network: trait Bonjour"])
    #endif
  }

  #if Bonjour
    private func find(_ service: AvahiBrowser.Service) -> ScanFind {
      let address = service.address.contains(":") ? "[\(service.address)]" : service.address
      var find = ScanFind(
        kind: .mdns, place: "\(address):\(service.port)", name: Printable.text(service.name),
        details: [service.type, Printable.text(service.host)])
      find.details += service.records.map { Printable.text($0) }
      if service.type == Announcement.type { find.probably.append("a daemon of this kind") }
      for (key, findable) in keys {
        guard case .announced(service.type, let port, let standard) = findable else { continue }
        var settings = [ScanFind.Setting(key: key.path, value: service.address)]
        if service.port != standard { settings.append(ScanFind.Setting(key: port, value: "\(service.port)")) }
        find.settings.append(settings)
      }
      return find
    }
  #endif
}

extension Scan {
  /// Listens for Bluetooth LE devices, the nearest first.
  func bluetooth() -> ScanReport {
    guard machine.isThisOne else { return ScanReport(remarks: ["nothing is listened for: only files are looked at"]) }
    #if Bluetooth
      do throws(BluetoothAbsence) {
        let devices = try BluetoothScan.devices(on: busAddress, patience: patience)
        let finds = devices.map { find($0) }
        let seconds = (patience.count + 999_999_999) / 1_000_000_000
        return ScanReport(
          finds: finds,
          remarks: finds.isEmpty
            ? ["no device advertised within \(seconds) s: switch it on, and end its other connection"] : [])
      } catch {
        return ScanReport(remarks: ["\(error)"])
      }
    #else
      return ScanReport(remarks: ["this build has no Bluetooth: trait Bluetooth"])
    #endif
  }

  #if Bluetooth
    private func find(_ device: BluetoothScan.Device) -> ScanFind {
      var find = ScanFind(kind: .ble, place: device.address, name: Printable.text(device.name ?? ""))
      if let strength = device.strengthDecibels { find.details.append("\(strength) dBm") }
      if device.isConnected { find.details.append("connected to this machine") }
      find.details += device.services.map(\.short)
      for (key, findable) in keys {
        guard case .bluetooth(let service, let what, let prefix) = findable, device.services.contains(service)
        else { continue }
        if !find.probably.contains(what) { find.probably.append(what) }
        find.settings.append([ScanFind.Setting(key: key.path, value: prefix + device.address)])
      }
      let peers = DaemonProgram.current.kinds.compactMap { ($0.declaration as? any FindsDevices.Type)?.bluetoothPeers }
      for service in device.services { find.probably += peers.compactMap { $0[service] } }
      return find
    }
  #endif
}

extension Scan {
  /// Lists the cameras as the system that shows them finds them.
  func cameras() -> ScanReport {
    guard var report = ownReport(.camera) else {
      return ScanReport(remarks: ["no system of this program shows a camera"])
    }
    for index in report.finds.indices {
      for (key, findable) in keys where findable == .camera {
        let setting = ScanFind.Setting(key: key.path, value: report.finds[index].place)
        report.finds[index].settings.append([setting])
      }
    }
    return report
  }
}

extension Scan {
  /// Lists the sensors of IIO, of hwmon and on 1-Wire buses, as the file names them. No sensor is read.
  func sensors() -> ScanReport {
    let tree = KernelSensorTree(text: machine.read, names: machine.list, link: machine.link)
    let places = tree.all()
    guard !places.isEmpty else {
      return ScanReport(remarks: [
        "no sensor: a chip needs its driver, as dtoverlay=w1-gpio or dtoverlay=i2c-sensor,bme280 in config.txt and a reboot"
      ])
    }
    return ScanReport(
      finds: places.map { place in
        var find = ScanFind(
          kind: .sensor, place: "\(place.name)", name: place.label ?? "",
          details: [place.quantity.sign, place.file].filter { !$0.isEmpty })
        for (key, findable) in keys {
          switch findable {
          case .kernelSensor: find.settings.append([ScanFind.Setting(key: key.path, value: "\(place.name)")])
          case .kernelAxes(place.quantity):
            guard let name = Self.axes(from: place.name, among: places) else { continue }
            find.settings.append([ScanFind.Setting(key: key.path, value: "\(name)")])
          default: break
          }
        }
        return find
      })
  }

  /// Returns the name of a sensor of three axes whose axis x is `x`, or `nil` if that is no x or has no y or z beside it.
  private static func axes(from x: KernelSensorName, among places: [KernelSensorTree.Place]) -> KernelSensorName? {
    guard x.channel.hasSuffix("_x") else { return nil }
    let stem = String(x.channel.dropLast(2))
    func name(_ channel: String) -> KernelSensorName {
      KernelSensorName(x.kind, device: x.device, parent: x.parent, channel: channel)
    }
    let names = Set(places.map(\.name))
    return names.isSuperset(of: [name(stem + "_y"), name(stem + "_z")]) ? name(stem) : nil
  }
}

extension Scan {
  /// Lists the serial lines under the names that stay the same, whatever else is plugged in.
  func serial() -> ScanReport {
    let devices = machine.list("/dev")
    // A line that the board does not have has type 0.
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

  /// Returns the stable path of each device that has one, which is made from the USB device's description of itself or is the Raspberry Pi's own
  /// alias.
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
