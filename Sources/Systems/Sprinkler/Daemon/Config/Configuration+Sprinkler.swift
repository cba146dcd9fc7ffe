import Buses
import Sprinkler
import Tactus
import TactusDaemon

extension Configuration {
  /// The sprinkler controller: its lines, its rules, and its zones, which the store has, too.
  struct Sprinkler: FileSettings, Equatable {
    var backend = Backend.gpio
    /// It is `nil` if a line's chip is whichever has a line of its name.
    var chip: String?
    var relayBoard = RelayBoard.activeHigh
    var activeLowPins: [Int] = []
    /// `nil` means those of the zones.
    var givenPins: [Int]?
    var deniedPins = [2, 3, 14, 15]
    /// It is `nil` for what the groups allow together.
    var givenMaximumOpen: Int?
    var stationDelaySeconds = 0
    /// It is `nil` for the machine's.
    var timeZone: String?
    /// Degrees, north and east positive.
    var latitude, longitude: Double?
    var catchUpMinutes = 5
    var afterPowerCut = AfterPowerCut.resume
    var manualInRain = ManualInRain.warn
    var runningInRain = RunningInRain.stop
    var rainDelayHours = 24
    var seasonalPercent = 100
    var hasLegacyRoutes = false
    var logDays = 1095
    /// `nil` if there is no master valve.
    var masterPin: Int?
    var masterLeadSeconds = 0
    var masterLagSeconds = 0
    /// `nil` if there is no sensor.
    var flowPin: Int?
    /// Meaningless without the pin.
    var sensor = FlowSensor()
    var provider = Provider.off
    /// Meaningless without a provider.
    var forecast = Weather()
    // Of `runtime.sprinkler`.
    var scheduling = Scheduling.normal
    var safeStateAfter = 0
    var cpus: CPUSet?
    /// By group, from group 1.
    var maximumOpenOfGroups: [Int] = []
    /// The first content of an empty store; what is changed afterwards is taken at the next start.
    var zones: [Zone] = []
  }
}

extension Configuration.Sprinkler {
  enum Backend: String, Word {
    case gpio
    case sim
  }

  enum RelayBoard: String, Word {
    case activeHigh = "active-high"
    case activeLow = "active-low"
  }

  enum AfterPowerCut: String, Word {
    case resume
    case close
  }

  enum ManualInRain: String, Word {
    case allow
    case warn
    case deny
  }

  enum RunningInRain: String, Word {
    case stop
    case finish
  }

  enum Pull: String, Word {
    case asIs = "as-is"
    case up
    case down
    case none

    var ofLine: GPIOInput.Pull {
      switch self {
      case .asIs: .asIs
      case .up: .up
      case .down: .down
      case .none: .none
      }
    }
  }

  enum Alarm: String, Word {
    case stop
    case notice
  }

  enum Provider: String, Word {
    case off
    case openMeteo = "open-meteo"
  }

  struct Master: Equatable {
    var pin: Int
    var leadSeconds: Int
    var lagSeconds: Int
  }

  struct FlowSensor: Equatable {
    var pulsesPerLitre = 450.0
    var pull = Pull.up
    /// Litres per minute, or `nil` if it is not watched.
    var noFlow, highFlow, leak: Double?
    var settleSeconds = 30
    var onAlarm = Alarm.stop
  }

  struct Location: Equatable {
    /// Degrees, north and east positive.
    var latitude: Double
    var longitude: Double
  }

  struct Weather: Equatable {
    var url = "https://api.open-meteo.com"
    var thresholdMillimetres = 5.0
    var days = 1
    var delayHours = 24
    var pollMinutes = 180
  }

  /// An item of `sprinkler.groups`.
  struct Group: Settings {
    var maximumOpen = 1

