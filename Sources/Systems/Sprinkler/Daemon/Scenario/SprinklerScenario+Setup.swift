@_spi(FromOutside) import Conversions
import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Yams

extension SprinklerScenario {
  static var keys: [ScenarioWord<Setup>] {
    let setup = ScenarioValue<Setup> { reader, node, path in
      var part = SprinklerPart()
      return try reader.read(SprinklerPart.keys, node, path, into: &part) ? part.made(&reader, node, path) : nil
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

/// The `sprinkler:` part of a scenario file. Settings that depend on each other are put together when all are read, and
/// the scheduler itself is asked whether zones and programs fit.
private struct SprinklerPart {
  var zone: ZoneRules?
  var from: LocalDate?
  var latitude, longitude: Double?
  /// The greatest numbers of open valves: of all at 0, and of the groups.
  var most = [0: 1]
  var stationDelay = Nanoseconds.zero
  var masterLead, masterLag: Nanoseconds?
  var rainSensor = RainSensorRule()
  var zones: [Zone] = []
  var programs: [Program] = []
  /// Days, settings and levels as they are read; everything else is added by `made`.
  var setup = SprinklerScenario.standard

  static var keys: [ScenarioWord<Self>] { installation + garden }

  private static var installation: [ScenarioWord<Self>] {
    let seconds = ScenarioValue<Int>.integer(-600...600).map { Nanoseconds.seconds(Int64($0)) }
    return [
      ScenarioWord("time_zone", .timeZone) { $0.zone = $1 },
      ScenarioWord("latitude", .number(-90...90)) { $0.latitude = $1 },
      ScenarioWord("longitude", .number(-180...180)) { $0.longitude = $1 },
      ScenarioWord("from", .date) { $0.from = $1 },
      ScenarioWord("days", .integer(1...3_700)) { $0.setup.days = $1 },
      ScenarioWord("catch_up_s", .integer(0...86_400)) { $0.setup.settings.catchUpSeconds = $1 },
      ScenarioWord("longest_outage_s", .integer(0...604_800)) { $0.setup.settings.longestOutageSeconds = $1 },
      ScenarioWord("rain_ends_open_runs", .boolean) { $0.setup.settings.rainEndsOpenRuns = $1 },
      ScenarioWord("manual_in_rain", ScenarioValue<SchedulerSettings.ManualInRain>.word) {
        $0.setup.settings.manualInRain = $1
      },
      ScenarioWord("after_power_cut", ScenarioValue<SchedulerSettings.AfterPowerCut>.word) {
        $0.setup.settings.afterPowerCut = $1
      },
      ScenarioWord("maximum_open", .integer(1...64)) { $0.most[0] = $1 },
      ScenarioWord("groups", .list(.integer(1...64))) { part, limits in
        for (place, limit) in limits.enumerated() { part.most[place + 1] = limit }
      },
      ScenarioWord("station_delay_s", .integer(0...3_600)) { $0.stationDelay = .seconds(Int64($1)) },
      ScenarioWord("master_lead_s", seconds) { $0.masterLead = $1 },
      ScenarioWord("master_lag_s", seconds) { $0.masterLag = $1 },
    ]
  }

  private static var garden: [ScenarioWord<Self>] {
    let percent = ScenarioValue<Int>.integer(0...250)
    let rule = ScenarioValue.keys(
      of: MoistureRule(probe: .plant(0), wetPercent: 60, effect: .skip), ScenarioWord<MoistureRule>.keys)
    let deficit = ScenarioValue.keys(of: DeficitRule(millimetresPerHour: 10), ScenarioWord<DeficitRule>.keys)
    let zone = ScenarioValue.keys(of: Zone(id: ZoneID(index: 0), name: "", gpioPin: 0), ScenarioWord<Zone>.keys)
    let zones = ScenarioValue<[Zone]>.list(zone).checked {
      $0.count > ZoneID.maximum ? "expected at most \(ZoneID.maximum) zones, got \($0.count)" : nil
    }
    let program = ScenarioValue.keys(
      of: Program(id: 0, name: "", days: .weekdays(127), starts: [], steps: []), ScenarioWord<Program>.keys)
    return [
      ScenarioWord("seasonal_percent", percent) { $0.setup.records.levels.seasonalPercent = $1 },
      ScenarioWord("monthly_percent", .list(percent)) { $0.setup.records.levels.monthlyPercent = $1 },
      ScenarioWord("rain_sensor_delay_minutes", .minutes) { $0.rainSensor.delaySeconds = $1 },
      ScenarioWord("rain_sensor_dry_hours", .integer(0...336)) { $0.rainSensor.drySeconds = 3_600 * $1 },
      ScenarioWord("soil", .list(rule)) { $0.setup.settings.moisture = $1 },
      ScenarioWord("deficits", .list(deficit)) { part, rules in
        for (place, rule) in rules.enumerated() {
          if let zone = ZoneID(place + 1) { part.setup.settings.deficits[zone] = rule }
        }
      },
      ScenarioWord("zones", zones) { $0.zones = $1 },
      ScenarioWord("programs", .list(program)) { $0.programs = $1 },
    ]
  }

  /// Returns the setup. Errors about values that are missing or do not fit are reported at `node`, which is at `path`.
  func made(_ reader: inout FieldReader, _ node: Node, _ path: String) -> SprinklerScenario.Setup? {
    for key in ["time_zone", "from"] where node.mapping?[key] == nil {
      reader.report(node, path, "expected \(key), got none")
    }
    guard let zone, let from else { return nil }
    var setup = setup
    setup.from = from
    setup.settings.zone = zone
    setup.settings.rainSensor = rainSensor
    if let latitude, let longitude {
      setup.settings.place = GeographicPlace(latitude: latitude, longitude: longitude)
    }
    let hasMaster = masterLead != nil || masterLag != nil
    setup.settings.masterPin = hasMaster ? ZoneID.maximum : nil
    do {
      let line = UInt8(clamping: ZoneID.maximum - 1)
      let master = hasMaster ? try MasterValve(line: line, lead: masterLead ?? .zero, lag: masterLag ?? .zero) : nil
      setup.irrigation = try IrrigationSettings(
        lineCount: ZoneID.maximum, master: master, stationDelay: stationDelay, maximumOpen: most[0] ?? 1, groups: most)
    } catch {
      reader.report(node, path, "expected settings that fit together, got \(error)")
      return nil
    }
    guard reader.errors.isEmpty else { return setup }
    // The scheduler itself checks the zones and programs.
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
    ask(.setZones(numberedZones), node.mapping?["zones"] ?? node, path)
    ask(.setLevels(setup.records.levels), node, path)
    let nodes = reader.items(node.mapping?["programs"], path)
    for (place, program) in programs.enumerated() {
      ask(.addProgram(program), nodes[place], "\(path).programs[\(place)]")
    }
    setup.records.zones = scheduler.records.zones
    setup.records.programs = scheduler.records.programs
    setup.records.nextProgram = scheduler.records.nextProgram
    return setup
  }

  /// The zones with the numbers, lines and standard names that follow from their order in the file.
  private var numberedZones: [Zone] {
    zones.enumerated().map { place, zone in
      var zone = zone
      (zone.id, zone.gpioPin) = (ZoneID(index: place), place + 1)
      if zone.name.isEmpty { zone.name = "zone \(place + 1)" }
      zone.defaultSeconds = min(zone.defaultSeconds, zone.maximumSeconds)
      return zone
    }
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
