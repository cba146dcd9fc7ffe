import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("What the schedule expects", .ownThread)
struct SchedulerPreviewTests {
  private static let now = Garden.at(7, 1, 9)

  @Test("preview: the next starts of all programs with their zones' times, and why some will not happen")
  func preview() throws {
    let zones = Garden.zones { if $0.id == Garden.zone(3) { $0.isEnabled = false } }
    var high = Garden.program(2, steps: [(3, 60), (4, 60)])
    high.priority = 1
    var scheduler = SprinklerScheduler(
      Garden.records([Garden.program(1), high], zones: zones), settings: Garden.settings)
    _ = scheduler.step(.started, wall: Self.now, monotonic: .zero)
    var preview = scheduler.preview(after: Self.now, count: 3)
    #expect(preview.starts.map(\.program) == [2, 1, 2])
    #expect(preview.starts.map(\.at) == [Garden.at(7, 2, 6), Garden.at(7, 2, 6), Garden.at(7, 3, 6)])
    #expect(preview.starts[0].offsetSeconds == 7_200)
    #expect(preview.starts[0].runs.map(\.skipped) == [.disabled, nil])
    #expect(preview.starts[1].runs.map(\.start) == [Garden.at(7, 2, 6, 1), Garden.at(7, 2, 6, 11)])
    _ = scheduler.step(
      .command(.setRainDelay(seconds: 86_400), caller: "phone"), wall: Self.now + 60, monotonic: .zero + .seconds(60))
    preview = scheduler.preview(after: Self.now, count: 3)
    #expect(preview.starts.map(\.isInRainDelay) == [true, true, false])
    #expect(preview.starts[1].runs.allSatisfy { $0.skipped == .rainDelay })
    let next = scheduler.nextStart(after: Self.now)
    #expect(next?.program == 2 && next?.at == Garden.at(7, 3, 6))
    #expect(next?.runs.first { $0.skipped == nil }?.zone == Garden.zone(4))
  }

  @Test("preview in the polar night: the start that does not happen is named")
  func sunless() throws {
    let oslo = try ZoneRules(identifier: "Europe/Oslo", years: 2020...2030)
    var settings = Garden.settings
    settings = SchedulerSettings(
      zone: oslo, pins: settings.pins, place: GeographicPlace(latitude: 69.65, longitude: 18.96))
    var scheduler = SprinklerScheduler(
      Garden.records([Garden.program(1, starts: [.clock(minute: 60), .sunrise(offsetMinutes: 0)])]), settings: settings)
    let noon = oslo.instant(of: LocalDate(year: 2026, month: 12, day: 20), second: 43_200)
    _ = scheduler.step(.started, wall: noon, monotonic: .zero)
    let preview = scheduler.preview(after: noon, count: 2)
    #expect(preview.starts.map(\.key.start) == [.clock(minute: 60), .clock(minute: 60)])
    #expect(preview.sunless.map(\.date.day) == [20, 21, 22])
  }

  // MARK: drafts

  private static let reading = WallReading(
    microseconds: (now + 60).secondsSince1970 * 1_000_000, bootTime: .zero + .seconds(60), isSynchronised: true,
    steady: .seconds(60))

  @Test("a draft beside the programs: it has the next number, and its zones wait for the others'")
  func beside() throws {
    let scheduler = Garden.scheduler([Garden.program(1)])
    let draft = Garden.program(0, steps: [(3, 60)])
    let all = try scheduler.preview(draft: draft, at: Self.reading, count: 2, isAlone: false)
    #expect(all.program.id == 2 && all.next == Garden.at(7, 2, 6))
    #expect(all.preview.starts.map(\.program) == [1, 2] && all.preview.isCut)
    #expect(all.preview.starts[1].runs.map(\.start) == [Garden.at(7, 2, 6, 20)])
    let alone = try scheduler.preview(draft: draft, at: Self.reading, count: 2, isAlone: true)
    #expect(alone.preview.starts.map(\.program) == [2, 2] && alone.preview.isCut)
    #expect(
      alone.preview.starts.flatMap { $0.runs.map(\.start) } == [Garden.at(7, 2, 6, 20), Garden.at(7, 3, 6, 20)])
    let unstarted = SprinklerScheduler(Garden.records([Garden.program(1)]), settings: Garden.settings)
    #expect(try unstarted.preview(draft: draft, at: Self.reading, count: 2, isAlone: false) == all)
  }

  @Test("a draft in the place of a program: it has its number, and the program's own starts are gone")
  func instead() throws {
    let scheduler = Garden.scheduler([Garden.program(1), Garden.program(2, starts: [.clock(minute: 480)])])
    var draft = Garden.program(1, starts: [.clock(minute: 420)])
    var found = try scheduler.preview(draft: draft, at: Self.reading, count: 2, isAlone: false)
    #expect(found.program == draft && found.next == Garden.at(7, 2, 7))
    #expect(found.preview.starts.map(\.at) == [Garden.at(7, 2, 7), Garden.at(7, 2, 8)])
    draft.isEnabled = false
    found = try scheduler.preview(draft: draft, at: Self.reading, count: 2, isAlone: true)
    #expect(found.next == nil && found.preview.starts.isEmpty && !found.preview.isCut)
  }

  @Test("a wrong draft: the refusal of the command that would add it")
  func wrongDraft() throws {
    let scheduler = Garden.scheduler([Garden.program(1)])
    let draft = Garden.program(0, steps: [(9, 60)])
    let refusal = #expect(throws: SprinklerRefusal.self) {
      try scheduler.preview(draft: draft, at: Self.reading, count: 2, isAlone: false)
    }
    var asked = scheduler
    let effects = Garden.ask(&asked, .addProgram(draft))
    #expect(effects.refusal != nil && effects.refusal == refusal)
  }

  @Test("a draft whose next start comes after a thousand others: none is listed, the list is cut, its day is known")
  func farDraft() throws {
    let often = Garden.scheduler([Garden.program(1, starts: (0..<8).map { StartTime.clock(minute: $0 * 60) })])
    let draft = Garden.program(0, days: .interval(days: 365, from: LocalDate(year: 2026, month: 7, day: 1)))
    let found = try often.preview(draft: draft, at: Self.reading, count: 4, isAlone: true)
    #expect(found.preview.starts.isEmpty && found.preview.isCut)
    #expect(found.next == Garden.berlin.instant(of: LocalDate(year: 2027, month: 7, day: 1), second: 21_600))
  }
}
