@_spi(FromOutside) import Conversions
import WallTime
import Wire

/// Checks the values that people enter. Every refusal names the field, the expected values and the given one.
enum Validation {
  /// The installation's properties against which a program is checked.
  struct Context {
    var zones: Set<ZoneID>
    var hasPlace: Bool
    /// Whether there is a flow sensor, which steps by litres need.
    var hasFlow: Bool
  }

  static var programCount: Int { 256 }

  static func number(_ value: Int, _ range: ClosedRange<Int>, _ field: String) throws(SprinklerRefusal) {
    guard range.contains(value) else {
      throw .invalid(field: field, expected: "\(range.lowerBound)…\(range.upperBound)", got: "\(value)")
    }
  }

  static func litres(_ value: Double, hasFlow: Bool, _ field: String) throws(SprinklerRefusal) {
    guard value >= 0.1, value <= 100_000 else {
      throw .invalid(field: field, expected: "0.1…100000", got: "\(value)")
    }
    guard hasFlow else {
      throw .invalid(
        field: field, expected: "minutes, because there is no flow sensor (sprinkler.flow.pin)", got: "litres")
    }
  }

  static func count(_ value: Int, _ range: ClosedRange<Int>, _ field: String) throws(SprinklerRefusal) {
    guard range.contains(value) else {
      throw .invalid(
        field: field, expected: "a list of \(range.lowerBound)…\(range.upperBound)", got: "a list of \(value)")
    }
  }

  /// Throws unless a name is valid. The present name is always accepted, because it may be older than the rule for
  /// names.
  static func name(
    _ name: String, longest: Int, _ field: String, present: String? = nil
  ) throws(SprinklerRefusal) {
    guard name != present, let flaw = GivenName.flaw(in: name, 1...longest) else { return }
    throw .invalid(field: field, expected: GivenName.rule(1...longest), got: flaw)
  }

  // MARK: zones

  /// Throws unless the zones are valid.
  ///
  /// - Parameter present: the present zones, whose names are always accepted.
  static func check(
    _ zones: [Zone], _ field: String, pins: [Int], masterPin: Int?, present: [Zone] = []
  ) throws(SprinklerRefusal) {
    try count(zones.count, 0...ZoneID.maximum, field)
    let free = pins.filter { $0 != masterPin }
    for (place, zone) in zones.enumerated() {
      let path = "\(field)[\(place)]"
      let before = zones[..<place]
      guard !before.contains(where: { $0.id == zone.id }) else {
        throw .invalid(field: "\(path).id", expected: "a number no other zone has", got: "\(zone.id)")
      }
      try name(zone.name, longest: 40, "\(path).name", present: present.first { $0.id == zone.id }?.name)
      guard free.contains(zone.gpioPin) else {
        throw .invalid(field: "\(path).gpioPin", expected: "one of the lines \(free)", got: "\(zone.gpioPin)")
      }
      if let other = before.first(where: { $0.gpioPin == zone.gpioPin }) {
        throw .invalid(
          field: "\(path).gpioPin", expected: "a line of its own", got: "\(zone.gpioPin), which is zone \(other.id)'s")
      }
      try number(zone.maximumSeconds, 1...86_400, "\(path).maximumSeconds")
      try number(zone.defaultSeconds, 1...zone.maximumSeconds, "\(path).defaultSeconds")
      if let limit = zone.maximumSecondsPerDay { try number(limit, 1...86_400, "\(path).maximumSecondsPerDay") }
      if let group = zone.group { try number(group, 1...IrrigationSettings.groupCount - 1, "\(path).group") }
    }
  }

  static func check(_ levels: SprinklerLevels, _ prefix: String) throws(SprinklerRefusal) {
    try number(levels.seasonalPercent, 0...250, "\(prefix)seasonalPercent")
    guard levels.monthlyPercent.isEmpty || levels.monthlyPercent.count == 12 else {
      throw .invalid(
        field: "\(prefix)monthlyPercent", expected: "12 numbers, or none", got: "\(levels.monthlyPercent.count)")
    }
    for (month, percent) in levels.monthlyPercent.enumerated() {
      try number(percent, 0...250, "\(prefix)monthlyPercent[\(month)]")
    }
  }

  // MARK: programs

