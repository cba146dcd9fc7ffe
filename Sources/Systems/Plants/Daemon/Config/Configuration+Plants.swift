import Buses
import Devices
import Plants
import Service
import Tactus
import TactusDaemon

extension Configuration {
  /// The plants: their probes, what is kept of them, the app, and links to the sprinkler.
  struct Plants: Equatable, Sendable {
    enum Backend: String, Equatable {
      case hardware
      case sim
    }
    enum Chip: String, Equatable {
      case seesaw
      case ads1115
      case mcp3008
    }
    struct Sensor: Equatable {
      /// As given or made up: may be no sensor's name.
      var name: String
      var chip: Chip
      /// nil: on SPI.
      var address: UInt8?
      /// nil: the chip has one input only.
      var channel: Int?
      var givesChannel: Bool
      var givesAddress: Bool
      var dry: Double?
      var wet: Double?
    }
    struct Watering: Equatable {
      /// nil: not given.
      var plant: Int?
      var zone: Int?
      var seconds: Int
      var perDay: Int
      var gapMinutes: Int
      /// Neither plant nor zone: an entry that links nothing, as in the reference.
      var isNothing: Bool { plant == nil && zone == nil }
    }
    struct App: Equatable {
      var hostName: String
      var isQuiet: Bool
      /// nil: no limit.
      var spamLimit: Int?
      var spamWindowSeconds: Int
    }

    var backend: Backend
    var i2cBus: Int
    var spiDevice: String
    var readPeriodSeconds: Int
    var samples: Int
    var retries: Int
    var staleAfterSeconds: Int
    var risePercent: Double
    var riseMinutes: Int
    var plantsPerUser: Int
    var users: Int
    var limits: PlantLimits
    /// By minutes, quarters of an hour and six hours.
    var keptDays: [Int]
    /// nil: switched off.
    var app: App?
    var sensors: [Sensor]
    var waterings: [Watering]
  }
}

extension Configuration.Plants {
  /// nil: the file has no section `plants`.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("plants") else { return nil }
    let given = GivenValues(values: found.values)
    let spam = given.integer("plants.app.spam_limit")
    self.init(
      // The table lists exactly the raw values.
      backend: Backend(rawValue: given.text("plants.backend"))!,
      i2cBus: given.integer("plants.i2c_bus"), spiDevice: given.text("plants.spi_device"),
      readPeriodSeconds: given.integer("plants.read_period_s"), samples: Int(given.text("plants.samples"))!,
      retries: given.integer("plants.retries"), staleAfterSeconds: given.integer("plants.stale_after_s"),
      risePercent: given.number("plants.watered_rise_percent"), riseMinutes: given.integer("plants.watered_within_min"),
      plantsPerUser: given.integer("plants.plants_per_user"), users: given.integer("plants.users"),
      limits: PlantLimits(
        dryPercent: given.number("plants.dry_percent"), wetPercent: given.optionalNumber("plants.wet_percent"),
        coldCelsius: given.optionalNumber("plants.cold_celsius"), hotCelsius: given.optionalNumber("plants.hot_celsius")
      ),
      keptDays: ["minutes", "quarters", "six_hours"].map { given.integer("plants.history.\($0)_days") },
      app: given.boolean("plants.app.enabled")
        ? App(
          hostName: given.text("plants.app.host_name"), isQuiet: given.boolean("plants.app.quiet"),
          spamLimit: spam == 0 ? nil : spam, spamWindowSeconds: given.integer("plants.app.spam_window_s"))
        : nil,
      sensors: found.counts["plants.sensors"].map { (0..<$0).map { Sensor(given, index: $0) } } ?? [.standard],
      waterings: (0..<(found.counts["plants.watering"] ?? 0)).map { Watering(given, index: $0) })
  }
}

extension Configuration.Plants.Sensor {
  static let standard = Self(
    name: "0x36", chip: .seesaw, address: 0x36, channel: nil, givesChannel: false, givesAddress: false)

  fileprivate init(_ given: GivenValues, index: Int) {
    let path = "plants.sensors[\(index)]"
    chip = Configuration.Plants.Chip(rawValue: given.text("\(path).chip"))!
    let address = given.optionalInteger("\(path).i2c_address").map { UInt8($0) }
    let channel = given.optionalInteger("\(path).channel")
    (givesAddress, givesChannel) = (address != nil, channel != nil)
    let made: String
    switch chip {
    case .seesaw:
      (self.address, self.channel) = (address ?? 0x36, nil)
      made = "0x" + String(address ?? 0x36, radix: 16)
    case .ads1115:
      (self.address, self.channel) = (address ?? 0x48, channel ?? 0)
      made = "0x" + String(address ?? 0x48, radix: 16) + ".\(channel ?? 0)"
    case .mcp3008:
      (self.address, self.channel) = (nil, channel ?? 0)
      made = "spi.\(channel ?? 0)"
    }
    name = given.optionalText("\(path).name") ?? made
    dry = given.optionalNumber("\(path).dry")
    wet = given.optionalNumber("\(path).wet")
  }

