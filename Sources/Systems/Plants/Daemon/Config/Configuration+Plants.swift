import Buses
import Devices
import Plants
import Service
import Tactus
import TactusDaemon

extension Configuration {
  /// The plants: their probes, what is kept of them, the app, and links to the sprinkler.
  struct Plants: FileSettings, Equatable {
    enum Backend: String, Word {
      case hardware
      case sim
    }
    enum Chip: String, Word {
      case seesaw
      case ads1115
      case mcp3008
    }

    var backend = Backend.hardware
    var i2cBus = 1
    var spiDevice = "/dev/spidev0.0"
    var readPeriodSeconds = 10
    var samples = 5
    var retries = 3
    var staleAfterSeconds = 120
    var risePercent = 10.0
    var riseMinutes = 30
    var plantsPerUser = 7
    var users = 256
    var limits = PlantLimits(dryPercent: 20)
    var keptMinutesDays = 2
    var keptQuartersDays = 31
    var keptSixHoursDays = 1_098
    var hasApp = true
    /// Meaningless when it is switched off.
    var givenApp = App()
    var sensors: [Sensor] = []
    var waterings: [Watering] = []
  }
}

extension Configuration.Plants {
  struct App: Equatable {
    var hostName = "Host-RPI3B+"
    var isQuiet = false
    /// 0: no limit.
    var givenSpamLimit = 15
    var spamWindowSeconds = 15

    /// `nil` means no limit.
    var spamLimit: Int? { givenSpamLimit == 0 ? nil : givenSpamLimit }
  }

  /// An item of `plants.sensors`.
  struct Sensor: Settings, Equatable {
    var givenName: String?
    var chip = Chip.seesaw
    var givenAddress: UInt8?
    var givenChannel: Int?
    var dry: Double?
    var wet: Double?
  }

  /// An item of `plants.watering`.
  struct Watering: Settings, Equatable {
    /// `nil` if it is not given.
    var plant: Int?
    var zone: Int?
    var seconds = 60
    var perDay = 2
    var gapMinutes = 360
    /// Neither plant nor zone: an entry that links nothing, as in the reference.
    var isNothing: Bool { plant == nil && zone == nil }
  }

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    ofReading
    ofKeeping
    ofApp
  }

  @DeclarationBuilder<Key<Self>> private static var ofReading: [Key<Self>] {
    Key(
      "plants.backend", \.backend,
      "The soil probes: on this machine's buses (hardware), or simulated ones that dry out slowly (sim).")
    Key("plants.i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N, for probes on I2C.")
    Key("plants.spi_device", \.spiDevice, "SPI bus and chip select of the MCP3008, if there is one.")
    Key("plants.read_period_s", \.readPeriodSeconds, in: 1...3600, "Seconds from reading to reading of a probe.")
    Key("plants.samples", \.samples, oneOf: [1, 3, 5, 7, 9], "Samples of a reading, of which the median counts.")
    Key("plants.retries", \.retries, in: 0...10, "Further attempts at a sample that fails.")
    Key(
      "plants.stale_after_s", \.staleAfterSeconds, in: 2...86_400,
      "Seconds without a reading after which a probe is silent and its last one counts no more: at least two read "
        + "periods. A reading that does not change is none the worse for it.")
    Key(
      "plants.watered_rise_percent", \.risePercent, in: 1...100,
      "Percentage points by which moisture rises within plants.watered_within_min when somebody has watered.")
    Key("plants.watered_within_min", \.riseMinutes, in: 1...1440, "Minutes of that rise.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofKeeping: [Key<Self>] {
    Key("plants.plants_per_user", \.plantsPerUser, in: 1...64, "Plants of one user; the Plant-Tracker app shows seven.")
    Key(
      "plants.users", \.users, in: 1...256,
      "Users with plants. Nothing but the broker's own password keeps somebody from being another one.")
    Key(
      "plants.dry_percent", \.limits.dryPercent, in: 0...100,
      "Moisture below which a new plant is dry. Each plant's limits can be changed later.")
    Key(
      "plants.wet_percent", \.limits.wetPercent, in: 0...100,
      "Moisture above which a new plant is wet. Unless given: no limit.")
    Key(
      "plants.cold_celsius", \.limits.coldCelsius, in: -40...85,
      "Degrees below which a new plant is cold. Unless given: no limit.")
    Key(
      "plants.hot_celsius", \.limits.hotCelsius, in: -40...85,
      "Degrees above which a new plant is hot. Unless given: no limit.")
    Key("plants.history.minutes_days", \.keptMinutesDays, in: 1...366, "Days that readings are kept by the minute.")
    Key(
      "plants.history.quarters_days", \.keptQuartersDays, in: 1...3_660,
      "Days that they are kept by the quarter of an hour.")
    Key(
      "plants.history.six_hours_days", \.keptSixHoursDays, in: 1...36_600,
      "Days that they are kept by six hours; alerts and waterings, too.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofApp: [Key<Self>] {
    Key(
      "plants.app.enabled", \.hasApp,
      "Answer the Plant-Tracker app on rpi/torpi and rpi/fromrpi of the broker in mqtt. Whoever may publish there may add "
        + "and delete plants.")
    Key(
      "plants.app.host_name", \.givenApp.hostName, "The name that the app sends to. The unmodified app knows no other.")
    Key(
      "plants.app.quiet", \.givenApp.isQuiet,
      "Do not acknowledge what was added, deleted or edited, as the original host did not."
    ).reloadable
    Key(
      "plants.app.spam_limit", \.givenApp.givenSpamLimit, in: 0...100_000,
      "Messages of one sender in plants.app.spam_window_s; 0: as many as they like."
    ).reloadable
    Key("plants.app.spam_window_s", \.givenApp.spamWindowSeconds, in: 1...3_600, "Seconds of that window.").reloadable
  }

  static let table: [ConfigKey] =
    keys.asTable() + Sensor.table(of: "plants.sensors[]") + Watering.table(of: "plants.watering[]")

  /// It is `nil` if the file has no section `plants`.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("plants") else { return nil }
    let given = GivenValues(values: found.values)
    self.init(given)
    sensors =
      found.counts["plants.sensors"].map { count in
        (0..<count).map { Sensor(given, section: "plants.sensors[\($0)]") }
      } ?? [Sensor()]
    waterings = (0..<(found.counts["plants.watering"] ?? 0)).map {
      Watering(given, section: "plants.watering[\($0)]")
    }
  }

  /// `nil` if it is switched off.
  var app: App? { hasApp ? givenApp : nil }
  /// By minutes, quarters of an hour and six hours.
  var keptDays: [Int] { [keptMinutesDays, keptQuartersDays, keptSixHoursDays] }
}

