import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("A sprinkler's days in simulated time", .ownThread)
struct SprinklerScenarioTests {
  private static func read(_ text: String) throws -> Scenario<SprinklerScenario> {
    try Scenario(try YAMLFile(text: text, name: "s.yaml"))
  }

  private static func play(_ scenario: Scenario<SprinklerScenario>) throws -> (passed: Bool, lines: [String]) {
    var lines: [String] = []
    let passed = try scenario.play { lines.append($0) }
    return (passed, lines)
  }

  private static func errors(_ text: String) -> [String] {
    do {
      _ = try read(text)
      return []
    } catch let errors as ConfigErrors {
      return errors.errors.map(\.description)
    } catch {
      return ["\(error)"]
    }
  }

  /// `TACTUS_REWRITE=1 scripts/swift test --filter SprinklerScenarioTests` rewrites the calendar, and then the difference is read
  /// line by line.
  @Test("config/scenarios/sprinkler-year.yaml: everything holds, and the calendar is the one that was read")
  func year() throws {
    let file = try YAMLFile(
      path: repository.appending(path: "config/scenarios/sprinkler-year.yaml").path(percentEncoded: false))
    #expect(SprinklerScenario.reads(file))
    let scenario = try Scenario<SprinklerScenario>(file)
    let setup = scenario.setup
    #expect(setup.records.programs.count == 20 && setup.records.zones.count == 16 && setup.days == 365)
    let (passed, lines) = try Self.play(scenario)
    #expect(passed)
    let calendar = lines.joined(separator: "\n") + "\n"
    let golden = repository.appending(path: "Tests/SprinklerTests/Daemon/sprinkler-year.txt")
    if ProcessInfo.processInfo.environment["TACTUS_REWRITE"] != nil {
      try calendar.write(to: golden, atomically: true, encoding: .utf8)
    }
    let known = try String(contentsOf: golden, encoding: .utf8)
    let differing = zip(known.split(separator: "\n"), calendar.split(separator: "\n")).first { $0 != $1 }
    #expect(calendar == known, "was, is: \(differing.map { "\($0.0) | \($0.1)" } ?? "another number of lines")")
  }

  private static let small = """
    seed: 1
    sprinkler:
      time_zone: Europe/Berlin
      from: 2026-03-27
      days: 5
      zones: [{ name: lawn }, { name: beds }]
      programs:
        - { name: flush, days: daily, starts: ["02:30"], steps: [[1, 10], [2, 5]] }
    """

