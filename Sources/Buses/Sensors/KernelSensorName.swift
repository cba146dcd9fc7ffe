/// A sensor that a driver of the kernel reads, as the configuration file names it.
///
///     hwmon:lm75/temp1           an input of a hwmon device, by number or by label (hwmon:coretemp/Core 0)
///     iio:bme280/pressure        a channel of an IIO device, without `in_` and `_raw`
///     w1:28-0316a2795bff         a thermometer on a 1-Wire bus, such as a DS18B20
///
/// Devices are named by their driver or label, never by their number, which may change at every boot. `@` and the
/// device's address tell two of one name apart: `hwmon:lm75@1-0048/temp1`.
public struct KernelSensorName: Hashable, Sendable, CustomStringConvertible {
  /// The subsystem of the kernel that offers the sensor.
  public enum Kind: String, Sendable, CaseIterable {
    /// Industrial I/O: converters, inertial, pressure and light sensors.
    case iio
    /// Hardware monitoring: temperatures, voltages, currents, fans.
    case hwmon
    /// Thermometers on a 1-Wire bus.
    case w1
  }

  /// The subsystem of the kernel that offers the sensor.
  public let kind: Kind
  /// The name or the label of the device, or the number of a 1-Wire chip.
  public let device: String
  /// The name of the device's parent, such as `1-0048`, or `nil` if the device's name is enough.
  public let parent: String?
  /// The channel or its label; empty for a 1-Wire chip, which has one value.
  public let channel: String

  package init(_ kind: Kind, device: String, parent: String? = nil, channel: String = "") {
    (self.kind, self.device, self.parent, self.channel) = (kind, device, parent, channel)
  }

  /// Creates the name from its text, or returns `nil` if the text does not name a sensor. No part of it is longer than
  /// 64 bytes or leads out of its folder.
  public init?(_ text: String) {
    guard text.utf8.count <= 208, let colon = text.firstIndex(of: ":"),
      let kind = Kind(rawValue: String(text[..<colon]))
    else { return nil }
    let rest = text[text.index(after: colon)...]
    let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
    let device = parts[0].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == (kind == .w1 ? 1 : 2), (parts + device).allSatisfy(Self.isPart) else { return nil }
    if kind == .w1 { guard device.count == 1, Self.isOneWireNumber(parts[0]) else { return nil } }
    self.init(
      kind, device: String(device[0]), parent: device.count == 2 ? String(device[1]) : nil,
      channel: kind == .w1 ? "" : String(parts[1]))
  }

  private static func isPart(_ text: Substring) -> Bool {
    (1...(2 * 64 + 1)).contains(text.utf8.count) && text != "." && text != ".." && text.first != " " && text.last != " "
      && text.split(separator: "@").allSatisfy { $0.utf8.count <= 64 }
      && text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
  }

  /// Returns whether the text is a family, a dash and a serial number, in lower-case hexadecimal as the kernel writes it.
  package static func isOneWireNumber(_ text: Substring) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 15 && bytes[2] == UInt8(ascii: "-")
      && bytes.enumerated().allSatisfy { index, byte in
        index == 2 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
  }

  /// The text from which `init(_:)` makes the same name.
  public var description: String {
    let whole = device + (parent.map { "@\($0)" } ?? "")
    return "\(kind.rawValue):\(whole)" + (kind == .w1 ? "" : "/\(channel)")
  }
}
