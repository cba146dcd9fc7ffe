import Buses
import BusesLinux
import Devices
import Pump
import Tactus
import TactusDaemon

extension Configuration {
  /// The cooling pump: another machine's, or this one's own.
  struct Pump: Equatable, Sendable {
    enum Role: String, Equatable {
      case `operator`
      case device
    }
    enum Backend: String, Equatable {
      case hardware
      case sim
    }

    var role: Role
    var backend: Backend
    /// nil: the role's default.
    var device: String?
    var baud: Int
    var runLimitMinutes: Int
    var restMinutes: Int
    var stopsOnReturn: Bool
    var stopsWhenTooWarm: Bool
    var logDays: Int
    /// What hangs on this machine; meaningless for an operator.
    var own: Own
    /// Keys of the other role that the file gives a value which is not their default.
    var strangers: [String]
  }
}

extension Configuration.Pump {
  /// What the device itself is made of.
  struct Own: Equatable {
    var silenceLimitSeconds: Int?
    var speaksLegacy: Bool
    /// nil: not offered.
    var bluetooth: Bluetooth?
    var pwmChip: String
    var pwmChannel: Int
    var pwmHertz: Int
    /// nil: there is none.
    var button: GPIOLineName?
    var isButtonActiveLow: Bool
    var i2cBus: Int
    var i2cAddress: UInt8
    var waterChannel: Int?
    var skinChannel: Int?
    var potChannel: Int?
    var supplyMillivolts: Int
  }

  struct Bluetooth: Equatable {
    var name: String
    /// nil: the first.
    var adapter: String?
  }

  /// nil: the file has no such section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("pump") else { return nil }
    let given = GivenValues(values: found.values)
    let others = given.text("pump.role") == Role.operator.rawValue ? Self.ofDevice : Self.ofOperator
    self.init(
      // The table lists exactly the raw values.
      role: Role(rawValue: given.text("pump.role"))!, backend: Backend(rawValue: given.text("pump.backend"))!,
      device: given.optionalText("pump.device"), baud: Int(given.text("pump.baud"))!,
      runLimitMinutes: given.integer("pump.run_limit_min"), restMinutes: given.integer("pump.rest_min"),
      stopsOnReturn: given.text("pump.on_link_loss") == "stop",
      stopsWhenTooWarm: given.text("pump.on_overheat") == "stop", logDays: given.integer("pump.log_days"),
      own: Own(given),
      strangers: others.filter { found.values[$0] != nil && found.values[$0] != ConfigTable.key($0)?.standard })
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
        linkLoss: stopsOnReturn ? .stopsOnReturn : .keepsRunning,
        overheatAction: stopsWhenTooWarm ? .stop : .keepCooling)
    } catch {
      preconditionFailure("the configuration let through what the pump refuses: \(error)")
    }
  }

  /// Of the device itself.
  var deviceSettings: PumpDeviceSettings {
    do {
      return try PumpDeviceSettings(
        dialect: own.speaksLegacy ? .legacy : .firmware, runLimit: .seconds(Int64(runLimitMinutes) * 60),
        rest: .seconds(Int64(restMinutes) * 60), overheatAction: stopsWhenTooWarm ? .stop : .keepCooling,
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
  fileprivate init(_ given: GivenValues) {
    self.init(
      silenceLimitSeconds: given.optionalInteger("pump.silence_limit_s"),
      speaksLegacy: given.text("pump.dialect") == "legacy",
      bluetooth: given.boolean("pump.bluetooth")
        ? .init(
          name: given.text("pump.bluetooth_name"), adapter: given.optionalText("pump.bluetooth_adapter")) : nil,
      pwmChip: given.text("pump.pwm.chip"), pwmChannel: given.integer("pump.pwm.channel"),
      pwmHertz: given.integer("pump.pwm.frequency_hz"), button: given.optionalLine("pump.button"),
      isButtonActiveLow: given.boolean("pump.button_active_low"), i2cBus: given.integer("pump.adc.i2c_bus"),
      i2cAddress: UInt8(given.integer("pump.adc.i2c_address")),
      waterChannel: given.optionalInteger("pump.adc.water_channel"),
      skinChannel: given.optionalInteger("pump.adc.skin_channel"),
      potChannel: given.optionalInteger("pump.adc.pot_channel"), supplyMillivolts: given.integer("pump.adc.supply_mv"))
  }

  /// `/sys/class/pwm/pwmchip0/pwm0`
  var pwmPath: String { "\(pwmChip)/pwm\(pwmChannel)" }
  var pwmPeriod: Nanoseconds { Nanoseconds(1_000_000_000 / Int64(pwmHertz)) }

  /// Whether anything hangs on a converter.
  var hasConverter: Bool { waterChannel != nil || skinChannel != nil || potChannel != nil }

  /// nil: nothing hangs on one. Of a configuration without errors.
  var converter: PumpConverter? {
    guard hasConverter else { return nil }
    return PumpConverter(
      // The thermistors' supply is more than the range below.
      ADS1115(
        address: I2CAddress(i2cAddress)!, range: supplyMillivolts > 4_096 ? .millivolts6144 : .millivolts4096),
      water: waterChannel, skin: skinChannel, pot: potChannel, supply: Microvolts(Int64(supplyMillivolts) * 1_000))
  }

  /// nil: there is none.
  var buttonInput: GPIOInput? {
    button.map {
      GPIOInput($0, isActiveLow: isButtonActiveLow, edges: .both, pull: isButtonActiveLow ? .up : .down)
    }
  }
}

// MARK: rules over more than one key

extension Configuration.Pump {
  /// Keys of one role only.
  private static let ofOperator = ["pump.on_link_loss"]
  private static let ofDevice = ConfigTable.pump.map(\.path).filter { path in
    ["pump.silence_limit_s", "pump.dialect", "pump.bluetooth", "pump.pwm.", "pump.button", "pump.adc."]
      .contains { path.hasPrefix($0) }
  }

  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) { errors.append(places.error(file, key, message)) }
    for key in strangers {
      report(key, "expected pump.role \(role == .operator ? "device" : "operator") with this key, got \(role.rawValue)")
    }
    switch role {
    case .operator:
      do {
        _ = try PumpAddress(device ?? Self.usualDevice)
      } catch {
        report("pump.device", "\(error)")
      }
    case .device:
      if let device, !device.hasPrefix("/") {
        report("pump.device", "expected /dev/… of a serial line (Bluetooth: pump.bluetooth: true), got \(device)")
      }
      if own.bluetooth?.name.utf8.count ?? 0 > 20 || own.bluetooth?.name == "" {
        report("pump.bluetooth_name", "expected 1…20 bytes, got \(own.bluetooth!.name.utf8.count)")
      }
      #if !Bluetooth
        if own.bluetooth != nil {
          report("pump.bluetooth", "expected false: this program was built without Bluetooth")
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
