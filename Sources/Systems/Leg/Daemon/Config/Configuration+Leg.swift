import Buses
import BusesLinux
import Devices
import Leg
import Tactus
import TactusDaemon
import Wire
import Yams

extension Configuration {
  /// The servo legs and the chip they hang on.
  struct Legs: Equatable, Sendable {
    enum Backend: String, Equatable {
      case pca9685
      case sim
    }

    var backend: Backend
    var i2cBus: Int
    var i2cAddress: UInt8
    var oscillatorHertz: Int
    var frequencyHertz: Int
    var deadmanMilliseconds: Int
    /// nil: not wired.
    var outputEnable: GPIOLineName?
    /// nil: no sensor.
    var battery: Battery?
    var reportsStubBattery: Bool
    /// Of leg 0; nil: none.
    var bluetooth: Bluetooth?
    var serial: SerialLine?
    /// Of the first leg; 0: any free ones.
    var port: UInt16
    var rateHertz: Int
    var scheduling: Scheduling
    var safeStateAfter: Int
    var cpus: CPUSet?
    /// 1…16.
    var legs: [One]
  }
}

extension Configuration.Legs {
  struct Bluetooth: Equatable {
    /// nil: the first.
    var adapter: String?
  }

  struct SerialLine: Equatable {
    var path: String
    var baudRate: Int
  }

  /// An input of an ADS1115 on the chip's bus.
  struct Battery: Equatable {
    var i2cAddress: UInt8
    var channel: Int
    var divider: Double
    var warningMillivolts: Int?
    var faultMillivolts: Int?
  }

  struct One: Equatable {
    var name: String
    var channel: Int
    var minMicroseconds: UInt16
    var centreMicroseconds: UInt16
    var maxMicroseconds: UInt16
    var isInverted: Bool
    var slewMicrosecondsPerSecond: Int?
    var releaseAfterSeconds: Double?
  }

  /// nil: the file has neither section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("leg") || found.sections.contains("legs") else { return nil }
    let given = GivenValues(values: found.values)
    self.init(
      // The table lists exactly the raw values.
      backend: Backend(rawValue: given.text("leg.backend"))!,
      i2cBus: given.integer("leg.i2c_bus"),
      i2cAddress: UInt8(given.optionalInteger("leg.i2c_address") ?? 0x40),
      oscillatorHertz: given.integer("leg.oscillator_hz"),
      frequencyHertz: given.integer("leg.frequency_hz"),
      deadmanMilliseconds: given.integer("leg.deadman_ms"),
      outputEnable: given.optionalLine("leg.output_enable"),
      battery: Battery(given),
      reportsStubBattery: given.boolean("leg.compat_stub"),
      bluetooth: given.boolean("leg.bluetooth")
        ? Bluetooth(adapter: given.optionalText("leg.bluetooth_adapter")) : nil,
      serial: given.optionalText("leg.serial").map { path in
        SerialLine(path: path, baudRate: given.integer("leg.serial_baud"))
      },
      port: UInt16(given.integer("network.leg_udp_port")),
      rateHertz: given.integer("runtime.leg.rate_hz"),
      scheduling: .init(given, "runtime.leg"),
      safeStateAfter: given.integer("runtime.leg.safe_state_after"),
      cpus: given.optionalCPUs("runtime.leg.cpu"),
      legs: (0..<(found.counts["legs"] ?? 1)).map { One(given, index: $0) })
  }
}

extension Configuration.Legs.Battery {
  fileprivate init?(_ given: GivenValues) {
    guard given.text("leg.battery.sensor") == "ads1115" else { return nil }
    self.init(
      i2cAddress: UInt8(given.integer("leg.battery.i2c_address")), channel: given.integer("leg.battery.channel"),
      divider: given.number("leg.battery.divider"), warningMillivolts: given.optionalInteger("leg.battery.warn_mv"),
      faultMillivolts: given.optionalInteger("leg.battery.fault_mv"))
  }

  var sensor: LegBattery {
    LegBattery(
      ADS1115(address: I2CAddress(i2cAddress)!), channel: channel, dividerPerMille: Int64((divider * 1000).rounded()))
  }

  /// nil: the battery decides nothing.
  var limits: LegBatteryLimits? {
    guard warningMillivolts != nil || faultMillivolts != nil else { return nil }
    let fault = faultMillivolts ?? 0
    return LegBatteryLimits(
      warning: Millivolts(UInt16(warningMillivolts ?? fault)), fault: Millivolts(UInt16(fault)))
  }
}

