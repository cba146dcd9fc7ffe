@_spi(FromOutside) import Conversions
import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Yams

extension SprinklerScenario {
  static var keys: [ScenarioWord<Setup>] {
    let setup = ScenarioValue<Setup> { reader, node, path in
      var own = SprinklerSetupReader(reader: reader)
      defer { reader = own.reader }
      return try own.setup(node)
    }
    let many = ScenarioValue<Int>.integer(0...10_000)
    let chance = ScenarioValue.keys(
      of: Chance(),
      [
        ScenarioWord("rain_delays", many) { $0.rainDelays = $1 },
        ScenarioWord("power_cuts", many) { $0.powerCuts = $1 },
        ScenarioWord("clock_steps", many) { $0.clockSteps = $1 },
        ScenarioWord("runs_by_hand", many) { $0.runsByHand = $1 },
      ])
    return [
      ScenarioWord("sprinkler", setup) { old, new in
        let chance = old.chance
        old = new
        old.chance = chance
      },
      ScenarioWord("random", chance) { $0.chance = $1 },
    ]
  }
}

/// Reads the `sprinkler:` part of a scenario file. Settings that depend on each other are built together, and the
/// scheduler itself is asked whether zones and programs fit.
private struct SprinklerSetupReader {
  private static let keys = [
    "time_zone", "latitude", "longitude", "from", "days", "catch_up_s", "longest_outage_s", "rain_ends_open_runs",
    "manual_in_rain", "after_power_cut", "maximum_open", "groups", "station_delay_s", "master_lead_s", "master_lag_s",
    "seasonal_percent", "monthly_percent", "rain_sensor_delay_minutes", "rain_sensor_dry_hours", "soil", "deficits",
    "zones", "programs",
  ]
  var reader: FieldReader

  mutating func setup(_ node: Node) throws -> SprinklerScenario.Setup? {
    guard let fields = reader.fields(node, "sprinkler", known: Self.keys),
      let (settings, irrigation) = try settings(fields), let from = try value("from", .date, fields)
    else { return nil }
    var setup = SprinklerScenario.Setup(
      from: from, days: try value("days", .integer(1...3_700), or: 365, fields), settings: settings,
      irrigation: irrigation)
    try readGarden(fields, into: &setup)
    return setup
  }

  /// Reads a key that must be given.
  private mutating func value<Value>(
    _ name: String, _ form: ScenarioValue<Value>, _ fields: FieldReader.Fields
  ) throws -> Value? {
    try reader.value(ScenarioCompany(name, form), fields, "sprinkler")
  }

  /// Reads a key that has a standard value, which is also the result if the key's value is invalid.
  private mutating func value<Value>(
    _ name: String, _ form: ScenarioValue<Value>, or standard: Value, _ fields: FieldReader.Fields
  ) throws -> Value {
    try reader.value(ScenarioCompany(name, form, or: standard), fields, "sprinkler") ?? standard
  }

  // MARK: the installation

  private mutating func settings(_ fields: FieldReader.Fields) throws -> (SchedulerSettings, IrrigationSettings)? {
    guard let zone = try value("time_zone", .timeZone, fields) else { return nil }
    let hasMaster = fields.nodes["master_lead_s"] != nil || fields.nodes["master_lag_s"] != nil
    var settings = SchedulerSettings(
      zone: zone, pins: Array(1...ZoneID.maximum), masterPin: hasMaster ? ZoneID.maximum : nil,
      place: try place(fields), catchUpSeconds: try value("catch_up_s", .integer(0...86_400), or: 300, fields),
      rainEndsOpenRuns: try value("rain_ends_open_runs", .boolean, or: true, fields),
      manualInRain: try value("manual_in_rain", .word, or: .warn, fields),
      afterPowerCut: try value("after_power_cut", .word, or: .resume, fields),
      longestOutageSeconds: try value("longest_outage_s", .integer(0...604_800), or: 7_200, fields))
    settings.rainSensor = RainSensorRule(
      delaySeconds: try value("rain_sensor_delay_minutes", .minutes, or: 0, fields),
      drySeconds: 3_600 * (try value("rain_sensor_dry_hours", .integer(0...336), or: 0, fields)))
    for (place, node) in reader.items(fields.nodes["soil"], "sprinkler.soil").enumerated() {
      var rule = MoistureRule(probe: .plant(0), wetPercent: 60, effect: .skip)
      _ = try reader.read(ScenarioWord<MoistureRule>.keys, node, "sprinkler.soil[\(place)]", into: &rule)
      settings.moisture.append(rule)
    }
    for (place, node) in reader.items(fields.nodes["deficits"], "sprinkler.deficits").enumerated() {
      var rule = DeficitRule(millimetresPerHour: 10)
      _ = try reader.read(ScenarioWord<DeficitRule>.keys, node, "sprinkler.deficits[\(place)]", into: &rule)
      if let zone = ZoneID(place + 1) { settings.deficits[zone] = rule }
    }
    let open = try value("maximum_open", .integer(1...64), or: 1, fields)
    var groups = [0: open]
    for (place, limit) in try value("groups", .list(.integer(1...64)), or: [], fields).enumerated() {
      groups[place + 1] = limit
    }
    let seconds = ScenarioValue<Int>.integer(-600...600).map { Nanoseconds.seconds(Int64($0)) }
    let lead = try value("master_lead_s", seconds, or: .zero, fields)
    let lag = try value("master_lag_s", seconds, or: .zero, fields)
    let delay = try value("station_delay_s", .integer(0...3_600), or: 0, fields)
    do {
      let master = hasMaster ? try MasterValve(line: UInt8(clamping: ZoneID.maximum - 1), lead: lead, lag: lag) : nil
      let irrigation = try IrrigationSettings(
        lineCount: ZoneID.maximum, master: master, stationDelay: .seconds(Int64(delay)), maximumOpen: open,
        groups: groups)
      return (settings, irrigation)
    } catch {
      reader.report(fields.node, "sprinkler", "expected settings that fit together, got \(error)")
      return nil
    }
  }

