import BluetoothBlueZ
import Buses
@_spi(FromOutside) import Conversions
import Devices
import Pump
import Tactus
import TactusDaemon

extension Pump {
  public enum Role: String, Word {
    case `operator`
    case device
  }
  public enum Backend: String, Word {
    case hardware
    case sim
  }
  public enum Overheating: String, Word {
    case stop
    case keep
  }
  public enum LinkLoss: String, Word {
    case keep
    case stop
  }
  public enum Dialect: String, Word {
    case firmware
    case legacy
  }

  /// The configuration of the pump's role and of its hardware.
  public struct Wiring: Settings {
    var role = Role.operator
    var backend = Backend.hardware
    /// The address or device, or `nil` for the role's default.
    var device: String?
    var baud = 9600
    var logDays = 1095
    // Keys of the device role, for the hardware of this machine; they have no meaning for an operator.
    var dialect = Dialect.firmware
    var hasBluetooth = false
    var bluetoothName = "Testicool"
    /// The Bluetooth adapter, or `nil` to use the first one found.
    var bluetoothAdapter: String?
    var pwmChip = "/sys/class/pwm/pwmchip0"
    var pwmChannel = 0
    var pwmHertz = 1_000
    /// The GPIO line of the button, or `nil` if there is no button.
    var button: GPIOLineName?
    var isButtonActiveLow = true
    var i2cBus = 1
    var i2cAddress: UInt8 = 0x48
    var waterChannel: Int?
    var skinChannel: Int?
    var potChannel: Int?
    var supplyMillivolts = 3_300

    public init() {}

    @DeclarationBuilder<Key<Wiring>> public static var keys: [Key<Wiring>] {
      Key(
        "role", \.role,
        "What this program is: the operator of a pump, in place of its app; or the device itself, in place of its "
          + "microcontroller, with motor, button and sensors on this machine.")
      Key(
        "backend", \.backend, "The pump: a real one (hardware), or simulated with its water and skin (sim).")
      Key(
        "device", \.device,
        "As operator the way to the pump: a serial line (/dev/ttyUSB0, /dev/serial0, /dev/rfcomm0, or what `tactus sim pump "
          + "--pty` prints), or a serial module such as the HM-10 by its name or address: ble:HMSoft, "
          + "ble:AA:BB:CC:DD:EE:FF, ble:HMSoft@hci1. Unless given: /dev/ttyUSB0. As device the serial line that its apps talk "
          + "to, or at which its radio module is; unless given: none."
      ).found(
        by: .serialLine,
        .bluetooth(service: BluetoothProfile.serialModule.service, what: "a serial module (HM-10)", prefix: "ble:"))
      Key(
        "baud", \.baud, oneOf: [1200, 2400, 4800, 9600, 19_200, 38_400, 57_600, 115_200],
        "Bits a second of a serial line.")
      Key("log_days", \.logDays, in: 1...36_500, "Days that the sessions go back.")
      ofDevice
      ofBoard
    }

    @DeclarationBuilder<Key<Wiring>> fileprivate static var ofDevice: [Key<Wiring>] {
      Key(
        "dialect", \.dialect,
        "As device: the lines it speaks: with water and skin (firmware), or with one temperature, the skin's (legacy).")
      Key(
        "bluetooth", \.hasBluetooth,
        "As device: offer the lines over Bluetooth as an HM-10 does (FFE0/FFE1), to one central at a time. Whoever is near may "
          + "connect.")
      Key("bluetooth_name", \.bluetoothName, "The name under which it is found, at most 20 bytes.")
      Key(
        "bluetooth_adapter", \.bluetoothAdapter,
        "hci0, or an adapter's address. Unless given: the first that there is.")
    }