extension Configuration.Legs.One {
  fileprivate init(_ given: GivenValues, index: Int) {
    let path = "legs[\(index)]"
    let (lowest, highest) = (given.integer("\(path).min_us"), given.integer("\(path).max_us"))
    self.init(
      name: given.optionalText("\(path).name") ?? "leg \(index)",
      channel: given.optionalInteger("\(path).channel") ?? index,
      minMicroseconds: UInt16(lowest),
      centreMicroseconds: UInt16(given.optionalInteger("\(path).centre_us") ?? min(max(1500, lowest), highest)),
      maxMicroseconds: UInt16(highest),
      isInverted: given.boolean("\(path).invert"),
      slewMicrosecondsPerSecond: given.optionalInteger("\(path).slew_us_per_s"),
      releaseAfterSeconds: given.optionalNumber("\(path).release_after_s"))
  }
}

// MARK: rules over more than one key

extension Configuration.Legs {
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) { errors.append(places.error(file, key, message)) }
    do throws(PCA9685TimingError) {
      _ = try timing()
    } catch {
      report("leg.frequency_hz", "\(error)")
    }
    if i2cAddress == 0x70 {
      report("leg.i2c_address", "expected another than 0x70, at which every such chip answers when it is switched on")
    }
    if case .deadline(let budget) = scheduling, budget >= 1_000_000 / rateHertz {
      report("runtime.leg.budget_us", "expected less than the period of \(1_000_000 / rateHertz) µs, got \(budget)")
    }
    if port > 0, Int(port) + legs.count - 1 > 65535 {
      report(
        "network.leg_udp_port", "expected at most \(65536 - legs.count) for \(legs.count) legs, got \(port)")
    }
    errors += linkErrors(file: file, places: places)
    if let warning = battery?.warningMillivolts, let fault = battery?.faultMillivolts, warning < fault {
      report("leg.battery.warn_mv", "expected at least leg.battery.fault_mv (\(fault)), got \(warning)")
    }
    for (index, leg) in legs.enumerated() {
      let path = "legs[\(index)]"
      if leg.minMicroseconds >= leg.maxMicroseconds {
        report("\(path).max_us", "expected more than min_us (\(leg.minMicroseconds)), got \(leg.maxMicroseconds)")
      } else if !(leg.minMicroseconds...leg.maxMicroseconds).contains(leg.centreMicroseconds) {
        report(
          "\(path).centre_us",
          "expected \(leg.minMicroseconds)…\(leg.maxMicroseconds), min_us to max_us, got \(leg.centreMicroseconds)")
      }
    }
    return errors
  }

  private func linkErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    #if !Bluetooth
      if bluetooth != nil {
        errors.append(places.error(file, "leg.bluetooth", "expected false: this program was built without Bluetooth"))
      }
    #endif
    if let serial, !LinuxSerialPort.baudRates.contains(serial.baudRate) {
      let known = LinuxSerialPort.baudRates.map(String.init).joined(separator: ", ")
      errors.append(places.error(file, "leg.serial_baud", "expected one of \(known), got \(serial.baudRate)"))
    }
    return errors
  }

  func timing() throws(PCA9685TimingError) -> PCA9685Timing {
    try PCA9685Timing(rate: .hertz(Int64(frequencyHertz)), oscillator: .hertz(Int64(oscillatorHertz)))
  }
}

// MARK: what the leg's loop is made of. The table's ranges and `errors` leave nothing to refuse.

extension Configuration.Legs {
  var chip: PCA9685 {
    guard let address = I2CAddress(i2cAddress), let timing = try? timing() else {
      preconditionFailure("the configuration let through a chip that cannot be")
    }
    return PCA9685(address: address, timing: timing)
  }

  var configurations: [LegConfiguration] {
    legs.map { leg in
      do {
        let (lowest, highest) = (
          PulseWidth(microseconds: leg.minMicroseconds), PulseWidth(microseconds: leg.maxMicroseconds)
        )
        return LegConfiguration(
          try LegSettings(
            deadmanTimeout: .milliseconds(Int64(deadmanMilliseconds)), lowest: lowest, highest: highest,
            slewMicrosecondsPerSecond: leg.slewMicrosecondsPerSecond.map { Int64($0) },
            releaseAfter: leg.releaseAfterSeconds.map { .seconds($0) }, battery: battery?.limits,
            reportsStubBattery: reportsStubBattery),
          channel: try ServoChannel(
            leg.channel, lowest: lowest, centre: PulseWidth(microseconds: leg.centreMicroseconds), highest: highest,
            isInverted: leg.isInverted))
      } catch {
        preconditionFailure("the configuration let through what the leg refuses: \(error)")
      }
    }
  }
}
