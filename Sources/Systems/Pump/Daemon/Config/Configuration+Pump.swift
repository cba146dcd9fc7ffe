import Buses
import BusesLinux
import Devices
import Pump
import Tactus
import TactusDaemon

extension Configuration {
  /// The cooling pump: another machine's, or this one's own.
  struct Pump: FileSettings, Equatable {
    enum Role: String, Word {
      case `operator`
      case device
    }
    enum Backend: String, Word {
      case hardware
      case sim
    }
    enum Overheating: String, Word {
      case stop
      case keep
    }
    enum LinkLoss: String, Word {
      case keep
      case stop
    }

    var role = Role.operator
    var backend = Backend.hardware
    /// It is `nil` for the role's default.
    var device: String?
    var baud = 9600
    var runLimitMinutes = 30
    var restMinutes = 5
    var onOverheat = Overheating.stop
    var onLinkLoss = LinkLoss.keep
    var logDays = 1095
    /// What hangs on this machine; meaningless for an operator.
    var own = Own()
  }
}

extension Configuration.Pump {
  enum Dialect: String, Word {
    case firmware
    case legacy
  }

  /// What the device itself is made of.
  struct Own: Equatable {
    var silenceLimitSeconds: Int?
    var dialect = Dialect.firmware
    var hasBluetooth = false
    var bluetoothName = "Testicool"
    /// `nil` takes the first that there is.
    var bluetoothAdapter: String?
    var pwmChip = "/sys/class/pwm/pwmchip0"
    var pwmChannel = 0
    var pwmHertz = 1_000
    /// It is `nil` if there is none.
    var button: GPIOLineName?
    var isButtonActiveLow = true
    var i2cBus = 1
    var i2cAddress: UInt8 = 0x48
    var waterChannel: Int?
    var skinChannel: Int?
    var potChannel: Int?
    var supplyMillivolts = 3_300
  }