    @DeclarationBuilder<Key<Wiring>> fileprivate static var ofBoard: [Key<Wiring>] {
      Key(
        "pump.pwm.chip", \.pwmChip,
        "As device: the PWM unit that drives the motor. On a Raspberry Pi `dtoverlay=pwm` brings it to GPIO18.")
      Key("pump.pwm.channel", \.pwmChannel, in: 0...63, "The unit's output.")
      Key("pump.pwm.frequency_hz", \.pwmHertz, in: 10...50_000, "Periods a second.")
      Key(
        "button", \.button,
        "As device: the line of the button that turns the pump on and off. Unless given: none.")
      Key(
        "button_active_low", \.isButtonActiveLow,
        "The button connects its line to ground, and the chip's own resistor pulls it up; otherwise the other way round."
      )
      Key(
        "pump.adc.i2c_bus", \.i2cBus, in: 0...255,
        "As device: number N of /dev/i2c-N with the ADS1115 of the sensors.")
      Key("pump.adc.i2c_address", \.i2cAddress, in: 0x48...0x4B, "The converter's address.")
        .found(by: .i2cChip("ADS1115 converter", at: 0x48...0x4B, bus: "pump.adc.i2c_bus"))
      Key(
        "pump.adc.water_channel", \.waterChannel, in: 0...3,
        "Its input with the water's thermistor: 10 kΩ, B 3950, to the supply, and 10 kΩ to ground. Unless given: there is none."
      )
      Key(
        "pump.adc.skin_channel", \.skinChannel, in: 0...3, "Its input with the skin's thermistor, wired the same.")
      Key(
        "pump.adc.pot_channel", \.potChannel, in: 0...3,
        "Its input with a potentiometer from ground to the supply, which sets the speed when it is turned.")
      Key(
        "pump.adc.supply_mv", \.supplyMillivolts, in: 1_000...6_000, "The thermistors' supply in millivolts.")
    }
  }

  /// The configuration of the pump's limits and behaviour.
  public struct Rules: Settings {
    var runLimitMinutes = 30
    var restMinutes = 5
    var onOverheat = Overheating.stop
    var onLinkLoss = LinkLoss.keep
    var silenceLimitSeconds: Int?

    public init() {}

    @DeclarationBuilder<Key<Rules>> public static var keys: [Key<Rules>] {
      Key(
        "run_limit_min", \.runLimitMinutes, in: 1...1440, limit: .upper,
        "Minutes of pumping, over however many ONs, after which the pump is turned off until it has rested or is reset."
      )
      Key(
        "rest_min", \.restMinutes, in: 0...1440, limit: .lower,
        "Minutes without pumping after which it has rested.")
      Key(
        "on_overheat", \.onOverheat, widest: .keep,
        "What skin above 40 °C means: the pump is turned off, as the original does, although it is what cools (stop), or "
          + "goes on (keep).")
      Key(
        "on_link_loss", \.onLinkLoss, widest: .keep,
        "As operator: what a lost connection means for a pump that runs. It runs on until its own limit (keep), or is turned "
          + "off as soon as it can be reached (stop).")
      Key(
        "silence_limit_s", \.silenceLimitSeconds, in: 1...3600, limit: .upper,
        "As device: seconds without a command after which a pump that runs stops. Unless given: it runs on until its limit, as "
          + "the original.")
    }
  }

  /// Returns the settings of both roles; a loop uses those of its role.
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> PumpRules {
    PumpRules(operating: rules.operating, own: rules.own(wiring))
  }
}

extension Pump.Rules {
  private var runLimit: Nanoseconds { .seconds(Int64(runLimitMinutes) * 60) }
  private var rest: Nanoseconds { .seconds(Int64(restMinutes) * 60) }
  private var overheatAction: PumpOverheatAction { onOverheat == .stop ? .stop : .keepCooling }

  var operating: PumpOperatorSettings {
    do {
      return try PumpOperatorSettings(
        runLimit: runLimit, rest: rest, linkLoss: onLinkLoss == .stop ? .stopsOnReturn : .keepsRunning,
        overheatAction: overheatAction)
    } catch {
      preconditionFailure("the keys' ranges let through what the pump refuses: \(error)")
    }
  }