    @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
      Key(
        "max_open", \.maximumOpen, in: 1...64,
        "Valves open at a time in this group. Groups are numbered from 1 in this order.")
    }
  }

  /// An item of `sprinkler.zones`.
  struct ZoneItem: Settings {
    var name: String?
    var pin: Int?
    var isEnabled = true
    var givenDefaultMinutes: Double?
    var maximumMinutes = 120.0
    var maximumMinutesPerDay: Double?
    var group: Int?
    var ignoresRain = false
    var usesMaster = true

    @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
      Key("name", \.name, "What people call it, 1…40 characters. Unless given: Zone 1, Zone 2 and so on.")
      Key(
        "pin", \.pin, in: 0...1023,
        "Its valve's pin. Unless given: by its place 12, 16, 20, 21, 26, 19, 13, 6, 5, 11, 9, 10, 22, 27, 17, 4.")
      Key("enabled", \.isEnabled, "A disabled zone never runs.")
      Key(
        "default_minutes", \.givenDefaultMinutes, in: 0.1...1440,
        "Minutes of a run that nobody gave a length. Unless given: 10, or max_minutes where that is less.")
      Key("max_minutes", \.maximumMinutes, in: 0.1...1440, "No run is longer, in minutes.")
      Key(
        "max_minutes_per_day", \.maximumMinutesPerDay, in: 0.1...1440,
        "Most minutes in one local day, all runs together. Unless given there is no limit.")
      Key(
        "group", \.group, in: 1...15,
        "Its group's number. Unless given: none; such zones run one at a time, or sprinkler.max_open where there are no groups."
      )
      Key("ignores_rain", \.ignoresRain, "Schedules water it during a rain delay, too.")
      Key("uses_master", \.usesMaster, "The master valve is open while this zone is.")
    }

    var defaultMinutes: Double { givenDefaultMinutes ?? min(10, maximumMinutes) }
  }
}

// MARK: keys