extension Configuration.Plants.Sensor {
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key(
      "name", \.givenName,
      "What clients call it: 1…32 of a–z 0–9 . _ -. Unless given: its address, as 0x36; with the input, as 0x48.0 or spi.0."
    )
    Key(
      "chip", \.chip,
      "seesaw (STEMMA soil sensor, I2C), or a probe on an input of an ads1115 (I2C) or of the mcp3008 (SPI).")
    Key(
      "i2c_address", \.givenAddress, in: 0x08...0x77,
      "The chip's I2C address. Unless given: 0x36 for a seesaw, 0x48 for an ads1115.")
    Key(
      "channel", \.givenChannel, in: 0...7,
      "The converter's input: 0…3 of an ads1115, 0…7 of an mcp3008. Unless given: 0.")
    Key(
      "dry", \.dry, in: -10_000...70_000,
      "What the probe says in dry soil: counts, or millivolts on an ads1115. A calibration by the API counts until this is "
        + "changed here. Unless given, with wet: usual values of such a probe.")
    Key(
      "wet", \.wet, in: -10_000...70_000,
      "What it says in wet soil: at least 100 mV or counts away from dry, 31 on an mcp3008; more, on a seesaw.")
  }

  /// As given or made up: may be no sensor's name.
  var name: String {
    if let givenName { return givenName }
    switch chip {
    case .seesaw: return "0x" + String(address!, radix: 16)
    case .ads1115: return "0x" + String(address!, radix: 16) + ".\(channel!)"
    case .mcp3008: return "spi.\(channel!)"
    }
  }

  /// `nil` if it is on SPI.
  var address: UInt8? {
    switch chip {
    case .seesaw: givenAddress ?? 0x36
    case .ads1115: givenAddress ?? 0x48
    case .mcp3008: nil
    }
  }

  /// `nil` if the chip has one input only.
  var channel: Int? { chip == .seesaw ? nil : givenChannel ?? 0 }

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
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key(
      "plant", \.plant, in: 1...2_147_483_647,
      "The number of a plant, as GET /api/plants shows it, that may ask for water while it is dry. Unless there is such an "
        + "entry no plant ever does; one without plant and zone is none.")
    Key(
      "zone", \.zone, in: 1...64,
      "The sprinkler zone that waters it, by the sprinkler's own rules: queue, rain delay, limits of the zone.")
    Key("seconds", \.seconds, in: 1...3_600, "Seconds of water each time.").reloadable
    Key("max_per_day", \.perDay, in: 1...24, "Requests in one local day, at most.").reloadable
    Key("min_gap_min", \.gapMinutes, in: 1...10_080, "Minutes between two requests, at least.").reloadable
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

  /// What a reload may change: of the app, if it is answered, and of each link.
  var everyReloadable: [(key: String, value: ConfigValue?)] {
    reloadable + waterings.enumerated().flatMap { $1.reloadable(at: "plants.watering[\($0)]") }
  }

  /// By plant.
  var links: [(plant: PlantID, settings: PlantWateringSettings)] {
    waterings.filter { !$0.isNothing }.map { watering in
      do {
        return (
          PlantID(UInt64(clamping: watering.plant!)),
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