  @Test("five days over the spring gap: a line each, the gap marked, the sums below")
  func spring() throws {
    let (passed, lines) = try Self.play(
      Self.read(
        Self.small
          + "\nevents:\n  - { at: 2026-03-30 01:00, rain_delay_hours: 2 }\n  - { at: 2026-03-31 02:36, power_cut_minutes: 1 }\n"
      ))
    #expect(passed)
    #expect(
      lines.prefix(11) == [
        "s.yaml (seed 1)", "1 programs on 2 zones, Europe/Berlin, 5 days", "", "March 2026",
        "  Fri 27        2 runs     15.0 min", "  Sat 28        2 runs     15.0 min",
        "  Sun 29        2 runs     15.0 min   the clock goes from 02:00 to 03:00",
        "  Mon 30        0 runs      0.0 min   skipped: 2 rain delay", "              01:00 rain delay for 2 h",
        "  Tue 31        3 runs     15.0 min", "              02:36 the power fails for 1.0 min",
      ])
    // Noted at 6 min; up to the next note, which was never written, nobody knows.
    #expect(lines.contains { $0.contains("zone 1 was interrupted after 7.0 min, 3.0 min left: resumed") })
    #expect(lines.dropLast().last?.hasSuffix("everything held") == true)
  }

  @Test("expectations at local times: what has run and flowed so far; an event after the last day fails")
  func expectations() throws {
    let (passed, lines) = try Self.play(
      try Self.read(
        Self.small + """

          events: [{ at: 2026-04-01 00:01, stop: true }]
          expect:
            - { at: 2026-03-28 00:00, runs: 2, skipped: 0, minutes: 15 }
            - { at: 2026-03-29 12:00, runs: 6, minutes: [0, 20] }
          """))
    #expect(!passed)
    #expect(
      lines.filter { $0.contains("FAILED") } == [
        "212400.000 s  FAILED      minutes: expected 0…20, got 45",
        "428460.000 s  FAILED      after the end of the scenario: never happened",
      ])
  }

  @Test("a scenario's soil: what a reading changes stands in the calendar; a reading of no plant is an error")
  func soil() throws {
    let text = Self.small.replacing(
      "  zones:", with: "  soil: [{ plant: 3, zones: [1], wet_percent: 60, valid_minutes: 60 }]\n  zones:")
    let (passed, lines) = try Self.play(
      Self.read(
        text + "\nevents:\n  - { at: 2026-03-28 02:00, soil: [3, 71.5] }\n  - { at: 2026-03-30 02:00, soil: [3, 20] }\n"
      ))
    #expect(passed)
    #expect(lines.contains("  Sat 28        1 runs      5.0 min   skipped: 1 wet soil"))
    #expect(lines.contains("              02:30 zone 1: plant 3 read 71.5 % at 2026-03-28 02:00, wet from 60 % on"))
    #expect(lines.contains("              02:30 zone 1: no reading of plant 3 yet: as scheduled"))
    #expect(lines.contains("  Mon 30        2 runs     15.0 min"))
    #expect(
      Self.errors(text + "\nevents: [{ at: 2026-03-28 02:00, soil: [1.5, 71] }]\n").contains {
        $0.contains("events[0].soil: expected a plant's number and 0…100 %, got 1.5 and 71.0")
      })
  }

  @Test("a scenario's topics and comparators: what they say changes runs, and stands in the calendar")
  func otherProbes() throws {
    let text = Self.small.replacing(
      "  zones:",
      with: "  soil: [{ topic: garden/lawn, zones: [1], wet_percent: 60 }, { pin: 23, zones: [2] }]\n  zones:")
    let (passed, lines) = try Self.play(
      Self.read(
        text
          + "\nevents:\n  - { at: 2026-03-28 02:00, soil_percent: 71.5, topic: garden/lawn }\n  - { at: 2026-03-28 02:00, soil_pin: wet, pin: 23 }\n"
      ))
    #expect(passed)
    #expect(lines.contains("              02:00 pin 23 reads wet"))
    #expect(
      lines.contains("              02:30 zone 1: topic garden/lawn read 71.5 % at 2026-03-28 02:00, wet from 60 % on"),
      "\(lines)")
    #expect(lines.contains("              02:30 zone 2: pin 23 read wet at 2026-03-28 02:00"))
  }

  @Test("a scenario's deficits: the weather of the days before decides, and stands in the calendar")
  func deficits() throws {
    let text = Self.small
      .replacing(
        "  zones:",
        with: """
            latitude: 52.5
            longitude: 13.4
            deficits: [{ mm_per_hour: 12, crop_factor: 1, min_deficit_mm: 3 }]
            zones:
          """
      )
      .replacing("{ name: flush,", with: "{ name: flush, adjustment: deficit,")
    let (passed, lines) = try Self.play(
      Self.read(
        text + """

          events:
            - { at: 2026-03-27 01:00, yesterday: [2, 12, 0] }
            - { at: 2026-03-28 01:00, yesterday: [12, 28, 0.4] }

          """))
    #expect(passed)
    #expect(lines.contains("              01:00 weather of 2026-03-27: 12…28 °C, 0.4 mm"))
    #expect(
      lines.contains("              02:30 zone 1: 3.1 mm since Fri 2026-03-27: ET 3.5, rain 0.4, watered 0"), "\(lines)"
    )
    #expect(lines.contains("  Fri 27        1 runs      5.0 min   skipped: 1 no deficit"))
    #expect(
      Self.errors(text + "\nevents: [{ at: 2026-03-28 02:00, yesterday: [12, 8, 0] }]\n").contains {
        $0.contains("events[0].yesterday: expected the lowest and the highest temperature and the rain")
      })
  }

  @Test("a scenario's rain sensor: what it suppresses and what it says stand in the calendar")
  func rainSensor() throws {
    let text = Self.small.replacing("  zones:", with: "  rain_sensor_dry_hours: 1\n  zones:")
    let (passed, lines) = try Self.play(
      Self.read(
        text + """

          events:
            - { at: 2026-03-28 02:00, rain_sensor: wet }
            - { at: 2026-03-28 04:00, rain_sensor: dry }
            - { at: 2026-03-30 02:00, rain_sensor: unreadable }

          """))
    #expect(passed)
    #expect(lines.contains("              02:00 rain sensor: wet"))
    #expect(lines.contains("              02:00 rain sensor: unknown"))
    #expect(lines.contains { $0.contains("Sat 28") && $0.contains("rain delay") }, "\(lines)")
    #expect(lines.contains("  Mon 30        2 runs     15.0 min"))
  }

  @Test("the same seed: the same calendar; another seed: another")
  func seeds() throws {
    var scenario = try Self.read(
      Self.small + "\nrandom: { rain_delays: 2, power_cuts: 3, clock_steps: 1, runs_by_hand: 3 }\n")
    let first = try Self.play(scenario).lines
    #expect(try Self.play(scenario).lines == first)
    scenario.seed = 2
    #expect(try Self.play(scenario).lines.dropFirst() != first.dropFirst())
  }

  @Test("a malformed file: every error with its place")
  func malformed() {
    let found = Self.errors(
      """
      sprinkler:
        time_zone: Europe/Berln
        from: 2026-02-30
        days: 0
        programs: [{ name: a, days: [mon, foo], starts: ["25:00"], steps: [[1]] }]
      events: [{ at: today, stop: true }]
      """)
    #expect(found.contains { $0.contains("s.yaml:2") && $0.contains("Europe/Berlin?") && $0.contains("Europe/Berln") })
    let programs = Self.errors(
      """
      sprinkler:
        time_zone: Europe/Berlin
        from: 2026-02-28
        zones: [{ name: lawn }]
        programs:
          - { name: a, days: [mon, foo], starts: ["25:00"], steps: [[1]] }
          - { name: b, days: { every: 3 }, season: [02-30, 03-01], starts: [dawn], step: [] }
      events: [{ at: today, stop: true }, { at: 2026-03-01 05:00 }]
      """)
    let events = Self.errors(
      Self.small + """

        events:
          - { at: 2026-03-28 05:00, run_zone: [65, 5] }
          - { at: 2026-03-28 05:00, stop: true, clock_stands_still: true }
          - { at: 2026-03-26 23:59, stop: true }
        """)
    #expect(
      events == [
        "s.yaml:10:39: events[0].run_zone: expected a zone 1…64 and minutes, got 65.0",
        "s.yaml:11:61: events[1].clock_stands_still: expected none beside stop",
        "s.yaml:12:11: events[2].at: expected a time from 2026-03-27 on, got 2026-03-26 23:59",
      ])
    for part in [
      "sprinkler.programs[0].days[1]", "sprinkler.programs[0].starts[0]", "sprinkler.programs[0].steps[0]",
      "sprinkler.programs[1].days", "sprinkler.programs[1].season", "sprinkler.programs[1].starts[0]",
      "sprinkler.programs[1].step", "events[0].at", "events[1]",
    ] {
      #expect(programs.contains { $0.contains(part) }, "\(part) in \(programs)")
    }
    for start in [
      "sunset+9223372036854775807", "sunrise-9223372036854775808", "sunrise-721",
      "sunset+" + String(repeating: "9", count: 400),
    ] {
      let found = Self.errors(Self.small.replacing("\"02:30\"", with: "\"\(start)\""))
      #expect(found.contains { $0.contains("sprinkler.programs[0].starts[0]: expected a start") }, "\(found)")
    }
    // What only the scheduler can know.
    let unfit = Self.errors(
      """
      sprinkler:
        time_zone: UTC
        from: 2026-01-01
        zones: [{ name: lawn }]
        programs: [{ name: a, days: odd, starts: [sunrise], steps: [[1, 5], [2, 5]] }]
      """)
    #expect(unfit.contains { $0.contains("sprinkler.programs[0].starts[0]") && $0.contains("latitude") })
  }
}
