import Buses
import Tactus

extension Bench {
  /// Opens a sensor that a driver of the kernel reads: of IIO, of hwmon, or a thermometer on a 1-Wire bus. The sensor
  /// need not be there when the program starts, and may come back.
  ///
  /// It is read beside the loops, because a reading may take most of a second; a tick takes the newest value. A value
  /// older than the limit is an error in the tick, and the log names the file that cannot be read.
  ///
  /// - Parameters:
  ///   - quantity: what the sensor must measure, which also says the unit of its values.
  ///   - rate: how often the sensor is read; a DS18B20 takes 750 ms.
  ///   - limit: the age beyond which a value is no longer used, above a period of `rate`.
  public func sensor(
    _ key: KeyPath<Wiring, KernelSensorName>, measures quantity: KernelQuantity, every rate: Rate,
    staleAfter limit: Nanoseconds
  ) throws -> SensorPart {
    try sensor(value(key), of: key, quantity, rate, limit)
  }

  /// Opens a sensor that need not be wired, or returns `nil` if the file does not name one.
  public func sensor(
    _ key: KeyPath<Wiring, KernelSensorName?>, measures quantity: KernelQuantity, every rate: Rate,
    staleAfter limit: Nanoseconds
  ) throws -> SensorPart? {
    try value(key).map { try sensor($0, of: key, quantity, rate, limit) }
  }

  private func sensor(
    _ name: KernelSensorName, of key: PartialKeyPath<Wiring>, _ quantity: KernelQuantity, _ rate: Rate,
    _ limit: Nanoseconds
  ) throws -> SensorPart {
    let part = try planned(name, of: key, quantity, rate, limit)
    try add([part], simulatedAs: key)
    return part
  }

  /// Opens a sensor of three axes that need not be wired, or returns `nil` if the file does not name one: an accelerometer or a
  /// gyroscope of IIO. The file names the channel without its axis: `iio:mpu6050/accel` is read from `accel_x`, `accel_y` and `accel_z`.
  ///
  /// The axes are read as sensors are, one after the other.
  ///
  /// - Parameters:
  ///   - mounting: how the chip lies in the body whose axes a tick reads.
  ///   - quantity: what the sensor must measure, which also says the unit of its values.
  ///   - rate: how often each axis is read.
  ///   - limit: the age beyond which a value is no longer used, above a period of `rate`.
  public func axes(
    _ key: KeyPath<Wiring, KernelSensorName?>, measures quantity: KernelQuantity, mounted mounting: Mounting = .upright,
    every rate: Rate, staleAfter limit: Nanoseconds
  ) throws -> AxesPart? {
    guard let name = try value(key) else { return nil }
    let axes = try ["x", "y", "z"].map { axis in
      try planned(
        KernelSensorName(
          name.kind, device: name.device, parent: name.parent, channel: "\(name.channel)_\(axis)"), of: key, quantity,
        rate, limit)
    }
    try add(axes, simulatedAs: key)
    return AxesPart(axes, mounted: mounting)
  }

  private func planned(
    _ name: KernelSensorName, of key: PartialKeyPath<Wiring>, _ quantity: KernelQuantity, _ rate: Rate,
    _ limit: Nanoseconds
  ) throws -> SensorPart {
    let place = try self.key(key)
    guard limit > rate.period else {
      throw BenchError(
        key: place,
        cause: Misdeclared("expected staleAfter: above the period of every: (\(rate.period)), got \(limit)"))
    }
    parts.sensors.append(PlannedSensor(name: name, quantity: quantity, key: place))
    return parts.hold(
      SensorPart(name, measures: quantity, every: rate, staleAfter: limit, isReal: parts.mode == .real))
  }

  /// Gives the sensors of one key to the reader, or adds them to the simulation as one part.
  private func add(_ sensors: [SensorPart], simulatedAs key: PartialKeyPath<Wiring>) throws {
    let words = try self.key(key).replacing("\(parts.at.section).", with: "", maxReplacements: 1)
    let name = "\(parts.system)-\(words.replacing("_", with: "-").replacing("[", with: "-").replacing("].", with: "-"))"
    if let simulated = SensorPart.simulatedPart(name, of: sensors) {
      parts.addSimulated(simulated)
    } else {
      for sensor in sensors { parts.sensorReader.add(sensor) }
    }
  }
}

extension BenchParts {
  /// The reader of the system's real sensors, which is created for the first of them.
  var sensorReader: SensorReader {
    if let reader = links.lazy.compactMap({ $0 as? SensorReader }).first { return reader }
    let reader = SensorReader(at.name)
    links.append(reader)
    return reader
  }
}