extension Configuration.Sprinkler {
  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    ofLines
    ofWatering
    ofSensors
    ofWeather
  }

  @DeclarationBuilder<Key<Self>> private static var ofLines: [Key<Self>] {
    Key(
      "sprinkler.backend", \.backend,
      "What opens the valves: gpio (the kernel's GPIO character device), or sim (no hardware).")
    Key(
      "sprinkler.chip", \.chip,
      "The GPIO chip that pins are offsets of: gpiochip0, /dev/gpiochip0 or a label. Unless given: pin 17 is the line "
        + "named GPIO17, on whatever chip that is, as on every Raspberry Pi.")
    Key(
      "sprinkler.relay_board", \.relayBoard,
      "The level that opens a valve. Most relay boards are active-low: they pull in when their input is grounded.")
    Key(
      "sprinkler.active_low_pins", \.activeLowPins, as: .integerList(0...1023, most: 64),
      "Pins that are active-low on an active-high board.")
    Key(
      "sprinkler.pins", \.givenPins, as: .integerList(0...1023, most: 64),
      "The pins that zones may use, all requested and off at the start and held as long as the program runs. Unless "
        + "given: those of sprinkler.zones.")
    Key(
      "sprinkler.denied_pins", \.deniedPins, as: .integerList(0...1023, most: 64),
      "Pins that are never used: I2C and the serial console on a Raspberry Pi.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofWatering: [Key<Self>] {
    Key(
      "sprinkler.max_open", \.givenMaximumOpen, in: 1...64,
      "Valves open at a time in all. Unless given: 1, or with sprinkler.groups as many as they allow together.")
    Key(
      "sprinkler.station_delay_s", \.stationDelaySeconds, in: 0...3600,
      "Seconds between the end of one run and the next in its group.")
    Key("sprinkler.time_zone", \.timeZone, "IANA time zone of schedules: Europe/Berlin. Unless given: this machine's.")
    Key(
      "sprinkler.latitude", \.latitude, in: -90...90,
      "Degrees, north positive, for sunrise, sunset and the weather. Unless given there is none of them.")
    Key("sprinkler.longitude", \.longitude, in: -180...180, "Degrees, east positive.")
    Key(
      "sprinkler.catch_up_minutes", \.catchUpMinutes, in: 0...1440,
      "A start that was missed (the program did not run, the machine slept) is made up for so many minutes."
    ).reloadable
    Key(
      "sprinkler.after_power_cut", \.afterPowerCut,
      "Runs that a power cut interrupted, which is another boot of the machine: resume (what is left of them runs) or close (they are logged as ended). After a crash or a restart of the daemon nothing is resumed."
    ).reloadable
    Key(
      "sprinkler.manual_in_rain", \.manualInRain,
      "A zone that is turned on by hand during a rain delay: allow, warn (it runs, the answer says so) or deny (423)."
    ).reloadable
    Key(
      "sprinkler.running_in_rain", \.runningInRain,
      "What is running by schedule when a rain delay begins: stop or finish."
    ).reloadable
    Key("sprinkler.rain_delay_hours", \.rainDelayHours, in: 1...336, "Length of a rain delay that nobody gave one.")
      .reloadable
    Key(
      "sprinkler.seasonal_percent", \.seasonalPercent, in: 0...250,
      "Of every duration that follows the season. The API sets it, too; what is changed here is taken at the next start."
    )
    Key(
      "sprinkler.legacy_routes", \.hasLegacyRoutes,
      "Serve the original phone app, unmodified: the routes of its Python backend, those that it calls besides, and in /api/status what it "
        + "reads there.")
    Key("sprinkler.log_days", \.logDays, in: 1...36_500, "Days that the watering log goes back.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofSensors: [Key<Self>] {
    Key("sprinkler.master.pin", \.masterPin, in: 0...1023, "The master valve's pin. Unless given there is none.")
    Key(
      "sprinkler.master.lead_s", \.masterLeadSeconds, in: -600...600,
      "Seconds that the master valve opens before a zone; negative: after it.")
    Key(
      "sprinkler.master.lag_s", \.masterLagSeconds, in: -600...600,
      "Seconds that the master valve closes after a zone; negative: before it.")
    Key("sprinkler.flow.pin", \.flowPin, in: 0...1023, "The flow sensor's pin. Unless given there is none.")
    Key(
      "sprinkler.flow.pulses_per_litre", \.sensor.pulsesPerLitre, in: 0.01...100_000,
      "Pulses of the sensor for one litre. Only a start takes another number: the water of a run that is open is counted in pulses."
    )
    Key(
      "sprinkler.flow.pull", \.sensor.pull, "The chip's own resistor at the sensor's pin; as-is: as it was set at boot."
    )
    Key(
      "sprinkler.flow.no_flow_l_per_min", \.sensor.noFlow, in: 0.001...10_000,
      "Less than so many litres a minute while a valve is open is an alarm. Unless given: not watched."
    ).reloadable
    Key(
      "sprinkler.flow.high_flow_l_per_min", \.sensor.highFlow, in: 0.001...10_000,
      "More than so many litres a minute while a valve is open is an alarm: a burst pipe. Unless given: not watched."
    ).reloadable
    Key(
      "sprinkler.flow.leak_l_per_min", \.sensor.leak, in: 0.001...10_000,
      "More than so many litres a minute while all is closed is an alarm. Unless given: not watched."
    ).reloadable
    Key(
      "sprinkler.flow.settle_s", \.sensor.settleSeconds, in: 1...3600,
      "Seconds over which flow is measured, and after which it has settled."
    ).reloadable
    Key(
      "sprinkler.flow.on_alarm", \.sensor.onAlarm,
      "What an alarm does: stop (every valve closes, in fault until a reset) or notice (it is logged and shown)."
    ).reloadable
  }

  @DeclarationBuilder<Key<Self>> private static var ofWeather: [Key<Self>] {
    Key(
      "sprinkler.weather.provider", \.provider,
      "Asked for the rain to come, which begins a rain delay: off, or open-meteo (that service, or another with its "
        + "answers).")
    Key(
      "sprinkler.weather.url", \.forecast.url,
      "The provider's address. A build without TLS needs one that begins with http://.")
    Key(
      "sprinkler.weather.threshold_mm", \.forecast.thresholdMillimetres, in: 0.1...500,
      "Millimetres of rain, today and the days after it together, from which on watering is suspended."
    ).reloadable
    Key("sprinkler.weather.days", \.forecast.days, in: 1...7, "Days that are added up, today first.").reloadable
    Key("sprinkler.weather.delay_hours", \.forecast.delayHours, in: 1...336, "Length of the rain delay that follows.")
      .reloadable
    Key("sprinkler.weather.poll_minutes", \.forecast.pollMinutes, in: 15...1440, "Minutes from question to question.")
      .reloadable
  }

  static let lane = LaneKeys(
    "runtime.sprinkler", "the valves' lane", priority: 60,
    safeStateAfter: (30, "every valve is closed, in fault until a reset"))

  static let table: [ConfigKey] =
    keys.asTable() + Group.table(of: "sprinkler.groups[]") + ZoneItem.table(of: "sprinkler.zones[]")
    + lane.table

  /// The original Python backend's, in its zones' order.
  static let originalPins = [12, 16, 20, 21, 26, 19, 13, 6, 5, 11, 9, 10, 22, 27, 17, 4]

  /// It is `nil` if the file has no section `sprinkler`.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("sprinkler") else { return nil }
    let given = GivenValues(values: found.values)
    self.init(given)
    let lane = Self.lane.values(given)
    (scheduling, safeStateAfter, cpus) = (lane.scheduling, lane.safeStateAfter, lane.cpus)
    maximumOpenOfGroups = (0..<(found.counts["sprinkler.groups"] ?? 0)).map {
      Group(given, section: "sprinkler.groups[\($0)]").maximumOpen
    }
    zones = (0..<(found.counts["sprinkler.zones"] ?? Self.originalPins.count)).map {
      Zone(ZoneItem(given, section: "sprinkler.zones[\($0)]"), index: $0)
    }
  }
}

