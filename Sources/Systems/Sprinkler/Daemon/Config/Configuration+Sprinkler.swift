import Buses
import Sprinkler
import Tactus
import TactusDaemon

extension Configuration {
  /// The sprinkler controller: its lines, its rules, the first content of its store.
  struct Sprinkler: Equatable, Sendable {
    enum Backend: String, Equatable {
      case gpio
      case sim
    }
    enum ManualInRain: String, Equatable {
      case allow
      case warn
      case deny
    }
    struct Master: Equatable {
      var pin: Int
      var leadSeconds: Int
      var lagSeconds: Int
    }
    struct Flow: Equatable {
      var pin: Int
      var pull: GPIOInput.Pull
      var pulsesPerLitre: Double
      /// Litres per minute; nil: not watched.
      var noFlow, highFlow, leak: Double?
      var settleSeconds: Int
      var stopsOnAlarm: Bool
    }
    struct Location: Equatable {
      /// Degrees, north and east positive.
      var latitude: Double
      var longitude: Double
    }
    struct Weather: Equatable {
      var url: String
      var thresholdMillimetres: Double
      var days: Int
      var delayHours: Int
      var pollMinutes: Int
    }

    var backend: Backend
    /// nil: a line's chip is whichever has a line of its name.
    var chip: String?
    var isActiveLow: Bool
    var activeLowPins: [Int]
    var deniedPins: [Int]
    /// The file says which, rather than the zones.
    var givesPins: Bool
    /// Of zones, in their order; the master valve's is not among them.
    var pins: [Int]
    /// nil: what the groups allow together.
    var givenMaximumOpen: Int?
    /// By group, from group 1.
    var maximumOpenOfGroups: [Int]
    var stationDelaySeconds: Int
    /// nil: the machine's.
    var timeZone: String?
    var location: Location?
    var catchUpMinutes: Int
    var resumesAfterPowerCut: Bool
    var manualInRain: ManualInRain
    var stopsInRain: Bool
    var rainDelayHours: Int
    var seasonalPercent: Int
    var hasLegacyRoutes: Bool
    var logDays: Int
    var master: Master?
    /// nil: no sensor.
    var flow: Flow?
    /// nil: off.
    var weather: Weather?
    /// The first content of an empty store.
    var zones: [Zone]
    /// The place of each zone's pin in the file.
    var zonePinKeys: [String]
    var scheduling: Scheduling
    var safeStateAfter: Int
    var cpus: CPUSet?
    /// What of the location the file gives; both or none.
    var givenDegrees: Int
  }
}

extension Configuration.Sprinkler {
  /// The original Python backend's, in its zones' order.
  static let originalPins = [12, 16, 20, 21, 26, 19, 13, 6, 5, 11, 9, 10, 22, 27, 17, 4]

  /// nil: the file has no section `sprinkler`.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("sprinkler") else { return nil }
    let given = GivenValues(values: found.values)
    let count = found.counts["sprinkler.zones"] ?? Self.originalPins.count
    let zones = (0..<count).map { Zone(given, index: $0) }
    let latitude = given.optionalNumber("sprinkler.latitude")
    let longitude = given.optionalNumber("sprinkler.longitude")
    let master = given.optionalInteger("sprinkler.master.pin")
    self.init(
      // The table lists exactly the raw values.
      backend: Backend(rawValue: given.text("sprinkler.backend"))!,
      chip: given.optionalText("sprinkler.chip"),
      isActiveLow: given.text("sprinkler.relay_board") == "active-low",
      activeLowPins: given.optionalIntegers("sprinkler.active_low_pins") ?? [],
      deniedPins: given.optionalIntegers("sprinkler.denied_pins") ?? [],
      givesPins: found.values["sprinkler.pins"] != nil,
      pins: given.optionalIntegers("sprinkler.pins") ?? zones.map(\.gpioPin),
      givenMaximumOpen: given.optionalInteger("sprinkler.max_open"),
      maximumOpenOfGroups: (0..<(found.counts["sprinkler.groups"] ?? 0)).map {
        given.integer("sprinkler.groups[\($0)].max_open")
      },
      stationDelaySeconds: given.integer("sprinkler.station_delay_s"),
      timeZone: given.optionalText("sprinkler.time_zone"),
      location: latitude.flatMap { latitude in longitude.map { Location(latitude: latitude, longitude: $0) } },
      catchUpMinutes: given.integer("sprinkler.catch_up_minutes"),
      resumesAfterPowerCut: given.text("sprinkler.after_power_cut") == "resume",
      manualInRain: ManualInRain(rawValue: given.text("sprinkler.manual_in_rain"))!,
      stopsInRain: given.text("sprinkler.running_in_rain") == "stop",
      rainDelayHours: given.integer("sprinkler.rain_delay_hours"),
      seasonalPercent: given.integer("sprinkler.seasonal_percent"),
      hasLegacyRoutes: given.boolean("sprinkler.legacy_routes"),
      logDays: given.integer("sprinkler.log_days"),
      master: master.map {
        Master(
          pin: $0, leadSeconds: given.integer("sprinkler.master.lead_s"),
          lagSeconds: given.integer("sprinkler.master.lag_s"))
      },
      flow: Flow(given),
      weather: Weather(given),
      zones: zones,
      zonePinKeys: (0..<count).map { "sprinkler.zones[\($0)].pin" },
      scheduling: .init(given, "runtime.sprinkler"),
      safeStateAfter: given.integer("runtime.sprinkler.safe_state_after"),
      cpus: given.optionalCPUs("runtime.sprinkler.cpu"),
      givenDegrees: (latitude == nil ? 0 : 1) + (longitude == nil ? 0 : 1))
  }
}