  struct Bluetooth: Equatable {
    var name: String
    /// `nil` takes the first that there is.
    var adapter: String?
  }

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    ofBoth
    ofOperator
    ofDevice
    ofBoard
  }

  @DeclarationBuilder<Key<Self>> private static var ofBoth: [Key<Self>] {
    Key(
      "pump.role", \.role,
      "What this program is: the operator of a pump, in place of its app; or the device itself, in place of its "
        + "microcontroller, with motor, button and sensors on this machine.")
    Key(
      "pump.backend", \.backend,
      "The pump: a real one (hardware), or simulated with its water and skin (sim).")
    Key(
      "pump.device", \.device,
      "As operator the way to the pump: a serial line (/dev/ttyUSB0, /dev/serial0, /dev/rfcomm0, or what `tactus sim pump "
        + "--pty` prints), or a serial module such as the HM-10 by its name or address: ble:HMSoft, "
        + "ble:AA:BB:CC:DD:EE:FF, ble:HMSoft@hci1. Unless given: /dev/ttyUSB0. As device the serial line that its apps talk "
        + "to, or at which its radio module is; unless given: none.")
    Key(
      "pump.baud", \.baud, oneOf: [1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200],
      "Bits a second of a serial line.")
    Key(
      "pump.run_limit_min", \.runLimitMinutes, in: 1...1440,
      "Minutes of pumping, over however many ONs, after which the pump is turned off until it has rested or is reset."
    ).reloadable
    Key(
      "pump.rest_min", \.restMinutes, in: 0...1440, "Minutes without pumping after which it has rested."
    ).reloadable
    Key(
      "pump.on_overheat", \.onOverheat,
      "What skin above 40 °C means: the pump is turned off, as the original does, although it is what cools (stop), or "
        + "goes on (keep)."
    ).reloadable
    Key("pump.log_days", \.logDays, in: 1...36_500, "Days that the sessions go back.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofOperator: [Key<Self>] {
    Key(
      "pump.on_link_loss", \.onLinkLoss,
      "As operator: what a lost connection means for a pump that runs. It runs on until its own limit (keep), or is turned "
        + "off as soon as it can be reached (stop)."
    ).reloadable
  }

  @DeclarationBuilder<Key<Self>> private static var ofDevice: [Key<Self>] {
    Key(
      "pump.silence_limit_s", \.own.silenceLimitSeconds, in: 1...3600,
      "As device: seconds without a command after which a pump that runs stops. Unless given: it runs on until its limit, as "
        + "the original."
    ).reloadable
    Key(
      "pump.dialect", \.own.dialect,
      "As device: the lines it speaks: with water and skin (firmware), or with one temperature, the skin's (legacy).")
    Key(
      "pump.bluetooth", \.own.hasBluetooth,
      "As device: offer the lines over Bluetooth as an HM-10 does (FFE0/FFE1), to one central at a time. Whoever is near may "
        + "connect.")
    Key("pump.bluetooth_name", \.own.bluetoothName, "The name under which it is found, at most 20 bytes.")
    Key(
      "pump.bluetooth_adapter", \.own.bluetoothAdapter,
      "hci0, or an adapter's address. Unless given: the first that there is.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofBoard: [Key<Self>] {
    Key(
      "pump.pwm.chip", \.own.pwmChip,
      "As device: the PWM unit that drives the motor. On a Raspberry Pi `dtoverlay=pwm` brings it to GPIO18.")
    Key("pump.pwm.channel", \.own.pwmChannel, in: 0...63, "The unit's output.")
    Key("pump.pwm.frequency_hz", \.own.pwmHertz, in: 10...50_000, "Periods a second.")
    Key(
      "pump.button", \.own.button,
      "As device: the line of the button that turns the pump on and off. Unless given: none.")
    Key(
      "pump.button_active_low", \.own.isButtonActiveLow,
      "The button connects its line to ground, and the chip's own resistor pulls it up; otherwise the other way round.")
    Key(
      "pump.adc.i2c_bus", \.own.i2cBus, in: 0...255,
      "As device: number N of /dev/i2c-N with the ADS1115 of the sensors.")
    Key("pump.adc.i2c_address", \.own.i2cAddress, in: 0x48...0x4B, "The converter's address.")
    Key(
      "pump.adc.water_channel", \.own.waterChannel, in: 0...3,
      "Its input with the water's thermistor: 10 kΩ, B 3950, to the supply, and 10 kΩ to ground. Unless given: there is none."
    )
    Key(
      "pump.adc.skin_channel", \.own.skinChannel, in: 0...3, "Its input with the skin's thermistor, wired the same.")
    Key(
      "pump.adc.pot_channel", \.own.potChannel, in: 0...3,
      "Its input with a potentiometer from ground to the supply, which sets the speed when it is turned.")
    Key(
      "pump.adc.supply_mv", \.own.supplyMillivolts, in: 1_000...6_000, "The thermistors' supply in millivolts.")
  }

  static let table: [ConfigKey] = keys.asTable()

  /// It is `nil` if the file has no such section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("pump") else { return nil }
    self.init(GivenValues(values: found.values))
  }

  /// Of an operator. `errors` lets none through that is none.
  var address: PumpAddress {
    do {
      return try PumpAddress(device ?? Self.usualDevice)
    } catch {
      preconditionFailure("the configuration let through what is no address: \(error)")
    }
  }

  static let usualDevice = "/dev/ttyUSB0"

  var settings: PumpOperatorSettings {
    do {
      return try PumpOperatorSettings(
        runLimit: .seconds(Int64(runLimitMinutes) * 60), rest: .seconds(Int64(restMinutes) * 60),
        linkLoss: onLinkLoss == .stop ? .stopsOnReturn : .keepsRunning, overheatAction: overheatAction)
    } catch {
      preconditionFailure("the configuration let through what the pump refuses: \(error)")
    }
  }

  private var overheatAction: PumpOverheatAction { onOverheat == .stop ? .stop : .keepCooling }

  /// Of the device itself.
  var deviceSettings: PumpDeviceSettings {
    do {
      return try PumpDeviceSettings(
        dialect: own.dialect == .legacy ? .legacy : .firmware, runLimit: .seconds(Int64(runLimitMinutes) * 60),
        rest: .seconds(Int64(restMinutes) * 60), overheatAction: overheatAction,
        pot: own.potChannel == nil ? .none : .whenMoved,
        silenceLimit: own.silenceLimitSeconds.map { .seconds(Int64($0)) })
    } catch {
      preconditionFailure("the configuration let through what the pump refuses: \(error)")
    }
  }

  var summary: String {
    switch (role, backend) {
    case (.operator, .hardware):
      switch address {
      case .serial(let path): "pump on \(path) at \(baud) bit/s"
      case .bluetooth(let place): "pump by Bluetooth, \(place)"
      }
    case (.operator, .sim): "simulated pump"
    case (.device, .hardware): "pump of this machine, motor on \(own.pwmPath)\(linkSummary)"
    case (.device, .sim): "pump of this machine, simulated\(linkSummary)"
    }
  }

  private var linkSummary: String {
    let links = [device.map { "\($0) at \(baud) bit/s" }, own.bluetooth.map { "Bluetooth as \($0.name)" }]
      .compactMap(\.self)
    return links.isEmpty ? "" : ", reached by \(links.joined(separator: " and "))"
  }
}

