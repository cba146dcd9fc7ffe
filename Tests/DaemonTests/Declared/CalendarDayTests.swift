import Logging
import Tactus
import Testing
import WallTime

@testable import Service
@testable import TactusDaemon

@Suite("the calendar day of a loop and its desk", .ownThread)
struct CalendarDayTests {
  @Test("noted, it is read in a tick; before that, and when nothing is known, there is none")
  func noted() throws {
    let loops = try HostedDoor<Chime>.mailboxes(state: Chime.initialState, rules: Chime.Rules(), takesRequests: false)
    var ends = loops.loopEnds()
    var days = [ends.day]
    for day in [20_000, nil] {
      loops.noteDay(day)
      days.append(ends.day)
    }
    #expect(days == [nil, 20_000, nil])
  }

  @Test("in a daemon: none until the clock is confirmed, again after it was set; then that of the machine's zone")
  func confirmed() throws {
    let seconds = Guarded<(wall: Int64, boot: Int64)>((0, 0))
    let clock = WatchedWallClock(boot: nil) {
      let now = seconds.value
      return WallWatch.Sample(
        microseconds: now.wall * 1_000_000, bootTime: .zero + .seconds(now.boot), isSynchronised: true)
    }
    let configuration = try Configuration.read(YAMLFile(text: "motors: { }", name: "c.yaml"), environment: [:])
    let log = ProgramLog(format: .json, level: .critical, console: false, secrets: [])
    let bell = try Doorbell()
    let surroundings = SystemSurroundings(
      configuration: configuration, store: nil, simulate: true, bell: bell.button, clock: clock,
      zone: ZoneRules(identifier: "+10:00", isNamed: false, firstOffsetSeconds: 36_000, transitions: []),
      logger: log.logger("test"), log: log, madeSafe: nil, endedWithoutStop: false, portOwners: PortOwners())
    let configured = try ConfiguredSystem<Chime>()
    let loops = try HostedDoor<Chime>.mailboxes(state: Chime.initialState, rules: Chime.Rules())
    let wanted = HostedRules<Chime>(Chime.Wiring(), from: Chime.Rules(), inFile: Chime.Rules(), loops.rules)
    let requests = HostedDoor<Chime>.requests(of: "chime", loops)
    let beside = try BesideLoops<Chime>(configured, loops, requests, wanted, nil, SharedParts(), surroundings)
    var ends = loops.loopEnds()
    // 13:59 UTC, which is 23:59 there.
    let late: Int64 = 20_000 * 86_400 + 50_340
    let set = late + 5 * 86_400
    for (wall, boot, expected) in [
      (late, 0, nil), (late + 29, 29, nil), (late + 30, 30, 20_000), (late + 59, 59, 20_000), (late + 60, 60, 20_001),
      (set + 61, 61, nil), (set + 91, 91, 20_006),
    ] as [(Int64, Int64, Int?)] {
      seconds.value = (wall, boot)
      beside.beat(Published(at: .zero, isSafe: true, state: Chime.initialState), at: .zero + .seconds(boot))
      let day = ends.day
      #expect(day == expected, "after \(boot) s")
    }
  }

  @Test("in simulated time: from the first tick on; days pass by an event, and none while the clock is not confirmed")
  func scenario() throws {
    let scenario = try Scenario<DeclaredScenario<Doser>>(
      YAMLFile(
        text: """
          doser:
          duration_s: 20
          events:
            - { at_s: 1, call: dose, with: { ml: 40 } }
            - { at_s: 6, call: dose, with: { ml: 20 } }
            - { at_s: 8, clock: unconfirmed }
            - { at_s: 9, days_pass: 2 }
            - { at_s: 10, call: dose, with: { ml: 20 } }
            - { at_s: 12, clock: confirmed }
            - { at_s: 13, call: dose, with: { ml: 20 } }
          expect:
            - { at_s: 0.5, day: 20454 }
            - { at_s: 7, answer: OVER_LIMIT, dosedMl: 40, leftMl: 0, state: idle }
            - { at_s: 11, answer: OVER_LIMIT, day: 20454 }
            - { at_s: 14, answer: accepted, dosedMl: 20, day: 20456 }
          """, name: "s.yaml"))
    var lines: [String] = []
    #expect(try scenario.play { lines.append($0) }, "\(lines)")
    #expect(SimulatedCalendar().day(at: .zero + .seconds(86_400)) == SimulatedCalendar.firstDay + 1)
    #expect(LocalDate(daysSince1970: SimulatedCalendar.firstDay) == LocalDate(year: 2026, month: 1, day: 1))
  }
}
