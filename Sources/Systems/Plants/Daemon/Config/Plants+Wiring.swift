@_spi(FromOutside) import Conversions
import Devices
import Plants
import TactusDaemon

extension Plants {
  /// The settings that cannot change during a run: the probes, the history's retention, the app, and the links between plants and zones.
  public struct Wiring: Settings {
    enum Backend: String, Word {
      case hardware
      case sim
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
    /// The local hour of the daily picture, or `nil` if none is taken.
    var pictureHour: Int?
    var keptPictureDays = 730
    var keptPictureMegabytes = 64
    var hasApp = true
    /// The host's name for the app; unused if the app is switched off.
    var hostName = PlantHostSettings().hostName
    var sensors = [PlantSensorWiring()]
    var waterings: [PlantWateringWiring] = []

    public init() {}
  }
}

extension Plants.Wiring {
  @DeclarationBuilder<Key<Self>> public static var keys: [Key<Self>] {
    ofReading
    ofKeeping
    Key(
      "plants.app.enabled", \.hasApp,
      "Answer the Plant-Tracker app on rpi/torpi and rpi/fromrpi of the broker in mqtt. Whoever may publish there may add "
        + "and delete plants.")
    Key("plants.app.host_name", \.hostName, "The name that the app sends to. The unmodified app knows no other.")
    Key("sensors", \.sensors, upTo: 16, "")
    Key("watering", \.waterings, upTo: 64, "")
  }

  @DeclarationBuilder<Key<Self>> private static var ofReading: [Key<Self>] {
    Key(
      "backend", \.backend,
      "The soil probes: on this machine's buses (hardware), or simulated ones that dry out slowly (sim).")
    Key("i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N, for probes on I2C.")
    Key("spi_device", \.spiDevice, "SPI bus and chip select of the MCP3008, if there is one.")
    Key("read_period_s", \.readPeriodSeconds, in: 1...3600, "Seconds from reading to reading of a probe.")
    Key("samples", \.samples, oneOf: [1, 3, 5, 7, 9], "Samples of a reading, of which the median counts.")
    Key("retries", \.retries, in: 0...10, "Further attempts at a sample that fails.")
    Key(
      "stale_after_s", \.staleAfterSeconds, in: 2...86_400,
      "Seconds without a reading after which a probe is silent and its last one counts no more: at least two read "
        + "periods. A reading that does not change is none the worse for it.")
    Key(
      "watered_rise_percent", \.risePercent, in: 1...100,
      "Percentage points by which moisture rises within plants.watered_within_min when somebody has watered.")
    Key("watered_within_min", \.riseMinutes, in: 1...1440, "Minutes of that rise.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofKeeping: [Key<Self>] {
    Key("plants_per_user", \.plantsPerUser, in: 1...64, "Plants of one user; the Plant-Tracker app shows seven.")
    Key(
      "users", \.users, in: 1...256,
      "Users with plants. Nothing but the broker's own password keeps somebody from being another one.")
    Key(
      "dry_percent", \.limits.dryPercent, in: 0...100,
      "Moisture below which a new plant is dry. Each plant's limits can be changed later.")
    Key(
      "wet_percent", \.limits.wetPercent, in: 0...100,
      "Moisture above which a new plant is wet. Unless given: no limit.")
    Key(
      "cold_celsius", \.limits.coldCelsius, in: -40...85,
      "Degrees below which a new plant is cold. Unless given: no limit.")
    Key(
      "hot_celsius", \.limits.hotCelsius, in: -40...85,
      "Degrees above which a new plant is hot. Unless given: no limit.")
    Key("plants.history.minutes_days", \.keptMinutesDays, in: 1...366, "Days that readings are kept by the minute.")
    Key(
      "plants.history.quarters_days", \.keptQuartersDays, in: 1...3_660,
      "Days that they are kept by the quarter of an hour.")
    Key(
      "plants.history.six_hours_days", \.keptSixHoursDays, in: 1...36_600,
      "Days that they are kept by six hours; alerts and waterings, too.")
    Key(
      "plants.pictures.hour", \.pictureHour, in: 0...23,
      "Hour of the day, by this machine's time zone, at which the camera of video takes a picture of the plants. Unless "
        + "given: none is taken.")
    Key("plants.pictures.days", \.keptPictureDays, in: 1...3_660, "Daily pictures that are kept.")
    Key(
      "plants.pictures.megabytes", \.keptPictureMegabytes, in: 1...128,
      "Megabytes that they may have together; the oldest go first.")
  }

  /// Whether the protocol can transmit the host's name without changes.
  var hasHostName: Bool {
    !hostName.isEmpty && hostName != PlantHostSettings.everybody && !hostName.contains("--")
      && hostName.utf8.count <= 64
      && !hostName.contains { ":;|".contains($0) || $0.isNewline }
  }
}

// MARK: values derived from the keys

extension Plants.Wiring {
  var probeSettings: PlantProbeSettings {
    PlantProbeSettings(period: .seconds(Int64(readPeriodSeconds)), samples: samples, retries: retries)
  }

