import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Yams

/// Reads a scenario file with a `sprinkler:` part. Every error of the file is found.
struct SprinklerScenarioReader {
  static let rootKeys = ["name", "seed", "sprinkler", "random", "events"]
  private static let sprinklerKeys = [
    "time_zone", "latitude", "longitude", "from", "days", "catch_up_s", "longest_outage_s", "rain_ends_open_runs",
    "manual_in_rain", "after_power_cut", "maximum_open", "groups", "station_delay_s", "master_lead_s", "master_lag_s",
    "seasonal_percent", "monthly_percent", "zones", "programs",
  ]
  var reader: FieldReader

  /// Whether a file is one for this reader.
  static func reads(_ file: YAMLFile) -> Bool { file.root?.mapping?["sprinkler"] != nil }

  static func read(_ file: YAMLFile) throws -> SprinklerScenario {
    var reader = SprinklerScenarioReader(reader: FieldReader(file))
    let scenario = reader.scenario(file)
    guard let scenario, reader.reader.errors.isEmpty else { throw ConfigErrors(errors: reader.reader.errors) }
    return scenario
  }

  private mutating func scenario(_ file: YAMLFile) -> SprinklerScenario? {
    guard let root = file.root, let fields = reader.fields(root, "", known: Self.rootKeys),
      let node = fields.nodes["sprinkler"],
      let sprinkler = reader.fields(node, "sprinkler", known: Self.sprinklerKeys)
    else { return nil }
    guard let (settings, irrigation) = settings(sprinkler), let from = from(sprinkler) else { return nil }
    var scenario = SprinklerScenario(
      name: fields.nodes["name"].flatMap { reader.text($0, "name") } ?? file.name,
      seed: UInt64(clamping: fields.nodes["seed"].flatMap { reader.integer($0, "seed", 0...Int.max) } ?? 1), from: from,
      days: sprinkler.nodes["days"].flatMap { reader.integer($0, "sprinkler.days", 1...3_700) } ?? 365,
      settings: settings, irrigation: irrigation, records: SprinklerRecords(), events: [], chance: .init())
    readGarden(sprinkler, into: &scenario)
    if let node = fields.nodes["random"] { readChance(node, into: &scenario) }
    scenario.events = reader.items(fields.nodes["events"], "events").enumerated().compactMap {
      event($1, "events[\($0)]", scenario)
    }
    return scenario
  }

  // MARK: the installation

  private mutating func settings(_ fields: FieldReader.Fields) -> (SchedulerSettings, IrrigationSettings)? {
    func integer(_ name: String, _ range: ClosedRange<Int>, _ standard: Int) -> Int {
      fields.nodes[name].flatMap { reader.integer($0, "sprinkler.\(name)", range) } ?? standard
    }
    func word(_ name: String, _ words: [String]) -> String? {
      fields.nodes[name].flatMap { reader.word($0, "sprinkler.\(name)", words) }
    }
    guard let zone = timeZone(fields) else { return nil }
    let hasMaster = fields.nodes["master_lead_s"] != nil || fields.nodes["master_lag_s"] != nil
    var settings = SchedulerSettings(
      zone: zone, pins: Array(1...ZoneID.maximum), masterPin: hasMaster ? ZoneID.maximum : nil, place: place(fields),
      catchUpSeconds: integer("catch_up_s", 0...86_400, 300),
      longestOutageSeconds: integer("longest_outage_s", 0...604_800, 7_200))
    if let ends = fields.nodes["rain_ends_open_runs"] {
      settings.rainEndsOpenRuns = boolean(ends, "sprinkler.rain_ends_open_runs") ?? true
    }
    let manual = word("manual_in_rain", SchedulerSettings.ManualInRain.allCases.map(\.rawValue))
    settings.manualInRain = manual.flatMap { .init(rawValue: $0) } ?? .warn
    let after = word("after_power_cut", SchedulerSettings.AfterPowerCut.allCases.map(\.rawValue))
    settings.afterPowerCut = after.flatMap { .init(rawValue: $0) } ?? .resume
    var groups: [Int: Int] = [:]
    for (number, node) in reader.items(fields.nodes["groups"], "sprinkler.groups").enumerated() {
      groups[number + 1] = reader.integer(node, "sprinkler.groups[\(number)]", 1...64)
    }
    let open = integer("maximum_open", 1...64, 1)
    groups[0] = open
    do {
      let master =
        hasMaster
        ? try MasterValve(
          line: UInt8(clamping: ZoneID.maximum - 1), lead: .seconds(Int64(integer("master_lead_s", -600...600, 0))),
          lag: .seconds(Int64(integer("master_lag_s", -600...600, 0)))) : nil
      let irrigation = try IrrigationSettings(
        lineCount: ZoneID.maximum, master: master,
        stationDelay: .seconds(Int64(integer("station_delay_s", 0...3_600, 0))), maximumOpen: open, groups: groups)
      return (settings, irrigation)
    } catch {
      reader.report(fields.node, "sprinkler", "expected settings that fit together, got \(error)")
      return nil
    }
  }

