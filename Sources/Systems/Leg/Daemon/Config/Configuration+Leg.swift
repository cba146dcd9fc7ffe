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
  struct Legs: FileSettings, Equatable {
    enum Backend: String, Word {
      case pca9685
      case sim
    }
    enum BatterySensor: String, Word {
      case none
      case ads1115
    }

    /// Of the first leg; 0: any free ones.
    var port: UInt16 = 5010
    var backend = Backend.pca9685
    var i2cBus = 1
    var givenI2CAddress: UInt8?
    var oscillatorHertz = 25_000_000
    var frequencyHertz = 50
    var deadmanMilliseconds = 200
    /// It is `nil` if it is not wired.
    var outputEnable: GPIOLineName?
    var batterySensor = BatterySensor.none
    /// What is meaningless without the sensor.
    var converter = Battery()
    var reportsStubBattery = false
    var hasBluetooth = false
    /// `nil` takes the first that there is.
    var bluetoothAdapter: String?
    var serialPath: String?
    var serialBaudRate = 115_200
    var rateHertz = 50
    // Of `runtime.leg`.
    var scheduling = Scheduling.normal
    var safeStateAfter = 0
    var cpus: CPUSet?
    /// 1…16.
    var legs: [One] = []
  }
}

extension Configuration.Legs {
  struct Bluetooth: Equatable {
    /// `nil` takes the first that there is.
    var adapter: String?
  }

  struct SerialLine: Equatable {
    var path: String
    var baudRate: Int
  }

  /// An input of an ADS1115 on the chip's bus.
  struct Battery: Equatable {
    var i2cAddress: UInt8 = 0x48
    var channel = 0
    var divider = 3.0
    var warningMillivolts: Int?
    var faultMillivolts: Int?
  }