extension Configuration.Pump.Own {
  /// `nil` if it is not offered.
  var bluetooth: Configuration.Pump.Bluetooth? {
    hasBluetooth ? Configuration.Pump.Bluetooth(name: bluetoothName, adapter: bluetoothAdapter) : nil
  }

  /// `/sys/class/pwm/pwmchip0/pwm0`
  var pwmPath: String { "\(pwmChip)/pwm\(pwmChannel)" }
  var pwmPeriod: Nanoseconds { Nanoseconds(1_000_000_000 / Int64(pwmHertz)) }

  /// Whether anything hangs on a converter.
  var hasConverter: Bool { waterChannel != nil || skinChannel != nil || potChannel != nil }

  /// It is `nil` if nothing hangs on one. Of a configuration without errors.
  var converter: PumpConverter? {
    guard hasConverter else { return nil }
    return PumpConverter(
      // The thermistors' supply is more than the range below.
      ADS1115(
        address: I2CAddress(i2cAddress)!, range: supplyMillivolts > 4_096 ? .millivolts6144 : .millivolts4096),
      water: waterChannel, skin: skinChannel, pot: potChannel, supply: Microvolts(Int64(supplyMillivolts) * 1_000))
  }

  /// It is `nil` if there is none.
  var buttonInput: GPIOInput? {
    button.map {
      GPIOInput($0, isActiveLow: isButtonActiveLow, edges: .both, pull: isButtonActiveLow ? .up : .down)
    }
  }
}

// MARK: rules over more than one key

extension Configuration.Pump {
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) { errors.append(places.error(file, key, message)) }
    func report(_ property: PartialKeyPath<Self>, _ message: String) { report(Self.name(of: property), message) }
    // Of the other role only; a value that is the default's does no harm.
    let strangers = role == .operator ? Self.ofDevice + Self.ofBoard : Self.ofOperator
    for key in strangers.map(\.name) where changed.contains(key) {
      report(key, "expected pump.role \(role == .operator ? "device" : "operator") with this key, got \(role.rawValue)")
    }
    switch role {
    case .operator:
      do {
        _ = try PumpAddress(device ?? Self.usualDevice)
      } catch {
        report(\.device, "\(error)")
      }
    case .device:
      if let device, !device.hasPrefix("/") {
        report(\.device, "expected /dev/… of a serial line (Bluetooth: pump.bluetooth: true), got \(device)")
      }
      if own.bluetooth?.name.utf8.count ?? 0 > 20 || own.bluetooth?.name == "" {
        report(\.own.bluetoothName, "expected 1…20 bytes, got \(own.bluetooth!.name.utf8.count)")
      }
      #if !Bluetooth
        if own.bluetooth != nil {
          report(\.own.hasBluetooth, "expected false: this program was built without Bluetooth")
        }
      #endif
      let channels = [
        ("water", own.waterChannel), ("skin", own.skinChannel), ("pot", own.potChannel),
      ].compactMap { name, channel in channel.map { (name, $0) } }
      for (index, (name, channel)) in channels.enumerated() {
        guard let other = channels[..<index].first(where: { $0.1 == channel }) else { continue }
        report(
          "pump.adc.\(name)_channel", "expected another input than pump.adc.\(other.0)_channel's, got \(channel), too")
      }
    }
    return errors
  }
}

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension PumpOperatorSettings: @retroactive ReloadableRules {}
// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension PumpDeviceSettings: @retroactive ReloadableRules {}
