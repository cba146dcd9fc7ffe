import Sprinkler
import TactusDaemon
import WallTime

/// The calendar of a scenario: for each day the runs, the skipped runs with the reasons, and the events; then the totals.
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
  private let setup: SprinklerScenario.Setup
  private var days: [LocalDate: Day] = [:]
  private var zones: [ZoneID: Sum] = [:]
  private var programs: [Int: Sum] = [:]
  private var byHand = Sum()
  private var outcomes: [RunOutcome: Int] = [:]

  init(_ setup: SprinklerScenario.Setup) { self.setup = setup }

  var zone: ZoneRules { setup.settings.zone }

  mutating func note(_ at: WallInstant, _ text: String) {
    let (date, second) = zone.local(at)
    days[date, default: Day()].notes.append("\(SprinklerWords.time(second)) \(text)")
  }

  mutating func add(_ log: [WateringRecord]) {
    for record in log {
      let date = zone.local(record.start).date
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

  func print(_ print: (String) -> Void) {
    print(
      "\(setup.records.programs.count) programs on \(setup.records.zones.count) zones, \(zone.identifier), "
        + "\(setup.days) days")
    var month = Sum()
    for offset in 0..<setup.days {
      let date = setup.from + offset
      if offset == 0 || date.day == 1 {
        print("")
        print("\(Self.months[date.month - 1]) \(date.year)")
        month = Sum()
      }
      let day = days[date] ?? Day()
      printDay(date, day, print)
      month.runs += day.runs
      month.seconds += day.seconds
      if date.day == date.daysInMonth || offset == setup.days - 1 {
        print("  \(TerminalText.left("", 10))\(figures(month.runs, month.seconds))")
      }
    }
    print("")
    printSums(print)
  }

  private func figures(_ runs: Int, _ seconds: Double) -> String {
    "\(TerminalText.right("\(runs)", 5)) runs\(TerminalText.right(SprinklerWords.minutes(seconds), 9)) min"
  }

  private func printDay(_ date: LocalDate, _ day: Day, _ print: (String) -> Void) {
    var line = "  \(ScheduleWords.weekdays[date.weekday]) \(TerminalText.right("\(date.day)", 2))    "
    line += figures(day.runs, day.seconds)
    if !day.skipped.isEmpty { line += "   skipped: \(text(of: day.skipped))" }
    if let change = clockChange(on: date) { line += "   \(change)" }
    print(line)
    for note in day.notes { print("              \(note)") }
  }

  private func text(of counts: [RunOutcome: Int]) -> String {
    counts.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value) \(SprinklerWords.outcome($0.key))" }.joined(separator: ", ")
  }

  /// Returns a description of the hour that the change of the clocks skips or repeats on this date, or `nil` if there is no change.
  private func clockChange(on date: LocalDate) -> String? {
    let (first, last) = (zone.instant(of: date, second: 0), zone.instant(of: date + 1, second: 0))
    guard let change = zone.transitions.first(where: { $0.at > first && $0.at <= last }) else { return nil }
    let before = zone.local(change.at - 1).second + 1
    return "the clock goes from \(SprinklerWords.time(before)) to \(SprinklerWords.time(zone.local(change.at).second))"
  }

  private func printSums(_ print: (String) -> Void) {
    func row(_ name: String, _ sum: Sum) {
      print(
        "  \(TerminalText.left(name, 50))\(figures(sum.runs, sum.seconds))\(TerminalText.right("\(sum.skipped)", 6)) skipped"
      )
    }
    print("zones")
    for zone in setup.records.zones {
      row("\(TerminalText.right("\(zone.id)", 2)) \(zone.name)", zones[zone.id] ?? Sum())
    }
    print("programs")
    for program in setup.records.programs {
      row("\(TerminalText.right("\(program.id)", 2)) \(program.name)", programs[program.id] ?? Sum())
    }
    row("   by hand", byHand)
    print("outcomes: \(text(of: outcomes))")
  }
}
