import Sprinkler
import WallTime

/// Day by day what ran, what was skipped and why, and what happened; then the sums.
struct SprinklerCalendar {
  private struct Day {
    var runs = 0
    var seconds = 0.0
    var skipped: [RunOutcome: Int] = [:]
    var notes: [String] = []
  }
  private struct Sum {
    var runs = 0
    var seconds = 0.0
    var skipped = 0
  }
  private let scenario: SprinklerScenario
  private var days: [LocalDate: Day] = [:]
  private var zones: [ZoneID: Sum] = [:]
  private var programs: [Int: Sum] = [:]
  private var byHand = Sum()
  private var outcomes: [RunOutcome: Int] = [:]

  init(_ scenario: SprinklerScenario) { self.scenario = scenario }

  mutating func note(_ at: WallInstant, _ text: String) {
    let (date, second) = scenario.settings.zone.local(at)
    days[date, default: Day()].notes.append("\(SprinklerWords.time(second)) \(text)")
  }

  mutating func take(_ log: [WateringRecord]) {
    for record in log {
      let date = scenario.settings.zone.local(record.start).date
      outcomes[record.outcome, default: 0] += 1
      if record.ranSeconds > 0 {
        days[date, default: Day()].runs += 1
        days[date, default: Day()].seconds += record.ranSeconds
      } else {
        days[date, default: Day()].skipped[record.outcome, default: 0] += 1
      }
      Self.add(record, to: &zones[record.zone, default: Sum()])
      if let program = record.program {
        Self.add(record, to: &programs[program, default: Sum()])
      } else {
        Self.add(record, to: &byHand)
      }
    }
  }

  private static func add(_ record: WateringRecord, to sum: inout Sum) {
    if record.ranSeconds > 0 { sum.runs += 1 } else { sum.skipped += 1 }
    sum.seconds += record.ranSeconds
  }

  // MARK: lines

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]
  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  func print(_ print: (String) -> Void) {
    print(
      "\(scenario.name): \(scenario.records.programs.count) programs on \(scenario.records.zones.count) zones, "
        + "\(scenario.settings.zone.identifier), \(scenario.days) days (seed \(scenario.seed))")
    var month = Sum()
    for offset in 0..<scenario.days {
      let date = scenario.from + offset
      if offset == 0 || date.day == 1 {
        print("")
        print("\(Self.months[date.month - 1]) \(date.year)")
        month = Sum()
      }
      let day = days[date] ?? Day()
      printDay(date, day, print)
      month.runs += day.runs
      month.seconds += day.seconds
      if date.day == date.daysInMonth || offset == scenario.days - 1 {
        print("  \(SprinklerWords.left("", 10))\(figures(month.runs, month.seconds))")
      }
    }
    print("")
    printSums(print)
  }

  private func figures(_ runs: Int, _ seconds: Double) -> String {
    "\(SprinklerWords.right("\(runs)", 5)) runs\(SprinklerWords.right(SprinklerWords.minutes(seconds), 9)) min"
  }

  private func printDay(_ date: LocalDate, _ day: Day, _ print: (String) -> Void) {
    var line = "  \(Self.weekdays[date.weekday]) \(SprinklerWords.right("\(date.day)", 2))    "
    line += figures(day.runs, day.seconds)
    if !day.skipped.isEmpty { line += "   skipped: \(words(day.skipped))" }
    if let change = clockChange(on: date) { line += "   \(change)" }
    print(line)
    for note in day.notes { print("              \(note)") }
  }

  private func words(_ counts: [RunOutcome: Int]) -> String {
    counts.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value) \(SprinklerWords.outcome($0.key))" }.joined(separator: ", ")
  }

  /// The hour that is left out or repeated.
  private func clockChange(on date: LocalDate) -> String? {
    let zone = scenario.settings.zone
    let (first, last) = (zone.instant(of: date, second: 0), zone.instant(of: date + 1, second: 0))
    guard let change = zone.transitions.first(where: { $0.at > first && $0.at <= last }) else { return nil }
    let before = zone.local(change.at - 1).second + 1
    return "the clock goes from \(SprinklerWords.time(before)) to \(SprinklerWords.time(zone.local(change.at).second))"
  }

  private func printSums(_ print: (String) -> Void) {
    func row(_ name: String, _ sum: Sum) {
      print(
        "  \(SprinklerWords.left(name, 50))\(figures(sum.runs, sum.seconds))\(SprinklerWords.right("\(sum.skipped)", 6)) skipped"
      )
    }
    print("zones")
    for zone in scenario.records.zones {
      row("\(SprinklerWords.right("\(zone.id)", 2)) \(zone.name)", zones[zone.id] ?? Sum())
    }
    print("programs")
    for program in scenario.records.programs {
      row("\(SprinklerWords.right("\(program.id)", 2)) \(program.name)", programs[program.id] ?? Sum())
    }
    row("   by hand", byHand)
    print("outcomes: \(words(outcomes))")
  }
}