extension Zone {
  /// A zone that gets no pin by its place has −1, which `errors` refuses.
  fileprivate init(_ item: Configuration.Sprinkler.ZoneItem, index: Int) {
    let original = Configuration.Sprinkler.originalPins
    func seconds(_ minutes: Double) -> Int { Int(saturating: (minutes * 60).rounded()) }
    self.init(
      id: ZoneID(index: index), name: item.name ?? "Zone \(index + 1)",
      gpioPin: item.pin ?? (index < original.count ? original[index] : -1), isEnabled: item.isEnabled,
      defaultSeconds: seconds(item.defaultMinutes), maximumSeconds: seconds(item.maximumMinutes),
      maximumSecondsPerDay: item.maximumMinutesPerDay.map(seconds), group: item.group, ignoresRain: item.ignoresRain,
      usesMaster: item.usesMaster)
  }
}

// MARK: what there is only with another key

extension Configuration.Sprinkler {
  /// The file says which, rather than the zones.
  var givesPins: Bool { givenPins != nil }
  /// Of zones, in their order; the master valve's is not among them.
  var pins: [Int] { givenPins ?? zones.map(\.gpioPin) }
  /// The place of a zone's pin in the file.
  var zonePinKeys: [String] { zones.indices.map { "sprinkler.zones[\($0)].pin" } }

  var master: Master? {
    masterPin.map { Master(pin: $0, leadSeconds: masterLeadSeconds, lagSeconds: masterLagSeconds) }
  }
  /// `nil` if no provider is asked.
  var weather: Weather? { provider == .off ? nil : forecast }

  var location: Location? {
    latitude.flatMap { latitude in longitude.map { Location(latitude: latitude, longitude: $0) } }
  }
  var stopsInRain: Bool { runningInRain == .stop }
}

// MARK: the lines

extension Configuration.Sprinkler {
  /// What the daemon requests: the zones' lines in the order of `pins`, the master valve's last.
  var lines: [GPIOLine] { (pins + (master.map { [$0.pin] } ?? [])).map(line) }

  private func line(_ pin: Int) -> GPIOLine { GPIOLine(name(pin), isActiveLow: isActiveLow(pin)) }

  func isActiveLow(_ pin: Int) -> Bool { relayBoard == .activeLow || activeLowPins.contains(pin) }

  func name(_ pin: Int) -> GPIOLineName { chip.map { GPIOLineName(.offset(pin, chip: $0)) } ?? .bcm(pin) }
}