  private mutating func timeZone(_ fields: FieldReader.Fields) -> ZoneRules? {
    guard let node = fields.nodes["time_zone"] else {
      reader.report(fields.node, "sprinkler", "expected time_zone, got none")
      return nil
    }
    guard let text = reader.text(node, "sprinkler.time_zone") else { return nil }
    do {
      return try ZoneRules(identifier: text)
    } catch {
      reader.report(node, "sprinkler.time_zone", "\(error)")
      return nil
    }
  }

  private mutating func place(_ fields: FieldReader.Fields) -> GeographicPlace? {
    guard let latitude = fields.nodes["latitude"], let longitude = fields.nodes["longitude"] else { return nil }
    guard let north = reader.number(latitude, "sprinkler.latitude", -90...90),
      let east = reader.number(longitude, "sprinkler.longitude", -180...180)
    else { return nil }
    return GeographicPlace(latitude: north, longitude: east)
  }

  private mutating func from(_ fields: FieldReader.Fields) -> LocalDate? {
    guard let node = fields.nodes["from"] else {
      reader.report(fields.node, "sprinkler", "expected from, got none")
      return nil
    }
    return date(node, "sprinkler.from")
  }

  // MARK: zones and programs

  private mutating func readGarden(_ fields: FieldReader.Fields, into scenario: inout SprinklerScenario) {
    if let node = fields.nodes["seasonal_percent"] {
      scenario.records.levels.seasonalPercent = reader.integer(node, "sprinkler.seasonal_percent", 0...250) ?? 100
    }
    scenario.records.levels.monthlyPercent = reader.items(
      fields.nodes["monthly_percent"], "sprinkler.monthly_percent"
    ).enumerated().compactMap { reader.integer($1, "sprinkler.monthly_percent[\($0)]", 0...250) }
    let zones = reader.items(fields.nodes["zones"], "sprinkler.zones").enumerated().compactMap { place, node in
      zone(node, "sprinkler.zones[\(place)]", number: place + 1)
    }
    let programs = reader.items(fields.nodes["programs"], "sprinkler.programs").enumerated().map { place, node in
      (node: node, program: program(node, "sprinkler.programs[\(place)]"))
    }
    guard reader.errors.isEmpty else { return }
    // The scheduler itself says what fits.
    var scheduler = SprinklerScheduler(scenario.records, settings: scenario.settings)
    let start = WallReading(
      microseconds: scenario.start.secondsSince1970 * 1_000_000, bootTime: .zero, isSynchronised: true, steady: .zero)
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
    ask(.setLevels(scenario.records.levels), fields.node, "sprinkler")
    for (place, item) in programs.enumerated() {
      if let program = item.program { ask(.addProgram(program), item.node, "sprinkler.programs[\(place)]") }
    }
    scenario.records.zones = scheduler.records.zones
    scenario.records.programs = scheduler.records.programs
    scenario.records.nextProgram = scheduler.records.nextProgram
  }

  private mutating func zone(_ node: Node, _ path: String, number: Int) -> Zone? {
    let known = [
      "name", "longest_minutes", "longest_minutes_per_day", "group", "ignores_rain", "uses_master", "enabled",
    ]
    guard let id = ZoneID(number) else {
      reader.report(node, path, "expected at most \(ZoneID.maximum) zones")
      return nil
    }
    guard let fields = reader.fields(node, path, known: known) else { return nil }
    var zone = Zone(id: id, name: "zone \(number)", gpioPin: number)
    for name in fields.names {
      let node = fields.nodes[name]!
      switch name {
      case "name": zone.name = reader.text(node, "\(path).name") ?? ""
      case "longest_minutes": zone.maximumSeconds = seconds(node, "\(path).\(name)") ?? 7_200
      case "longest_minutes_per_day": zone.maximumSecondsPerDay = seconds(node, "\(path).\(name)")
      case "group": zone.group = reader.integer(node, "\(path).group", 1...15)
      case "ignores_rain": zone.ignoresRain = boolean(node, "\(path).\(name)") ?? false
      case "uses_master": zone.usesMaster = boolean(node, "\(path).\(name)") ?? true
      default: zone.isEnabled = boolean(node, "\(path).\(name)") ?? true
      }
    }
    zone.defaultSeconds = min(zone.defaultSeconds, zone.maximumSeconds)
    return zone
  }

  // MARK: small values

  mutating func boolean(_ node: Node, _ path: String) -> Bool? {
    if case .boolean(let value)? = reader.value(node, path, .boolean) { value } else { nil }
  }

  /// Minutes with a fraction, as whole seconds.
  mutating func seconds(_ node: Node, _ path: String) -> Int? {
    reader.number(node, path, 0...1_440).map { Int(saturating: ($0 * 60).rounded()) }
  }

  /// `2026-03-29`.
  mutating func date(_ node: Node, _ path: String) -> LocalDate? {
    let text = node.scalar?.string ?? ""
    if let date = LocalDate(text: text) { return date }
    reader.report(node, path, "expected a date like 2026-03-29, got \(FieldReader.describe(node))")
    return nil
  }
}

extension LocalDate {
  /// `2026-03-29`, or `nil` if it is no date.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.count) == [4, 2, 2], let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
    else { return nil }
    self.init(year: year, month: month, day: day)
    guard exists else { return nil }
  }
}