  /// Returns the settings of the device role.
  func own(_ wiring: Pump.Wiring) -> PumpDeviceSettings {
    do {
      return try PumpDeviceSettings(
        dialect: wiring.dialect == .legacy ? .legacy : .firmware, runLimit: runLimit, rest: rest,
        overheatAction: overheatAction, pot: wiring.potChannel == nil ? .none : .whenMoved,
        silenceLimit: silenceLimitSeconds.map { .seconds(Int64($0)) })
    } catch {
      preconditionFailure("the keys' ranges let through what the pump refuses: \(error)")
    }
  }
}

extension Pump.Wiring {
  static let usualDevice = "/dev/ttyUSB0"

  /// The address of the pump in the operator role. Valid, because `check` reports an invalid one.
  var address: PumpAddress {
    do {
      return try PumpAddress(device ?? Self.usualDevice)
    } catch {
      preconditionFailure("the configuration let an invalid address through: \(error)")
    }
  }

  /// The PWM output of the motor, for example `/sys/class/pwm/pwmchip0/pwm0`.
  var motor: PWMOutputName { PWMOutputName(chip: pwmChip, channel: pwmChannel) }
  var pwmPeriod: Nanoseconds { Nanoseconds(1_000_000_000 / Int64(pwmHertz)) }

  /// The input of the button, or `nil` if there is no button.
  var buttonInput: GPIOInput? {
    button.map {
      GPIOInput($0, isActiveLow: isButtonActiveLow, edges: .both, pull: isButtonActiveLow ? .up : .down)
    }
  }

  /// The converter of the sensors, or `nil` if no channel is configured. Requires a configuration without errors.
  var converter: PumpConverter? {
    guard waterChannel != nil || skinChannel != nil || potChannel != nil else { return nil }
    return PumpConverter(
      // A supply of more than 4,096 mV needs the larger range.
      ADS1115(
        address: I2CAddress(i2cAddress)!, range: supplyMillivolts > 4_096 ? .millivolts6144 : .millivolts4096),
      water: waterChannel, skin: skinChannel, pot: potChannel, supply: Microvolts(Int64(supplyMillivolts) * 1_000))
  }
}

// MARK: rules over more than one key

extension Pump: ChecksTogether {
  public static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Pump>) {
    // Keys of the other role are refused, unless they have their default values.
    switch wiring.role {
    case .operator:
      let words = "expected pump.role device with this key, got operator"
      for key in (Wiring.ofDevice + Wiring.ofBoard).changed(in: wiring) { report(key, words) }
      if rules.silenceLimitSeconds != nil { report(\.silenceLimitSeconds, words) }
    case .device:
      if rules.onLinkLoss != Rules().onLinkLoss {
        report(\.onLinkLoss, "expected pump.role operator with this key, got device")
      }
    }
  }
}

extension Pump.Wiring {
  public func check(_ report: (PartialKeyPath<Pump.Wiring>, String) -> Void) {
    switch role {
    case .operator:
      do {
        _ = try PumpAddress(device ?? Self.usualDevice)
      } catch {
        report(\.device, "\(error)")
      }
    case .device: checkDevice(report)
    }
  }

  private func checkDevice(_ report: (PartialKeyPath<Pump.Wiring>, String) -> Void) {
    if let device, !device.hasPrefix("/") {
      report(\.device, "expected /dev/… of a serial line (Bluetooth: pump.bluetooth: true), got \(device)")
    }
    let length = bluetoothName.utf8.count
    if hasBluetooth, !(1...20).contains(length) { report(\.bluetoothName, "expected 1…20 bytes, got \(length)") }
    #if !Bluetooth
      if hasBluetooth { report(\.hasBluetooth, "expected false: this program was built without Bluetooth") }
    #endif
    let channels: [(name: String, key: PartialKeyPath<Pump.Wiring>, channel: Int?)] = [
      ("water", \.waterChannel, waterChannel), ("skin", \.skinChannel, skinChannel), ("pot", \.potChannel, potChannel),
    ]
    for (index, own) in channels.enumerated() {
      guard let channel = own.channel, let other = channels[..<index].first(where: { $0.channel == channel }) else {
        continue
      }
      report(own.key, "expected another input than pump.adc.\(other.name)_channel's, got \(channel), too")
    }
  }
}