extension Configuration.Sprinkler.Flow {
  fileprivate init?(_ given: GivenValues) {
    guard let pin = given.optionalInteger("sprinkler.flow.pin") else { return nil }
    let pulls: [String: GPIOInput.Pull] = ["as-is": .asIs, "up": .up, "down": .down, "none": .none]
    self.init(
      // The table lists exactly these words.
      pin: pin, pull: pulls[given.text("sprinkler.flow.pull")]!,
      pulsesPerLitre: given.number("sprinkler.flow.pulses_per_litre"),
      noFlow: given.optionalNumber("sprinkler.flow.no_flow_l_per_min"),
      highFlow: given.optionalNumber("sprinkler.flow.high_flow_l_per_min"),
      leak: given.optionalNumber("sprinkler.flow.leak_l_per_min"),
      settleSeconds: given.integer("sprinkler.flow.settle_s"),
      stopsOnAlarm: given.text("sprinkler.flow.on_alarm") == "stop")
  }
}

extension Configuration.Sprinkler.Weather {
  fileprivate init?(_ given: GivenValues) {
    guard given.text("sprinkler.weather.provider") == "open-meteo" else { return nil }
    self.init(
      url: given.text("sprinkler.weather.url"),
      thresholdMillimetres: given.number("sprinkler.weather.threshold_mm"),
      days: given.integer("sprinkler.weather.days"),
      delayHours: given.integer("sprinkler.weather.delay_hours"),
      pollMinutes: given.integer("sprinkler.weather.poll_minutes"))
  }
}

extension Zone {
  /// A zone that gets no pin by its place has −1, which `errors` refuses.
  fileprivate init(_ given: GivenValues, index: Int) {
    let path = "sprinkler.zones[\(index)]"
    let original = Configuration.Sprinkler.originalPins
    func seconds(_ key: String) -> Int? {
      given.optionalNumber("\(path).\(key)").map { Int(($0 * 60).rounded()) }
    }
    self.init(
      id: ZoneID(index: index), name: given.optionalText("\(path).name") ?? "Zone \(index + 1)",
      gpioPin: given.optionalInteger("\(path).pin") ?? (index < original.count ? original[index] : -1),
      isEnabled: given.boolean("\(path).enabled"), defaultSeconds: seconds("default_minutes") ?? 600,
      maximumSeconds: seconds("max_minutes") ?? 7200, maximumSecondsPerDay: seconds("max_minutes_per_day"),
      group: given.optionalInteger("\(path).group"), ignoresRain: given.boolean("\(path).ignores_rain"),
      usesMaster: given.boolean("\(path).uses_master"))
  }
}

// MARK: the lines

extension Configuration.Sprinkler {
  /// What the daemon requests: the zones' lines in the order of `pins`, the master valve's last.
  var lines: [GPIOLine] { (pins + (master.map { [$0.pin] } ?? [])).map(line) }

  private func line(_ pin: Int) -> GPIOLine { GPIOLine(name(pin), isActiveLow: isActiveLow(pin)) }

  func isActiveLow(_ pin: Int) -> Bool { isActiveLow || activeLowPins.contains(pin) }

  func name(_ pin: Int) -> GPIOLineName { chip.map { GPIOLineName(.offset(pin, chip: $0)) } ?? .bcm(pin) }
}
