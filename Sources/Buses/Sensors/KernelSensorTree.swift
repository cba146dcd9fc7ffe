/// The kernel's sensors below /sys, either of this machine or in a test's files.
package struct KernelSensorTree: Sendable {
  /// Returns the text of a file, or `nil` if it cannot be read.
  let text: @Sendable (String) -> String?
  /// Returns the names in a folder; empty if there is no such folder.
  let names: @Sendable (String) -> [String]
  /// Returns the target of a symbolic link, or `nil` if the path is not one.
  let link: @Sendable (String) -> String?

  package init(
    text: @escaping @Sendable (String) -> String?, names: @escaping @Sendable (String) -> [String],
    link: @escaping @Sendable (String) -> String?
  ) { (self.text, self.names, self.link) = (text, names, link) }

  /// The place of a sensor in the kernel's tree, and how its file is read.
  package struct Place: Sendable, Equatable {
    /// The name with which `find` finds this sensor alone.
    package var name: KernelSensorName
    /// The file with the value.
    package var file: String
    package var quantity: KernelQuantity
    /// The value is (number + `offset`) × `scale`.
    package var scale: Double
    package var offset: Double
    /// The channel's label, or `nil` if it has none.
    package var label: String?
  }

  /// The reason why a sensor was not found.
  package struct Absence: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  private struct Device {
    var folder: String
    var name: String
    var label: String?
    var parent: String?
    func isCalled(_ wanted: KernelSensorName) -> Bool {
      [name, label].contains(wanted.device) && (wanted.parent == nil || wanted.parent == parent)
    }
  }

  static let folders: [KernelSensorName.Kind: String] = [
    .iio: "/sys/bus/iio/devices", .hwmon: "/sys/class/hwmon", .w1: "/sys/bus/w1/devices",
  ]

  /// Finds a sensor. Reads files, and may wait for a device.
  package func find(_ name: KernelSensorName) throws(Absence) -> Place {
    let folder = Self.folders[name.kind]!
    if name.kind == .w1 {
      guard let place = thermometer("\(folder)/\(name.device)", name.device) else {
        throw Absence(description: "\(folder)/\(name.device): no such thermometer")
      }
      return place
    }
    let all = devices(name.kind)
    let found = all.filter { $0.isCalled(name) }
    guard let device = found.first else {
      let others = Set(all.map(\.name)).sorted().prefix(8).joined(separator: ", ")
      throw Absence(
        description: "\(folder): no device is called \(name.device)\(name.parent.map { " at \($0)" } ?? "")"
          + (others.isEmpty ? "" : "; there are \(others)"))
    }
    guard found.count == 1 else {
      let ways = found.compactMap(\.parent).prefix(4).map {
        "\(name.kind.rawValue):\(name.device)@\($0)/\(name.channel)"
      }
      throw Absence(
        description: "\(folder): \(found.count) devices are called \(name.device)"
          + (ways.isEmpty ? "" : "; say which: \(ways.joined(separator: ", "))"))
    }
    let places = channels(device, name.kind, parent: name.parent)
    guard
      let place = places.first(where: { $0.name.channel == name.channel })
        ?? places.first(where: { $0.label == name.channel })
    else {
      let others = places.map(\.name.channel).prefix(8).joined(separator: ", ")
      throw Absence(
        description: "\(device.folder): no channel \(name.channel)" + (others.isEmpty ? "" : "; there are \(others)"))
    }
    return place
  }

  /// Returns all sensors in the order of the kernel's folders.
  package func all() -> [Place] {
    KernelSensorName.Kind.allCases.flatMap { kind -> [Place] in
      let folder = Self.folders[kind]!
      if kind == .w1 { return names(folder).sorted().compactMap { thermometer("\(folder)/\($0)", $0) } }
      let devices = devices(kind)
      return devices.flatMap { device in
        let isAlone = devices.count { $0.name == device.name } == 1
        return channels(device, kind, parent: isAlone ? nil : device.parent)
      }
    }
  }

  private func thermometer(_ folder: String, _ number: String) -> Place? {
    guard KernelSensorName.isOneWireNumber(number[...]) else { return nil }
    let files = names(folder)
    guard let file = ["temperature", "w1_slave"].first(where: { files.contains($0) }) else { return nil }
    return Place(
      name: KernelSensorName(.w1, device: number), file: "\(folder)/\(file)", quantity: .celsius, scale: 0.001,
      offset: 0)
  }

  private func devices(_ kind: KernelSensorName.Kind) -> [Device] {
    let folder = Self.folders[kind]!
    return names(folder).filter { $0.hasPrefix(kind == .iio ? "iio:device" : "hwmon") }.sorted().compactMap { entry in
      let path = "\(folder)/\(entry)"
      guard let name = line("\(path)/name") else { return nil }
      // …/1-0048/hwmon/hwmon3 and …/1-0068/iio:device0
      var parents = link(path)?.split(separator: "/").dropLast() ?? []
      if parents.last == "hwmon" { parents = parents.dropLast() }
      return Device(folder: path, name: name, label: line("\(path)/label"), parent: parents.last.map(String.init))
    }
  }

  private func channels(_ device: Device, _ kind: KernelSensorName.Kind, parent: String?) -> [Place] {
    let files = names(device.folder)
    let suffixes = kind == .iio ? ["_input", "_raw"] : ["_input"]
    let prefix = kind == .iio ? "in_" : ""
    var places: [String: Place] = [:]
    for suffix in suffixes {
      for file in files where file.hasPrefix(prefix) && file.hasSuffix(suffix) {
        let channel = String(file.dropFirst(prefix.count).dropLast(suffix.count))
        // A processed value is preferred to a raw one.
        guard !channel.isEmpty, places[channel] == nil,
          let name = KernelSensorName("\(kind.rawValue):\(device.name)\(parent.map { "@\($0)" } ?? "")/\(channel)"),
          let (scale, offset) = suffix == "_raw" ? conversion(of: channel, in: device.folder, files) : (1, 0)
        else { continue }
        let (quantity, factor) = KernelQuantity.of(channel, kind)
        places[channel] = Place(
          name: name, file: "\(device.folder)/\(file)", quantity: quantity, scale: scale * factor, offset: offset,
          label: line("\(device.folder)/\(prefix)\(channel)_label"))
      }
    }
    return places.values.sorted { $0.name.channel < $1.name.channel }
  }

  /// Returns the scale and the offset of a raw channel, which channels of one type may share, or `nil` if one of them is
  /// no number.
  private func conversion(of channel: String, in folder: String, _ files: [String]) -> (scale: Double, offset: Double)?
  {
    let type = channel.prefix { ("a"..."z").contains($0) }
    func value(_ what: String, or standard: Double) -> Double? {
      let file = ["in_\(channel)_\(what)", "in_\(type)_\(what)", "in_\(what)"].first { files.contains($0) }
      return file.map { text("\(folder)/\($0)").flatMap { KernelSensorText.number($0.utf8) } } ?? standard
    }
    guard let scale = value("scale", or: 1), let offset = value("offset", or: 0) else { return nil }
    return (scale, offset)
  }

  private func line(_ file: String) -> String? {
    let line = text(file).map { $0.prefix { $0 != "\n" } } ?? ""
    return line.isEmpty || line.utf8.count > 64 ? nil : String(line)
  }
}
