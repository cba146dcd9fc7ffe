import Sprinkler
import Tactus
import WallTime

/// A small garden in Berlin for tests: zones 1…6 on lines 0…5, the master valve's line 6.
enum Garden {
  static let berlin = (try? ZoneRules(identifier: "Europe/Berlin", years: 2020...2035)) ?? .utc

  static func zone(_ number: Int) -> ZoneID { ZoneID(number)! }

  static func zones(_ change: (inout Zone) -> Void = { _ in }) -> [Zone] {
    (1...6).map { number in
      var zone = Zone(id: zone(number), name: "zone \(number)", gpioPin: number + 9)
      change(&zone)
      return zone
    }
  }

  static var settings: SchedulerSettings {
    SchedulerSettings(
      zone: berlin, pins: [10, 11, 12, 13, 14, 15, 16], masterPin: 16,
      place: GeographicPlace(latitude: 52.52, longitude: 13.405))
  }

  /// Every day at 06:00 zones 1 and 2 for ten minutes each.
  static func program(
    _ id: Int, starts: [StartTime] = [.clock(minute: 360)], steps: [(Int, Int)] = [(1, 600), (2, 600)],
    days: DayRule = .weekdays(127)
  ) -> Program {
    Program(
      id: id, name: "program \(id)", days: days, starts: starts,
      steps: steps.map { Program.Step(zone: zone($0.0), seconds: $0.1) })
  }

  static func records(_ programs: [Program], zones: [Zone] = zones()) -> SprinklerRecords {
    var records = SprinklerRecords()
    records.zones = zones
    records.programs = programs
    records.nextProgram = (programs.map(\.id).max() ?? 0) + 1
    return records
  }

  /// Local time of 2026.
  static func at(_ month: Int, _ day: Int, _ hour: Int, _ minute: Int = 0, _ second: Int = 0) -> WallInstant {
    berlin.instant(of: LocalDate(year: 2026, month: month, day: day), second: hour * 3_600 + minute * 60 + second)
  }

  /// When `scheduler` is started.
  static let start = at(7, 1, 9)

  /// A scheduler that was started at `start`.
  static func scheduler(
    _ programs: [Program] = [], zones: [Zone] = zones(), settings: SchedulerSettings = settings
  ) -> SprinklerScheduler {
    var scheduler = SprinklerScheduler(records(programs, zones: zones), settings: settings)
    _ = scheduler.step(.started, wall: start, monotonic: .zero)
    return scheduler
  }

  /// Steps a scheduler of `scheduler` with a command that comes from "phone" a minute after `start`.
  static func ask(_ scheduler: inout SprinklerScheduler, _ command: SprinklerCommand) -> SprinklerEffects {
    scheduler.step(.command(command, caller: "phone"), wall: start + 60, monotonic: .zero + .seconds(60))
  }

  static func world(
    _ programs: [Program], at start: WallInstant, zones: [Zone] = zones(), settings: SchedulerSettings = settings,
    open: Int = 1, _ change: (inout SprinklerRecords) -> Void = { _ in }
  ) throws -> ScheduleSimulation {
    var records = records(programs, zones: zones)
    change(&records)
    let irrigation = try IrrigationSettings(lineCount: 7, maximumOpen: open, groups: [0: open])
    return ScheduleSimulation(records, settings: settings, irrigation: irrigation, start: start)
  }
}

extension WateringRecord {
  /// `zone seconds outcome local-start`, for reading tests.
  var words: String {
    let (date, second) = Garden.berlin.local(start)
    let time = [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    let seconds = ranSeconds == ranSeconds.rounded() ? "\(Int(ranSeconds))" : "\(ranSeconds)"
    return "\(zone): \(seconds) s \(outcome) \(date) \(time.joined(separator: ":"))"
  }
}

extension SprinklerScheduler {
  /// A step by a clock that has been kept since `monotonic` zero and was not set.
  mutating func step(_ event: SprinklerEvent, wall: WallInstant, monotonic: TickInstant) -> SprinklerEffects {
    step(
      event,
      at: WallReading(
        microseconds: wall.secondsSince1970 * 1_000_000, bootTime: monotonic, isSynchronised: true,
        steady: monotonic - .zero))
  }
}
