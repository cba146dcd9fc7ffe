@_spi(FromOutside) import Conversions
import WallTime

extension SprinklerScheduler {
  /// Carries out a command that changes programs, zones or levels, or restores a backup. Starts due by now are first dealt with by the old rules.
  mutating func edit(_ command: SprinklerCommand, _ request: Request) throws(SprinklerRefusal) {
    passTime(to: request.wall)
    switch command {
    case .addProgram(let program): try add([program], field: nil, request)
    case .importPrograms(let programs):
      try Validation.count(programs.count, 1...Validation.programCount, "programs")
      try add(withoutTakenAliases(programs), field: "programs", request)
    case .replaceProgram(let program):
      let present = try self.program(program.id)
      try Validation.check(program, "", validationContext, present: present)
      try Validation.check(alias: program.alias, among: records.programs.lazy.filter { $0.id != program.id }, "")
      set(program, request)
    case .enableProgram(let id, let isEnabled):
      var program = try program(id)
      guard program.isEnabled != isEnabled else { return }
      program.isEnabled = isEnabled
      set(program, request)
    case .removeProgram(let id):
      _ = try program(id)
      for run in records.pending where run.program == id { effects.orders.append(.cancel(run: run.run)) }
      change(.programRemoved(id: id))
      upcoming[id] = nil
    case .orderPrograms(let ids):
      let present = records.programs.map(\.id)
      guard ids.sorted() == present.sorted() else {
        throw .invalid(field: "order", expected: "each of the programs \(present) once", got: "\(ids)")
      }
      change(.programOrder(ids))
    case .setZones(let zones): try setZones(zones)
    case .setLevels(let levels):
      try Validation.check(levels, "")
      change(.levels(levels))
    case .restore(let backup): try restore(backup, request)
    default: preconditionFailure("not an edit: \(command)")
    }
  }

  private mutating func add(_ programs: [Program], field: String?, _ request: Request) throws(SprinklerRefusal) {
    let count = records.programs.count + programs.count
    guard count <= Validation.programCount else {
      throw .invalid(field: "programs", expected: "at most \(Validation.programCount) in all", got: "\(count)")
    }
    for (place, program) in programs.enumerated() {
      let prefix = field.map { "\($0)[\(place)]." } ?? ""
      try Validation.check(program, prefix, validationContext)
      try Validation.check(alias: program.alias, among: records.programs, prefix)
    }
    for var program in programs {
      program.id = records.nextProgram
      records.nextProgram += 1
      effects.programs.append(program.id)
      set(program, request)
    }
  }

  /// Removes aliases that other programs have: apps find a schedule by its alias, so the existing program keeps it and the copy has none.
  private func withoutTakenAliases(_ programs: [Program]) -> [Program] {
    var taken = Set(records.programs.compactMap(\.alias))
    return programs.map { program in
      var program = program
      if let alias = program.alias, !taken.insert(alias).inserted { program.alias = nil }
      return program
    }
  }

  /// Stores the program and plans its next start. A change can make starts due from now on only, never in the past.
  private mutating func set(_ program: Program, _ request: Request) {
    change(.program(program))
    plan(program, after: max(cursor, request.wall))
  }

  private var validationContext: Validation.Context {
    Validation.Context(
      zones: Set(records.zones.map(\.id)), hasPlace: settings.place != nil,
      hasFlow: settings.pulsesPerLitre != nil)
  }

  // MARK: zones

  private mutating func setZones(_ zones: [Zone]) throws(SprinklerRefusal) {
    try Validation.check(
      zones, "zones", pins: settings.pins, masterPin: settings.masterPin, present: records.zones)
    let ids = Set(zones.map(\.id))
    for program in records.programs {
      guard let step = program.steps.first(where: { !ids.contains($0.zone) }) else { continue }
      throw .invalid(
        field: "zones", expected: "zone \(step.zone), which program \(program.id) (\(program.name)) waters",
        got: "zones \(ids.sorted())")
    }
    order(from: records.zones, to: zones)
    change(.zones(zones))
    findUsableZones()
  }

