import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Yams

extension SprinklerScenarioReader {
  private static let programKeys = [
    "name", "days", "season", "starts", "steps", "cycle_minutes", "soak_minutes", "follows_season", "skips_in_rain",
    "priority", "enabled",
  ]
  private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  mutating func program(_ node: Node, _ path: String) -> Program? {
    guard let fields = reader.fields(node, path, known: Self.programKeys) else { return nil }
    var program = Program(id: 0, name: "", days: .weekdays(127), starts: [], steps: [])
    var cycle = Program.CycleAndSoak(cycleSeconds: 0, soakSeconds: 0)
    for name in fields.names {
      let node = fields.nodes[name]!
      let path = "\(path).\(name)"
      switch name {
      case "name": program.name = reader.text(node, path) ?? ""
      case "days": program.days = days(node, path) ?? .odd
      case "season": program.season = season(node, path)
      case "starts":
        program.starts = reader.items(node, path).enumerated().compactMap { start($1, "\(path)[\($0)]") }
      case "steps": program.steps = steps(node, path)
      case "cycle_minutes": cycle.cycleSeconds = seconds(node, path) ?? 0
      case "soak_minutes": cycle.soakSeconds = seconds(node, path) ?? 0
      case "follows_season": program.followsSeason = boolean(node, path) ?? true
      case "skips_in_rain": program.skipsInRain = boolean(node, path) ?? true
      case "priority": program.priority = reader.integer(node, path, -100...100) ?? 0
      default: program.isEnabled = boolean(node, path) ?? true
      }
    }
    if cycle.cycleSeconds > 0 || cycle.soakSeconds > 0 { program.cycleAndSoak = cycle }
    return program
  }

  /// `[mon, thu]`, `odd`, `even`, `daily` or `{ every: 3, from: 2026-04-01 }`.
  private mutating func days(_ node: Node, _ path: String) -> DayRule? {
    if node.mapping != nil {
      guard let fields = reader.fields(node, path, known: ["every", "from"]), let every = fields.nodes["every"],
        let from = fields.nodes["from"]
      else {
        reader.report(node, path, "expected every and from, got one of them")
        return nil
      }
      guard let days = reader.integer(every, "\(path).every", 1...365), let date = date(from, "\(path).from") else {
        return nil
      }
      return .interval(days: days, from: date)
    }
    guard node.sequence != nil else {
      switch reader.word(node, path, ["daily", "odd", "even"]) {
      case "daily": return .weekdays(127)
      case "odd": return .odd
      case "even": return .even
      default: return nil
      }
    }
    let names = reader.items(node, path).enumerated().compactMap {
      reader.word($1, "\(path)[\($0)]", Self.dayNames)
    }
    return .weekdays(names.reduce(0) { $0 | 1 << UInt8(clamping: Self.dayNames.firstIndex(of: $1)!) })
  }

  /// `[04-15, 10-10]`.
  private mutating func season(_ node: Node, _ path: String) -> Season? {
    let ends = reader.items(node, path).compactMap { node -> MonthDay? in
      let text = node.scalar?.string ?? ""
      guard let date = LocalDate(text: "2000-\(text)") else { return nil }
      return MonthDay(month: date.month, day: date.day)
    }
    guard ends.count == 2 else {
      reader.report(node, path, "expected two days like [04-15, 10-10], got \(FieldReader.describe(node))")
      return nil
    }
    return Season(from: ends[0], to: ends[1])
  }

  /// `05:30`, `sunrise`, `sunset+15`: minutes after or before.
  private mutating func start(_ node: Node, _ path: String) -> StartTime? {
    let text = node.scalar?.string ?? ""
    if let minute = Self.minute(text) { return .clock(minute: minute) }
    for (name, make) in [
      ("sunrise", { StartTime.sunrise(offsetMinutes: $0) }), ("sunset", { StartTime.sunset(offsetMinutes: $0) }),
    ] where text.hasPrefix(name) {
      let offset = text.dropFirst(name.count)
      if offset.isEmpty { return make(0) }
      if "+-".contains(offset.first!), let minutes = Int(offset), (-720...720).contains(minutes) {
        return make(minutes)
      }
    }
    reader.report(
      node, path,
      "expected a start like 05:30 or sunrise-45, at most 720 minutes beside it, got \(FieldReader.describe(node))")
    return nil
  }

  /// Minutes after midnight of `HH:MM`.
  static func minute(_ text: some StringProtocol) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.map(\.count) == [2, 2], let hour = Int(parts[0]), let minute = Int(parts[1]),
      (0...23).contains(hour), (0...59).contains(minute)
    else { return nil }
    return hour * 60 + minute
  }

  /// `[[1, 12], [2, 7.5]]`: zone and minutes.
  private mutating func steps(_ node: Node, _ path: String) -> [Program.Step] {
    reader.items(node, path).enumerated().compactMap { place, node in
      guard let (number, minutes) = reader.pair(node, "\(path)[\(place)]", 0...1_440) else { return nil }
      guard let zone = Int(exactly: number).flatMap({ ZoneID($0) }) else {
        reader.report(node, "\(path)[\(place)]", "expected a zone 1…64 and minutes, got \(number)")
        return nil
      }
      return Program.Step(zone: zone, seconds: Int(saturating: (minutes * 60).rounded()))
    }
  }
}
