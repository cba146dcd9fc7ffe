import Buses
import Sprinkler
import TactusDaemon
import Wire

/// The configuration keys that a reload cannot change: the lines, the first contents of the store, and the weather provider.
public struct SprinklerWiring: Settings, Equatable {
  var backend = Backend.gpio
  /// The GPIO chip, or `nil` to look for each line by name on all chips.
  var chip: String?
  var relayBoard = RelayBoard.activeHigh
  var activeLowPins: [Int] = []
  /// The pins that zones may use, or `nil` for the pins of the configured zones.
  var givenPins: [Int]?
  var deniedPins = [2, 3, 14, 15]
  /// The I2C bus of the expanders.
  var i2cBus = 1
  /// The expanders, which add lines to those of the header.
  var expanders: [Expander] = []
  /// The greatest number of valves open at the same time, or `nil` if it is the number that the groups allow together.
  var givenMaximumOpen: Int?
  var stationDelaySeconds = 0
  /// The IANA time zone of the schedules, or `nil` for that of the computer.
  var timeZone: String?
  /// The place in degrees, north and east positive, or `nil` if it is not configured.
  var latitude, longitude: Double?
  var seasonalPercent = 100
  var hasLegacyRoutes = false
  var logDays = 1095
  /// The master valve's pin, or `nil` if there is no master valve.
  var masterPin: Int?
  var masterLeadSeconds = 0
  var masterLagSeconds = 0
  /// The flow sensor's pin, or `nil` if there is no sensor.
  var flowPin: Int?
  var pulsesPerLitre = 450.0
  var pull = Pull.up
  /// The rain sensor's pin, or `nil` if there is no sensor.
  var rainPin: Int?
  var wetWhen = Contact.closed
  var rainPull = Pull.up
  var provider = Provider.off
  /// The address of the weather provider; has no effect if there is none.
  var weatherURL = "https://api.open-meteo.com"
  /// The rules of the soil, in the order of the file.
  var soilItems: [SoilItem] = []
  /// The groups of zones, from group 1 on.
  var groups: [Group] = []
  /// The zones, which become the first contents of an empty store. Later changes of the file apply at the next start.
  var zoneItems = [ZoneItem](repeating: ZoneItem(), count: originalPins.count)

  public init() {}

  @DeclarationBuilder<Key<Self>> public static var keys: [Key<Self>] {
    ofLines
    ofWatering
    ofSensors
    ofRain
    ofWeather
    Key(
      "sprinkler.expanders", \.expanders, upTo: 16,
      "Chips with more lines than the header has; their lines are pins, to be given to zones and the master valve.")
    Key(
      "sprinkler.soil", \.soilItems, upTo: 64,
      "Rules by which wet soil keeps schedules from watering, each with a plant (which needs the section plants), a topic (which needs the section mqtt) or a pin."
    )
    Key("sprinkler.groups", \.groups, upTo: 15, "Groups of zones, numbered from 1 in this order.")
    Key("sprinkler.zones", \.zoneItems, upTo: 64, "The zones, in their order.")
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
    Key("sprinkler.i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N, for expanders on I2C.")
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
      "sprinkler.flow.pulses_per_litre", \.pulsesPerLitre, in: 0.01...100_000,
      "Pulses of the sensor for one litre. Only a start takes another number: the water of a run that is open is counted in pulses."
    )
    Key(
      "sprinkler.flow.pull", \.pull, "The chip's own resistor at the sensor's pin; as-is: as it was set at boot."
    )
  }

  @DeclarationBuilder<Key<Self>> private static var ofRain: [Key<Self>] {
    Key(
      "sprinkler.rain_sensor.pin", \.rainPin, in: 0...1023,
      "The rain sensor's pin, a GPIO line. While the sensor is wet there is a rain delay. Unless given there is none.")
    Key(
      "sprinkler.rain_sensor.wet_when", \.wetWhen,
      "The sensor's contact while it is wet: closed, or open (then a broken wire is wet, too).")
    Key(
      "sprinkler.rain_sensor.pull", \.rainPull,
      "The chip's own resistor at the sensor's pin. A closed contact is a low level, with down a high one.")
  }

  @DeclarationBuilder<Key<Self>> private static var ofWeather: [Key<Self>] {
    Key(
      "sprinkler.weather.provider", \.provider,
      "Asked for the rain to come, which begins a rain delay: off, or open-meteo (that service, or another with its "
        + "answers).")
    Key(
      "sprinkler.weather.url", \.weatherURL,
      "The provider's address. A build without TLS needs one that begins with http://.")
  }

  /// The pins of the original Python backend, in the order of its zones.
  static let originalPins = [12, 16, 20, 21, 26, 19, 13, 6, 5, 11, 9, 10, 22, 27, 17, 4]
}