  /// The names have been checked.
  var id: PlantSensorID { PlantSensorID(name)! }

  var probe: PlantProbe {
    switch chip {
    case .seesaw: .seesaw(SeesawSoil(address: I2CAddress(address!)!))
    case .ads1115: .ads1115(ADS1115(address: I2CAddress(address!)!), channel: channel!)
    case .mcp3008: .mcp3008(channel: channel!)
    }
  }

  var monitored: PlantMonitor.Sensor {
    let calibration = dry.flatMap { dry in wet.flatMap { try? PlantCalibration(dry: dry, wet: $0) } }
    return PlantMonitor.Sensor(id, probe, calibration: calibration)
  }
}

extension Configuration.Plants.Watering {
  fileprivate init(_ given: GivenValues, index: Int) {
    let path = "plants.watering[\(index)]"
    plant = given.optionalInteger("\(path).plant")
    zone = given.optionalInteger("\(path).zone")
    seconds = given.integer("\(path).seconds")
    perDay = given.integer("\(path).max_per_day")
    gapMinutes = given.integer("\(path).min_gap_min")
  }
}

// MARK: what the daemon makes of it

extension Configuration.Plants {
  var probeSettings: PlantProbeSettings {
    PlantProbeSettings(period: .seconds(Int64(readPeriodSeconds)), samples: samples, retries: retries)
  }

  var host: PlantHostSettings {
    var settings = PlantHostSettings()
    settings.staleAfter = .seconds(Int64(staleAfterSeconds))
    guard let app else { return settings }
    settings.hostName = app.hostName
    settings.legacyQuiet = app.isQuiet
    settings.spamLimit = app.spamLimit
    settings.spamWindow = .seconds(Int64(app.spamWindowSeconds))
    return settings
  }

  var bookRules: PlantBookRules { PlantBookRules(plantsPerUser: plantsPerUser, users: users, limits: limits) }

  var riseDetector: PlantRiseDetector {
    PlantRiseDetector(rise: risePercent, window: .seconds(Int64(riseMinutes) * 60))
  }

  var tiers: [PlantHistoryTier] {
    zip([60, 900, 21_600] as [Int64], keptDays).map {
      PlantHistoryTier(spanSeconds: $0, keptSeconds: Int64($1) * 86_400)
    }
  }

  var deskParts: PlantDesk.Parts {
    PlantDesk.Parts(
      sensors: sensors.map(\.monitored), host: host, rules: bookRules, detector: riseDetector, tiers: tiers,
      links: Dictionary(uniqueKeysWithValues: links.map { ($0.plant, $0.settings) }))
  }

  /// What of the file may change while the program runs.
  var rules: [(key: String, value: ConfigValue?)] {
    let ofApp: [(String, ConfigValue?)] = [
      ("plants.app.quiet", app.map { .boolean($0.isQuiet) }),
      ("plants.app.spam_limit", app.map { .integer($0.spamLimit ?? 0) }),
      ("plants.app.spam_window_s", app.map { .integer($0.spamWindowSeconds) }),
    ]
    return waterings.enumerated().reduce(into: ofApp) { keys, entry in
      let (path, watering) = ("plants.watering[\(entry.offset)]", entry.element)
      keys += [
        ("\(path).seconds", .integer(watering.seconds)), ("\(path).max_per_day", .integer(watering.perDay)),
        ("\(path).min_gap_min", .integer(watering.gapMinutes)),
      ]
    }
  }

  /// By plant.
  var links: [(plant: PlantID, settings: PlantWateringSettings)] {
    waterings.filter { !$0.isNothing }.map { watering in
      do {
        return (
          PlantID(UInt64(watering.plant!)),
          try PlantWateringSettings(
            zone: watering.zone!, seconds: watering.seconds, maximumPerDay: watering.perDay,
            minimumGapSeconds: Int64(watering.gapMinutes) * 60)
        )
      } catch {
        preconditionFailure("the configuration let through what the link refuses: \(error)")
      }
    }
  }

  var summary: String {
    let probes = "\(sensors.count) probe\(sensors.count == 1 ? "" : "s")"
    guard backend == .hardware else { return "\(probes), simulated" }
    let onI2C = sensors.contains { $0.address != nil }
    let onSPI = sensors.contains { $0.address == nil }
    return probes + (onI2C ? " on /dev/i2c-\(i2cBus)" : "") + (onI2C && onSPI ? " and" : "")
      + (onSPI ? " on \(spiDevice)" : "") + ", read every \(readPeriodSeconds) s"
  }
}