  /// Throws unless the program is valid.
  ///
  /// - Parameter present: the present program, whose names are always accepted.
  static func check(
    _ program: Program, _ prefix: String, _ context: Context, present: Program? = nil
  ) throws(SprinklerRefusal) {
    try name(program.name, longest: 60, "\(prefix)name", present: present?.name)
    try check(program.days, "\(prefix)days")
    if let season = program.season {
      try check(season.from, "\(prefix)season.from")
      try check(season.to, "\(prefix)season.to")
    }
    try count(program.starts.count, 1...8, "\(prefix)starts")
    for (place, start) in program.starts.enumerated() {
      let path = "\(prefix)starts[\(place)]"
      guard !program.starts[..<place].contains(start) else {
        throw .invalid(field: path, expected: "each start once", got: "the same again")
      }
      try check(start, path, context)
    }
    try count(program.steps.count, 1...64, "\(prefix)steps")
    for (place, step) in program.steps.enumerated() {
      guard context.zones.contains(step.zone) else {
        throw .invalid(
          field: "\(prefix)steps[\(place)].zone", expected: "one of the zones \(context.zones.sorted())",
          got: "\(step.zone)")
      }
      try number(step.seconds, 1...86_400, "\(prefix)steps[\(place)].seconds")
      guard let litres = step.litres else { continue }
      let path = "\(prefix)steps[\(place)].litres"
      try Self.litres(litres, hasFlow: context.hasFlow, path)
      if program.cycleAndSoak != nil || program.adjustment != nil {
        throw .invalid(
          field: path, expected: "minutes in a schedule with cycleAndSoak or adjustment", got: "litres")
      }
    }
    if let cycle = program.cycleAndSoak {
      try number(cycle.cycleSeconds, 60...86_400, "\(prefix)cycleAndSoak.cycleSeconds")
      try number(cycle.soakSeconds, 0...86_400, "\(prefix)cycleAndSoak.soakSeconds")
      // A program with more cycles than the queue has places would never run.
      let cycles = program.steps.reduce(0) { $0 + ($1.seconds + cycle.cycleSeconds - 1) / cycle.cycleSeconds }
      guard cycles <= IrrigationMachine.capacity else {
        throw .invalid(
          field: "\(prefix)cycleAndSoak",
          expected: "cycles so long that all together are at most \(IrrigationMachine.capacity)",
          got: "\(cycles)")
      }
    }
    try number(program.priority, -100...100, "\(prefix)priority")
    if let alias = program.alias {
      try name(alias, longest: 64, "\(prefix)alias", present: present?.alias)
      guard Int(alias) == nil else {
        throw .invalid(field: "\(prefix)alias", expected: "a name that is no number", got: alias)
      }
    }
  }

  /// Throws if another program has the same alias.
  static func check(
    alias: String?, among others: some Sequence<Program>, _ prefix: String
  ) throws(SprinklerRefusal) {
    guard let alias, let other = others.first(where: { $0.alias == alias }) else { return }
    throw .invalid(
      field: "\(prefix)alias", expected: "a name of its own", got: "\(alias), which is program \(other.id)'s")
  }

  private static func check(_ days: DayRule, _ field: String) throws(SprinklerRefusal) {
    switch days {
    case .weekdays(let mask):
      try number(Int(mask), 0...127, field)
    case .interval(let every, let from):
      try number(every, 1...365, "\(field).interval")
      guard from.exists, (1970...2199).contains(from.year) else {
        throw .invalid(field: "\(field).from", expected: "a date of 1970…2199", got: "\(from)")
      }
    case .odd, .even: break
    }
  }

  private static func check(_ day: MonthDay, _ field: String) throws(SprinklerRefusal) {
    guard LocalDate(year: 2000, month: day.month, day: day.day).exists else {
      throw .invalid(field: field, expected: "a month and a day of it", got: "\(day.month)-\(day.day)")
    }
  }

  private static func check(_ start: StartTime, _ field: String, _ context: Context) throws(SprinklerRefusal) {
    switch start {
    case .clock(let minute): try number(minute, 0...1_439, field)
    case .sunrise(let offset), .sunset(let offset):
      guard context.hasPlace else {
        throw .invalid(
          field: field, expected: "a time of day, or sprinkler.latitude and sprinkler.longitude in the file",
          got: "a time of the sun")
      }
      try number(offset, -720...720, field)
    }
  }
}