  var bookRules: PlantBookRules { PlantBookRules(plantsPerUser: plantsPerUser, users: users, limits: limits) }

  var riseDetector: PlantRiseDetector {
    PlantRiseDetector(rise: risePercent, window: .seconds(Int64(riseMinutes) * 60))
  }

  /// The history's tiers of one minute, a quarter of an hour and six hours.
  var tiers: [PlantHistoryTier] {
    zip([60, 900, 21_600] as [Int64], [keptMinutesDays, keptQuartersDays, keptSixHoursDays]).map {
      PlantHistoryTier(spanSeconds: $0, keptSeconds: Int64($1) * 86_400)
    }
  }

  /// The settings of the daily picture, or `nil` if none is taken.
  var pictures: PlantPictures.Settings? {
    pictureHour.map { .init(hour: $0, keptDays: keptPictureDays, mostBytes: keptPictureMegabytes << 20) }
  }

  var hasDistinctProbes: Bool { Set(sensors.map(\.probe)).count == sensors.count }

  /// The host's name for the app, or `nil` if the app is not served.
  var app: String? { hasApp ? hostName : nil }

  /// A summary for the log, for example `2 probes on /dev/i2c-1, read every 10 s`.
  var summary: String {
    let probes = "\(sensors.count) probe\(sensors.count == 1 ? "" : "s")"
    guard backend == .hardware else { return "\(probes), simulated" }
    let onI2C = sensors.contains { $0.address != nil }
    let places = [
      onI2C ? "on /dev/i2c-\(i2cBus)" : nil, sensors.contains { $0.chip == .mcp3008 } ? "on \(spiDevice)" : nil,
      sensors.contains { $0.chip == .ble } ? "by Bluetooth" : nil,
    ].compactMap(\.self)
    return "\(probes) \(places.joined(separator: " and ")), read every \(readPeriodSeconds) s"
  }
}

extension Plants {
  /// The settings that a reload can change, such as the limits of the app's messages and of the links' requests.
  public struct Rules: Settings, Equatable {
    var isQuiet = false
    /// The largest number of a client's messages in a window; 0 means no limit.
    var spamLimit = 15
    var spamWindowSeconds = 15
    var waterings: [PlantWateringRules] = []

    public init() {}

    @DeclarationBuilder<Key<Self>> public static var keys: [Key<Self>] {
      Key(
        "plants.app.quiet", \.isQuiet,
        "Do not acknowledge what was added, deleted or edited, as the original host did not.")
      Key(
        "plants.app.spam_limit", \.spamLimit, in: 0...100_000,
        "Messages of one sender in plants.app.spam_window_s; 0: as many as they like.")
      Key("plants.app.spam_window_s", \.spamWindowSeconds, in: 1...3_600, "Seconds of that window.")
      Key("watering", \.waterings, upTo: 64, "")
    }
  }

  /// The probes' loop uses none of the rules.
  public typealias LoopRules = NoSettings
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> NoSettings { NoSettings() }

