import Buses

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