  /// An item of `legs`.
  struct One: Settings, Equatable {
    var givenName: String?
    var givenChannel: Int?
    var minMicroseconds: UInt16 = 500
    var givenCentre: UInt16?
    var maxMicroseconds: UInt16 = 2500
    var isInverted = false
    var slewMicrosecondsPerSecond: Int?
    var releaseAfterSeconds: Double?
    /// Its place in the list, from 0.
    var index = 0
  }

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key(
      "network.leg_udp_port", \.port, in: 0...65535,
      "UDP port of the first leg's frames; the second leg's is one higher, and so on. 0 takes any free ones.")
    ofChip
    ofBattery
    ofLinks
    Key(
      "runtime.leg.rate_hz", \.rateHertz, in: 50...200,
      "Ticks per second of the legs' loop, in hertz. Commands and deadmen do not wait for a tick.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofChip: [Key<Self>] {
    Key("leg.backend", \.backend, "The servos' chip: pca9685 (I2C), or sim (no hardware).")
    Key("leg.i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N.")
    Key("leg.i2c_address", \.givenI2CAddress, in: 0x40...0x77, "The chip's I2C address. Unless given: 0x40.")
    Key(
      "leg.oscillator_hz", \.oscillatorHertz, in: 20_000_000...50_000_000,
      "What the chip's oscillator really does, in hertz: 25 MHz by the datasheet, 23…27 MHz in real ones. Measure a pulse "
        + "to calibrate it.")
    Key(
      "leg.frequency_hz", \.frequencyHertz, in: 24...333,
      "Pulses per second; servos want 50 unless they are digital.")
    Key(
      "leg.deadman_ms", \.deadmanMilliseconds, in: 50...10_000,
      "Milliseconds without a command after which a leg's pulse ends. LegCtrl says 200."
    ).reloadable
    Key(
      "leg.output_enable", \.outputEnable,
      "The line that is wired to the chip's output-enable pin, which is active low: GPIO22, 22 (the same), another line's "
        + "name, or CHIP:22. It ends every pulse without the bus. Unless given: the pin is tied low.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofBattery: [Key<Self>] {
    Key(
      "leg.battery.sensor", \.batterySensor,
      "What measures the battery: none, or ads1115, a converter on the chip's bus, its input behind a divider.")
    Key("leg.battery.i2c_address", \.converter.i2cAddress, in: 0x48...0x4B, "The converter's I2C address.")
    Key("leg.battery.channel", \.converter.channel, in: 0...3, "Its input, against ground.")
    Key(
      "leg.battery.divider", \.converter.divider, in: 1...100,
      "The battery's voltage divided by that at the input: 3 for 20 kΩ over 10 kΩ. The input must stay below the converter's "
        + "supply, 3.3 V on a Raspberry Pi.")
    Key(
      "leg.battery.warn_mv", \.converter.warningMillivolts, in: 0...65_535,
      "Millivolts below which telemetry warns. Unless given: that of fault_mv. Suggested for two lithium cells: 6800."
    ).reloadable
    Key(
      "leg.battery.fault_mv", \.converter.faultMillivolts, in: 0...65_535,
      "Millivolts below which an armed leg is in fault and none can be armed. Unless given: never. Suggested for two lithium "
        + "cells: 6400."
    ).reloadable
    Key(
      "leg.compat_stub", \.reportsStubBattery,
      "Report a battery of 7400 mV as the original firmware does, instead of 0 for no sensor."
    ).reloadable
  }

  @DeclarationBuilder<Key<Self>> private static var ofLinks: [Key<Self>] {
    Key(
      "leg.bluetooth", \.hasBluetooth,
      "Offer leg 0 over Bluetooth as LegCtrl, to one central at a time. Whoever is near may connect.")
    Key(
      "leg.bluetooth_adapter", \.bluetoothAdapter,
      "hci0, or an adapter's address. Unless given: the first that there is.")
    Key(
      "leg.serial", \.serialPath,
      "A serial line that leg 0 is operated by besides: /dev/ttyUSB0. Frames are as on a microcontroller's line.")
    Key("leg.serial_baud", \.serialBaudRate, in: 1200...4_000_000, "Bits per second on leg.serial.")
  }

  static let lane = LaneKeys(
    "runtime.leg", "the legs' lane", priority: 80,
    safeStateAfter: (3, "every leg is in fault, without a pulse, until disarmed"))

  static let table: [ConfigKey] =
    keys.asTable() + One.table(of: "legs[]") + lane.table

  /// It is `nil` if the file has neither section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("leg") || found.sections.contains("legs") else { return nil }
    let given = GivenValues(values: found.values)
    self.init(given)
    let lane = Self.lane.values(given)
    (scheduling, safeStateAfter, cpus) = (lane.scheduling, lane.safeStateAfter, lane.cpus)
    legs = (0..<(found.counts["legs"] ?? 1)).map { index in
      var leg = One(given, section: "legs[\(index)]")
      leg.index = index
      return leg
    }
  }

  var i2cAddress: UInt8 { givenI2CAddress ?? 0x40 }
  /// `nil` if there is no sensor.
  var battery: Battery? { batterySensor == .ads1115 ? converter : nil }
  /// Those of leg 0, or `nil` if it is not offered over Bluetooth.
  var bluetooth: Bluetooth? { hasBluetooth ? Bluetooth(adapter: bluetoothAdapter) : nil }
  var serial: SerialLine? { serialPath.map { SerialLine(path: $0, baudRate: serialBaudRate) } }

  /// What a reload may change, of all legs and of each.
  var everyReloadable: [(key: String, value: ConfigValue?)] {
    reloadable + legs.flatMap { $0.reloadable(at: "legs[\($0.index)]") }
  }
}