  private mutating func place(_ fields: FieldReader.Fields) throws -> GeographicPlace? {
    guard fields.nodes["latitude"] != nil, fields.nodes["longitude"] != nil,
      let north = try value("latitude", .number(-90...90), fields),
      let east = try value("longitude", .number(-180...180), fields)
    else { return nil }
    return GeographicPlace(latitude: north, longitude: east)
  }

  // MARK: zones and programs

  private mutating func readGarden(_ fields: FieldReader.Fields, into setup: inout SprinklerScenario.Setup) throws {
    let percent = ScenarioValue<Int>.integer(0...250)
    setup.records.levels.seasonalPercent = try value("seasonal_percent", percent, or: 100, fields)
    setup.records.levels.monthlyPercent = try value("monthly_percent", .list(percent), or: [], fields)
    var zones: [Zone] = []
    for (place, node) in reader.items(fields.nodes["zones"], "sprinkler.zones").enumerated() {
      if let zone = try zone(node, "sprinkler.zones[\(place)]", number: place + 1) { zones.append(zone) }
    }
    var programs: [(node: Node, program: Program)] = []
    for (place, node) in reader.items(fields.nodes["programs"], "sprinkler.programs").enumerated() {
      var program = Program(id: 0, name: "", days: .weekdays(127), starts: [], steps: [])
      _ = try reader.read(ScenarioWord<Program>.keys, node, "sprinkler.programs[\(place)]", into: &program)
      programs.append((node, program))
    }
    guard reader.errors.isEmpty else { return }
    // The scheduler itself checks the setup.
    var scheduler = SprinklerScheduler(setup.records, settings: setup.settings)
    let start = WallReading(
      microseconds: setup.start.secondsSince1970 * 1_000_000, bootTime: .zero, isSynchronised: true, steady: .zero)
    _ = scheduler.step(.started, at: start)
    func ask(_ command: SprinklerCommand, _ node: Node, _ path: String) {
      let effects = scheduler.step(.command(command, caller: nil), at: start)
      switch effects.refusal {
      case .invalid(let field, let expected, let got)?:
        reader.report(node, "\(path).\(field)", "expected \(expected), got \(got)")
      case let refusal?: reader.report(node, path, "\(refusal)")
      case nil: break
      }
    }
    ask(.setZones(zones), fields.nodes["zones"] ?? fields.node, "sprinkler")
    ask(.setLevels(setup.records.levels), fields.node, "sprinkler")
    for (place, item) in programs.enumerated() {
      ask(.addProgram(item.program), item.node, "sprinkler.programs[\(place)]")
    }
    setup.records.zones = scheduler.records.zones
    setup.records.programs = scheduler.records.programs
    setup.records.nextProgram = scheduler.records.nextProgram
  }

  private mutating func zone(_ node: Node, _ path: String, number: Int) throws -> Zone? {
    guard let id = ZoneID(number) else {
      reader.report(node, path, "expected at most \(ZoneID.maximum) zones")
      return nil
    }
    var zone = Zone(id: id, name: "zone \(number)", gpioPin: number)
    _ = try reader.read(ScenarioWord<Zone>.keys, node, path, into: &zone)
    zone.defaultSeconds = min(zone.defaultSeconds, zone.maximumSeconds)
    return zone
  }
}

extension ScenarioValue<ZoneRules> {
  fileprivate static var timeZone: Self {
    Self { reader, node, path in
      guard let text = reader.text(node, path) else { return nil }
      do {
        return try ZoneRules(identifier: text)
      } catch {
        reader.report(node, path, "\(error)")
        return nil
      }
    }
  }
}