  // MARK: rules over more than one key

  public static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Plants>) {
    if wiring.staleAfterSeconds < 2 * wiring.readPeriodSeconds {
      report(
        \.staleAfterSeconds,
        "expected at least two of plants.read_period_s (\(2 * wiring.readPeriodSeconds)), got \(wiring.staleAfterSeconds)",
        or: \.readPeriodSeconds,
        "expected at most half of \(report.setting(\.staleAfterSeconds, wiring.staleAfterSeconds)), got \(wiring.readPeriodSeconds)"
      )
    }
    if wiring.hasApp, !wiring.hasHostName {
      report.alone(\.hostName, "expected a name without : and ;, other than all, got '\(wiring.hostName)'")
    }
    order(\.limits.dryPercent, \.limits.wetPercent, wiring, report)
    order(\.limits.coldCelsius, \.limits.hotCelsius, wiring, report)
    for (index, watering) in wiring.waterings.enumerated() {
      guard let plant = watering.plant, let first = wiring.waterings[..<index].firstIndex(where: { $0.plant == plant })
      else { continue }
      report(
        \.waterings, index, \.plant,
        "expected one link of plant \(plant), got two: \(report.location(\.waterings, first, \.plant)) has it")
    }
  }

  /// Reports two limits of which the lower one is not lower.
  private static func order(
    _ lower: KeyPath<Wiring, Double?>, _ upper: KeyPath<Wiring, Double?>, _ wiring: Wiring,
    _ report: Contradictions<Plants>
  ) {
    guard let least = wiring[keyPath: lower], let most = wiring[keyPath: upper], least >= most else { return }
    report(
      upper, "expected more than \(report.setting(lower, least)), got \(most)", or: lower,
      "expected less than \(report.setting(upper, most)), got \(least)")
  }

  public static func check(
    _ wiring: Wiring, _ rules: Rules, among others: Set<String>, _ report: Contradictions<Plants>
  ) {
    if wiring.pictureHour != nil, !others.contains("video") {
      report.alone(\.pictureHour, "expected a section video, whose camera takes the pictures, got none")
    }
    if others.contains("sprinkler") { return }
    for (index, watering) in wiring.waterings.enumerated() where !watering.isNothing {
      report(\.waterings, index, "expected a section sprinkler, whose zone can be asked, got none")
    }
  }

  // MARK: settings of the desk

  static func host(_ wiring: Wiring, _ rules: Rules) -> PlantHostSettings {
    var settings = PlantHostSettings()
    settings.staleAfter = .seconds(Int64(wiring.staleAfterSeconds))
    guard wiring.hasApp else { return settings }
    settings.hostName = wiring.hostName
    settings.legacyQuiet = rules.isQuiet
    settings.spamLimit = rules.spamLimit == 0 ? nil : rules.spamLimit
    settings.spamWindow = .seconds(Int64(rules.spamWindowSeconds))
    return settings
  }

  /// Returns the settings of the link of each plant that is linked to a zone.
  static func links(_ wiring: Wiring, _ rules: Rules) -> [PlantID: PlantWateringSettings] {
    let links = zip(wiring.waterings, rules.waterings).compactMap { watering, rules in
      watering.plant.map { plant in
        do {
          return (
            PlantID(UInt64(clamping: plant)),
            try PlantWateringSettings(
              zone: watering.zone!, seconds: rules.seconds, maximumPerDay: rules.perDay,
              minimumGapSeconds: Int64(rules.gapMinutes) * 60)
          )
        } catch {
          preconditionFailure("the configuration let through what the link refuses: \(error)")
        }
      }
    }
    return Dictionary(uniqueKeysWithValues: links)
  }

  static func deskParts(_ wiring: Wiring, _ rules: Rules) -> PlantDesk.Parts {
    PlantDesk.Parts(
      sensors: wiring.sensors.map(\.monitored), host: host(wiring, rules), rules: wiring.bookRules,
      detector: wiring.riseDetector, tiers: wiring.tiers, links: links(wiring, rules))
  }
}