extension Configuration.Legs.One {
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key("name", \.givenName, "What logs and the API call it. Unless given: leg 0, leg 1 and so on.")
    Key("channel", \.givenChannel, in: 0...15, "The chip's output. Unless given: its place in this list, from 0.")
    Key(
      "min_us", \.minMicroseconds, in: 500...2500,
      "Shortest pulse in microseconds: a shorter one is made this long and reported. Recommended: 1000.")
    Key(
      "centre_us", \.givenCentre, in: 500...2500,
      "The middle that an inverted servo is mirrored at, in microseconds. Unless given: 1500, or the nearest of its travel."
    )
    Key("max_us", \.maxMicroseconds, in: 500...2500, "Longest pulse in microseconds. Recommended: 2000.")
    Key("invert", \.isInverted, "The servo is mounted the other way round.")
    Key(
      "slew_us_per_s", \.slewMicrosecondsPerSecond, in: 1...1_000_000,
      "How fast the pulse may change, in microseconds per second. Unless given: at once."
    ).reloadable
    Key(
      "release_after_s", \.releaseAfterSeconds, in: 0.1...3600,
      "Seconds of standing still after which the servo gets no pulse until it is sent elsewhere. Unless given: it is held."
    ).reloadable
  }

  var name: String { givenName ?? "leg \(index)" }
  var channel: Int { givenChannel ?? index }
  var centreMicroseconds: UInt16 { givenCentre ?? min(max(1500, minMicroseconds), maxMicroseconds) }
}

extension Configuration.Legs.Battery {
  var sensor: LegBattery {
    LegBattery(
      ADS1115(address: I2CAddress(i2cAddress)!), channel: channel,
      dividerPerMille: Int64(saturating: (divider * 1000).rounded()))
  }

  /// It is `nil` if the battery decides nothing.
  var limits: LegBatteryLimits? {
    guard warningMillivolts != nil || faultMillivolts != nil else { return nil }
    let fault = faultMillivolts ?? 0
    return LegBatteryLimits(
      warning: Millivolts(UInt16(clamping: warningMillivolts ?? fault)), fault: Millivolts(UInt16(clamping: fault)))
  }
}

// MARK: rules over more than one key

extension Configuration.Legs {
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String, alone: Bool = false) {
      errors.append(places.error(file, key, message, alone: alone))
    }
    func report(_ property: PartialKeyPath<Self>, _ message: String, alone: Bool = false) {
      report(Self.name(of: property), message, alone: alone)
    }
    do throws(PCA9685TimingError) {
      _ = try timing()
    } catch {
      report(\.frequencyHertz, "\(error)")
    }
    if i2cAddress == 0x70 {
      report(
        \.givenI2CAddress, "expected another than 0x70, at which every such chip answers when it is switched on",
        alone: true)
    }
    errors += Self.lane.budgetErrors(
      scheduling, periodMicroseconds: 1_000_000 / rateHertz, rate: (Self.name(of: \.rateHertz), rateHertz),
      file: file, places: places)
    if port > 0, Int(port) + legs.count - 1 > 65535 {
      report(
        \.port, "expected at most \(65536 - legs.count) for \(legs.count) legs, got \(port)")
    }
    errors += linkErrors(file: file, places: places)
    if let warning = battery?.warningMillivolts, let fault = battery?.faultMillivolts, warning < fault {
      report(\.converter.warningMillivolts, "expected at least leg.battery.fault_mv (\(fault)), got \(warning)")
    }
    for (index, leg) in legs.enumerated() {
      let path = "legs[\(index)]"
      // The chip's own step is 5 µs: within two of them nothing moves.
      if leg.maxMicroseconds - leg.minMicroseconds < 10 {
        let (least, most) = ("\(path).min_us", "\(path).max_us")
        errors.append(
          places.error(
            file,
            blaming: [
              most:
                "expected at least 10 more than \(places.words(least, leg.minMicroseconds)), got \(leg.maxMicroseconds)",
              least:
                "expected at least 10 less than \(places.words(most, leg.maxMicroseconds)), got \(leg.minMicroseconds)",
            ]))
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
        errors.append(
          places.error(file, Self.name(of: \.hasBluetooth), "expected false: this program was built without Bluetooth"))
      }
    #endif
    if let serial, !LinuxSerialPort.baudRates.contains(serial.baudRate) {
      let known = LinuxSerialPort.baudRates.map(String.init).joined(separator: ", ")
      errors.append(
        places.error(
          file, Self.name(of: \.serialBaudRate), "expected one of \(known), got \(serial.baudRate)", alone: true))
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

  /// What of the file may change while the program runs, as the loop takes it.
  var rules: LegRules { LegRules(configurations.map(\.settings)) }

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

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension LegRules: @retroactive ReloadableRules {}
