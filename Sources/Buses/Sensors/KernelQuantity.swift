/// The quantity that a sensor of the kernel measures. A value is always in the unit that is named here, whatever the kernel's file contains.
public enum KernelQuantity: String, Sendable, CaseIterable {
  /// A temperature in °C.
  case celsius
  /// A voltage in V.
  case volts
  /// A current in A.
  case amperes
  /// A power in W.
  case watts
  /// A speed of rotation in rpm.
  case rpm
  /// A relative humidity in %.
  case percentHumidity
  /// An air pressure in hPa.
  case hectopascals
  /// An illuminance in lx.
  case lux
  /// An acceleration in m/s².
  case metresPerSecondSquared
  /// An angular velocity in rad/s.
  case radiansPerSecond
  /// A resistance in Ω.
  case ohms
  /// A distance in m.
  case metres
  /// Another quantity, in the unit that the kernel's documentation states.
  case other

  /// The symbol of the unit, or empty for `other`.
  public var sign: String {
    switch self {
    case .celsius: "°C"
    case .volts: "V"
    case .amperes: "A"
    case .watts: "W"
    case .rpm: "rpm"
    case .percentHumidity: "%"
    case .hectopascals: "hPa"
    case .lux: "lx"
    case .metresPerSecondSquared: "m/s²"
    case .radiansPerSecond: "rad/s"
    case .ohms: "Ω"
    case .metres: "m"
    case .other: ""
    }
  }

  /// Returns the quantity of a channel and the factor from the kernel's unit to the one named here.
  ///
  /// Source: Documentation/ABI/testing/sysfs-class-hwmon and sysfs-bus-iio.
  ///
  /// - Parameter channel: the channel by the kernel's name, such as `temp1`, `voltage0` or `accel_x`.
  static func of(_ channel: String, _ kind: KernelSensorName.Kind) -> (quantity: KernelQuantity, factor: Double) {
    let type = channel.prefix { ("a"..."z").contains($0) }
    return switch (kind, type) {
    case (.w1, _), (_, "temp"): (.celsius, 0.001)
    case (.hwmon, "in"), (.iio, "voltage"): (.volts, 0.001)
    case (.hwmon, "curr"), (.iio, "current"): (.amperes, 0.001)
    case (.hwmon, "power"): (.watts, 0.000_001)
    case (.iio, "power"): (.watts, 0.001)
    case (.hwmon, "fan"): (.rpm, 1)
    case (.hwmon, "humidity"), (.iio, "humidityrelative"): (.percentHumidity, 0.001)
    case (.iio, "pressure"): (.hectopascals, 10)
    case (.iio, "illuminance"): (.lux, 1)
    case (.iio, "accel"): (.metresPerSecondSquared, 1)
    case (.iio, "anglvel"): (.radiansPerSecond, 1)
    case (.iio, "resistance"): (.ohms, 1)
    case (.iio, "distance"): (.metres, 1)
    default: (.other, 1)
    }
  }
}