  /// Appends the orders that lead the machine from the old zones to the new ones. A zone that changes its line closes first, and releases
  /// the line before another zone takes it.
  private mutating func order(from old: [Zone], to new: [Zone]) {
    let wanted = Dictionary(uniqueKeysWithValues: new.map { ($0.id, $0) })
    let present = Set(old.map(\.id))
    for zone in old {
      guard let next = wanted[zone.id] else {
        effects.orders += [.off(zone.id, dropsQueued: true), .zone(zone.id, nil)]
        continue
      }
      if !next.isEnabled || next.gpioPin != zone.gpioPin {
        effects.orders.append(.off(zone.id, dropsQueued: true))
      }
      if next.gpioPin != zone.gpioPin {
        var settings = zoneSettings(next)
        settings.line = nil
        effects.orders.append(.zone(zone.id, settings))
      }
    }
    for zone in new where !present.contains(zone.id) || !old.contains(zone) {
      effects.orders.append(.zone(zone.id, zoneSettings(zone)))
    }
  }

  /// Returns the machine's settings of a zone; a zone whose pin was not requested at this start is disabled.
  func zoneSettings(_ zone: Zone) -> ZoneSettings {
    let line = settings.pins.firstIndex(of: zone.gpioPin)
    var made = ZoneSettings(zone, line: line.map { UInt8(clamping: $0) })
    if line == nil { made.isEnabled = false }
    made.flow = flowLimits(zone.id)
    return made
  }

  mutating func findUsableZones() {
    usableZones = [:]
    for zone in records.zones where zoneSettings(zone).isEnabled { usableZones[zone.id] = zone }
  }

  // MARK: backups

  /// The longest rain delay, s: 14 days. A longer one in a backup cannot be genuine and is ignored.
  static var longestRainDelay: Int { 1_209_600 }

  private mutating func restore(_ backup: SprinklerRecords, _ request: Request) throws(SprinklerRefusal) {
    // Names are kept as they are stored: they may be older than the rule for names.
    try Validation.check(
      backup.zones, "zones", pins: settings.pins, masterPin: settings.masterPin, present: backup.zones)
    try Validation.count(backup.programs.count, 0...Validation.programCount, "programs")
    // A backup may have steps by litres even without a flow sensor; such steps last for their zone's default duration.
    let context = Validation.Context(
      zones: Set(backup.zones.map(\.id)), hasPlace: settings.place != nil, hasFlow: true)
    for (place, program) in backup.programs.enumerated() {
      try Validation.check(program, "programs[\(place)].", context, present: program)
      try Validation.check(alias: program.alias, among: backup.programs[..<place], "programs[\(place)].")
      guard (1...Int(Int32.max) - Validation.programCount).contains(program.id),
        backup.programs.firstIndex(where: { $0.id == program.id }) == place
      else {
        throw .invalid(field: "programs[\(place)].id", expected: "a number from 1 used once", got: "\(program.id)")
      }
    }
    try Validation.check(backup.levels, "levels.")
    // The next number is one more. A number so great that counting could overflow was not assigned by this program.
    try Validation.number(Int(clamping: backup.nextRun), 1...1 << 53, "nextRun")
    try Validation.number(backup.nextProgram, 1...Int(Int32.max) - Validation.programCount, "nextProgram")
    effects.orders.append(.allOff)
    order(from: records.zones, to: backup.zones)
    var new = records
    new.zones = backup.zones
    new.programs = backup.programs
    new.levels = backup.levels
    new.isForecastOn = backup.isForecastOn
    keys.formUnion(backup.startKeys)
    new.startKeys += backup.startKeys.filter { !records.startKeys.contains($0) }
    new.nextRun = max(new.nextRun, backup.nextRun)
    new.nextProgram = max(new.nextProgram, backup.nextProgram, (backup.programs.map(\.id).max() ?? 0) + 1)
    change(.everything(new))
    if let delay = backup.rainDelay, delay.until > max(request.wall, records.rainDelay?.until ?? request.wall),
      delay.until - request.wall <= Int64(Self.longestRainDelay)
    {
      setRainDelay(RainDelay(seconds: Int(delay.until - request.wall), reason: delay.reason, at: reading))
    }
    findUsableZones()
    planAll(after: max(cursor, request.wall))
  }
}