extension SprinklerWiring {
  enum Backend: String, Word {
    case gpio
    case sim
  }

  enum RelayBoard: String, Word {
    case activeHigh = "active-high"
    case activeLow = "active-low"
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

  enum Contact: String, Word {
    case closed
    case open
  }

  enum Provider: String, Word {
    case off
    case openMeteo = "open-meteo"
  }

  /// An item of `sprinkler.groups`.
  struct Group: Settings, Equatable {
    var maximumOpen = 1

    @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
      Key(
        "max_open", \.maximumOpen, in: 1...64,
        "Valves open at a time in this group. Groups are numbered from 1 in this order.")
    }
  }

  /// An item of `sprinkler.zones`.
  struct ZoneItem: Settings, Equatable {
    var name: String?
    var pin: Int?
    var isEnabled = true
    var givenDefaultMinutes: Double?
    var maximumMinutes = 120.0
    var maximumMinutesPerDay: Double?
    var group: Int?
    var ignoresRain = false
    var usesMaster = true
    /// The rate of the zone's sprinklers, or `nil` if its deficit is not reckoned.
    var millimetresPerHour: Double?
    var cropFactor = 0.8
    var greatestDeficit = 25.0
    var leastDeficit = 5.0
    /// The limits of the zone's flow in litres per minute; `nil` for a limit that is not watched.
    var leastFlow, greatestFlow: Double?
    var learnsFlow = false

    @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
      Key("name", \.name, "What people call it, 1…40 characters. Unless given: Zone 1, Zone 2 and so on.").checked {
        $0.name.flatMap { GivenName.flaw(in: $0, 1...40) }.map { "expected \(GivenName.rule(1...40)), got \($0)" }
      }
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
      Key(
        "mm_per_hour", \.millimetresPerHour, in: 0.1...500,
        "Rate of its sprinklers, for its deficit of water, which needs sprinkler.weather. Unless given none is reckoned."
      )
      Key(
        "crop_factor", \.cropFactor, in: 0.05...2,
        "What its plants use of the reference evapotranspiration: 0.8 for a lawn.")
      Key(
        "max_deficit_mm", \.greatestDeficit, in: 1...200,
        "The deficit grows no further: what the soil holds for the plants.")
      Key(
        "min_deficit_mm", \.leastDeficit, in: 0.1...200, "Schedules that go by the deficit water it from so much on.")
      Key(
        "min_l_per_min", \.leastFlow, in: 0.001...10_000,
        "Less than so many litres a minute while it is open alone is an alarm. Unless given: not watched.")
      Key(
        "max_l_per_min", \.greatestFlow, in: 0.001...10_000,
        "More than so many litres a minute while it is open alone is an alarm. Unless given: not watched.")
      Key(
        "learn_flow", \.learnsFlow,
        "Learn its usual flow from its first runs; limits are then sprinkler.flow.learnt_percent around it, and those above hold, too."
      )
    }

    /// The rule of the zone's deficit, or `nil` if none is reckoned.
    var deficit: DeficitRule? {
      millimetresPerHour.map {
        DeficitRule(
          millimetresPerHour: $0, cropFactor: cropFactor, greatestMillimetres: greatestDeficit,
          leastMillimetres: leastDeficit)
      }
    }

    /// The rule of the zone's flow, or `nil` if it has no limits of its own.
    var flow: ZoneFlowRule? {
      guard leastFlow != nil || greatestFlow != nil || learnsFlow else { return nil }
      return ZoneFlowRule(minimum: leastFlow, maximum: greatestFlow, isLearnt: learnsFlow)
    }

    var defaultMinutes: Double { givenDefaultMinutes ?? min(10, maximumMinutes) }
  }
}
