import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("What people ask of the schedule", .ownThread)
struct SchedulerCommandTests {
  // MARK: runs by hand

  @Test("zone on: the default or the time asked, now, noted with who asked")
  func zoneOn() {
    var scheduler = Garden.scheduler()
    let effects = Garden.ask(&scheduler, .zoneOn(Garden.zone(2), seconds: nil))
    #expect(
      effects.orders == [
        .run(ZoneRun(id: 1, zone: Garden.zone(2), seconds: 600, source: .manual, ignoresRain: true), .now)
      ])
    #expect(effects.runs == [1])
    #expect(scheduler.records.pending.map(\.caller) == ["phone"])
    #expect(effects.changes.contains(.counters(nextRun: 2, nextProgram: 1)))
    let longer = Garden.ask(&scheduler, .zoneOn(Garden.zone(2), seconds: 7_200))
    #expect(longer.runs == [2])
    #expect(
      Garden.ask(&scheduler, .zoneOn(Garden.zone(2), seconds: 7_201)).refusal
        == .invalid(field: "seconds", expected: "1…7200", got: "7201"))
  }

  @Test("extend: adds to the open run, up to the zone's longest; opens a closed zone")
  func extend() {
    var scheduler = Garden.scheduler()
    _ = Garden.ask(&scheduler, .zoneExtend(Garden.zone(1), seconds: 600))
    _ = scheduler.step(.opened(run: 1), wall: Garden.start + 60, monotonic: .zero + .seconds(60))
    let effects = Garden.ask(&scheduler, .zoneExtend(Garden.zone(1), seconds: 6_600))
    #expect(effects.orders == [.extend(Garden.zone(1), seconds: 6_600)])
    #expect(scheduler.records.pending.first?.askedSeconds == 7_200)
    guard case .invalid("seconds", _, "1")? = Garden.ask(&scheduler, .zoneExtend(Garden.zone(1), seconds: 1)).refusal
    else {
      Issue.record("extended beyond the longest run")
      return
    }
  }

  @Test("extend before its opening was heard of (the master leads): adds to that run, of no other")
  func extendBeforeOpening() {
    var scheduler = Garden.scheduler()
    _ = Garden.ask(&scheduler, .zoneOn(Garden.zone(1), seconds: 600))
    let effects = Garden.ask(&scheduler, .zoneExtend(Garden.zone(1), seconds: 60, active: 1))
    #expect(effects.orders == [.extend(Garden.zone(1), seconds: 60)])
    #expect(scheduler.records.pending.map(\.askedSeconds) == [660])
    // A run that is over by now: the zone is closed.
    let opened = Garden.ask(&scheduler, .zoneExtend(Garden.zone(2), seconds: 60, active: 99))
    #expect(opened.runs == [2] && scheduler.records.pending.map(\.askedSeconds) == [660, 60])
  }

  @Test("what is not there, or may not: a refusal and no effect")
  func refusals() {
    let zones = Garden.zones { if $0.id == Garden.zone(6) { $0.isEnabled = false } }
    var scheduler = Garden.scheduler([Garden.program(1)], zones: zones)
    let before = scheduler.records
    let nine = Program.Step(zone: Garden.zone(9), seconds: 60)
    for (command, refusal) in [
      (SprinklerCommand.zoneOn(Garden.zone(9), seconds: 60), SprinklerRefusal.unknownZone(9)),
      (.zoneOff(Garden.zone(9)), .unknownZone(9)),
      (.zoneOn(Garden.zone(6), seconds: 60), .zoneDisabled(Garden.zone(6))),
      (.runOnce([nine]), .unknownZone(9)),
      (.runNext([]), .invalid(field: "steps", expected: "a list of 1…64", got: "a list of 0")),
      (.runProgram(id: 7), .unknownProgram(7)), (.removeProgram(id: 7), .unknownProgram(7)),
      (.enableProgram(id: 7, true), .unknownProgram(7)), (.remove(run: 3), .unknownRun(3)),
      (.pause(seconds: 0), .invalid(field: "seconds", expected: "1…86400", got: "0")),
      (.setRainDelay(seconds: 1_209_601), .invalid(field: "seconds", expected: "1…1209600", got: "1209601")),
      (.orderPrograms([1, 1]), .invalid(field: "order", expected: "each of the programs [1] once", got: "[1, 1]")),
      (
        .runOnce([Program.Step(zone: Garden.zone(1), seconds: 60), Program.Step(zone: Garden.zone(2), seconds: 0)]),
        .invalid(field: "steps[1].seconds", expected: "1…7200", got: "0")
      ),
    ] {
      let effects = Garden.ask(&scheduler, command)
      #expect(effects.refusal == refusal)
      #expect(effects.changes.isEmpty && effects.orders.isEmpty && effects.runs.isEmpty, "\(command)")
    }
    #expect(scheduler.records == before)
  }

  @Test("an edit is refused at the moment a start is due: nothing has happened, and the start is still to come")
  func refusedEdit() {
    var scheduler = Garden.scheduler([Garden.program(1, starts: [.clock(minute: 541)])])
    let refused = Garden.ask(&scheduler, .enableProgram(id: 7, true))
    #expect(refused.refusal == .unknownProgram(7))
    #expect(refused.changes.isEmpty && refused.orders.isEmpty && refused.notices == [.clockBelieved("synchronised")])
    let effects = scheduler.step(.timePassed, wall: Garden.start + 61, monotonic: .zero + .seconds(61))
    #expect(effects.runs.count == 2)
    // The same by an edit that is taken: the start is dealt with as the program was, then the edit.
    var other = Garden.scheduler([Garden.program(1, starts: [.clock(minute: 541)])])
    #expect(Garden.ask(&other, .enableProgram(id: 1, false)).runs.count == 2)
  }

  @Test("the queue is full: people are told, programs are skipped")
  func fullQueue() {
    var settings = Garden.settings
    settings.queueCapacity = 3
    var scheduler = Garden.scheduler([Garden.program(1, starts: [.clock(minute: 542)])], settings: settings)
    let steps = (1...2).map { Program.Step(zone: Garden.zone($0), seconds: 60) }
    #expect(Garden.ask(&scheduler, .runOnce(steps)).refusal == nil)
    #expect(Garden.ask(&scheduler, .runOnce(steps)).refusal == .queueFull(capacity: 3))
    let effects = scheduler.step(.timePassed, wall: Garden.start + 121, monotonic: .zero + .seconds(121))
    #expect(
      effects.notices == [.programSkipped(id: 1, name: "program 1", due: Garden.start + 120, why: .overlap, runs: 2)])
  }

  @Test("a list next: before everything that waits, in its own order")
  func runNext() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 1))
    world.ask(.runNext([4, 5].map { Program.Step(zone: Garden.zone($0), seconds: 60) }))
    world.ask(.runOnce([Program.Step(zone: Garden.zone(6), seconds: 60)]))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.map(\.zone.number) == [1, 4, 5, 2, 6])
    #expect(world.log.map(\.caller) == [nil, "somebody", "somebody", nil, "somebody"])
    #expect(world.checks.failures.isEmpty)
  }

  @Test("off, skip, remove, clear, stop: each run that ends has its line")
  func ends() throws {
    var world = try Garden.world([Garden.program(1, steps: (1...6).map { ($0, 600) })], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 1))
    world.ask(.zoneOff(Garden.zone(1)))
    world.run(for: .seconds(60))
    world.ask(.skip)
    world.run(for: .seconds(60))
    world.ask(.remove(run: world.stored.pending.first { $0.zone == Garden.zone(5) }!.run))
    world.ask(.clearQueue)
    world.run(for: .seconds(60))
    world.ask(.stopAll)
    #expect(
      world.log.map { "\($0.zone) \($0.ranSeconds) \($0.outcome)" } == [
        "1 60.0 stopped", "2 60.0 stopped", "5 0.0 stopped", "4 0.0 stopped", "6 0.0 stopped", "3 120.0 stopped",
      ])
    #expect(world.stored.pending.isEmpty)
    world.settle()
    #expect(world.checks.failures.isEmpty)
  }

  @Test("pause and resume: what was open goes on for what was left")
  func pause() throws {
    var world = try Garden.world([Garden.program(1)], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    world.ask(.pause(seconds: 1_000))
    world.run(for: .seconds(100))
    world.ask(.resume)
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(world.log.map(\.ranSeconds) == [600, 600])
    world.settle()
    #expect(world.checks.failures.isEmpty)
  }

  @Test("a program by hand: at once, disabled or not, its skipped steps in the log")
  func runProgram() throws {
    var program = Garden.program(1)
    program.isEnabled = false
    let zones = Garden.zones { if $0.id == Garden.zone(2) { $0.isEnabled = false } }
    var world = try Garden.world([program], at: Garden.at(7, 1, 9), zones: zones)
    #expect(world.ask(.runProgram(id: 1)).runs.count == 1)
    world.run(for: .seconds(700))
    #expect(world.log.map(\.outcome) == [.disabled, .completed])
    #expect(world.log.allSatisfy { !$0.isScheduled && $0.program == 1 && $0.caller == "somebody" })
  }

  @Test("the machine refuses a run: it leaves the records, and the log says why")
  func machineRefuses() {
    var scheduler = Garden.scheduler()
    _ = Garden.ask(&scheduler, .zoneOn(Garden.zone(1), seconds: 60))
    let effects = scheduler.step(
      .refused(run: 1, .emergencyStopped), wall: Garden.start + 61, monotonic: .zero + .seconds(61))
    #expect(scheduler.records.pending.isEmpty)
    guard case .log(let record)? = effects.changes.first(where: { if case .log = $0 { true } else { false } }) else {
      Issue.record("no line in the log")
      return
    }
    #expect(record.outcome == .emergencyStop && record.ranSeconds == 0)
  }

  // MARK: programs

  @Test("programs: added, changed, ordered, enabled, removed; numbers are never given twice")
  func programs() {
    var scheduler = Garden.scheduler()
    #expect(Garden.ask(&scheduler, .addProgram(Garden.program(7))).programs == [1])
    #expect(Garden.ask(&scheduler, .importPrograms([Garden.program(0), Garden.program(0)])).programs == [2, 3])
    _ = Garden.ask(&scheduler, .removeProgram(id: 3))
    #expect(Garden.ask(&scheduler, .addProgram(Garden.program(0))).programs == [4])
    _ = Garden.ask(&scheduler, .orderPrograms([4, 1, 2]))
    #expect(scheduler.records.programs.map(\.id) == [4, 1, 2])
    var changed = Garden.program(1, starts: [.clock(minute: 545)])
    changed.name = "new"
    _ = Garden.ask(&scheduler, .replaceProgram(changed))
    #expect(scheduler.records.programs.map(\.name) == ["program 0", "new", "program 0"])
    #expect(scheduler.nextDeadline == Garden.start + 300)
    _ = Garden.ask(&scheduler, .enableProgram(id: 1, false))
    #expect(scheduler.nextDeadline != Garden.start + 300)
  }

  @Test("aliases: no two programs share one; an import leaves a taken one out, a backup with one twice is refused")
  func aliases() {
    func named(_ id: Int, _ alias: String?) -> Program {
      var program = Garden.program(id)
      program.alias = alias
      return program
    }
    var scheduler = Garden.scheduler()
    #expect(Garden.ask(&scheduler, .addProgram(named(0, "A"))).programs == [1])
    guard
      case .invalid("alias", _, "A, which is program 1's")? = Garden.ask(&scheduler, .addProgram(named(0, "A"))).refusal
    else {
      Issue.record("given twice")
      return
    }
    #expect(Garden.ask(&scheduler, .addProgram(named(0, "B"))).programs == [2])
    #expect(Garden.ask(&scheduler, .replaceProgram(named(2, "A"))).refusal != nil)
    #expect(Garden.ask(&scheduler, .replaceProgram(named(2, "B"))).refusal == nil)
    #expect(
      Garden.ask(&scheduler, .importPrograms([named(0, "A"), named(0, "C"), named(0, "C")])).programs == [3, 4, 5])
    #expect(scheduler.records.programs.map(\.alias) == ["A", "B", nil, "C", nil])
    let backup = Garden.records([named(1, "A"), named(2, "A")])
    guard case .invalid("programs[1].alias", _, _)? = Garden.ask(&scheduler, .restore(backup)).refusal else {
      Issue.record("taken")
      return
    }
  }

  @Test("a program without a weekday: kept, and never due")
  func noDay() {
    var scheduler = Garden.scheduler()
    var program = Garden.program(0)
    program.days = .weekdays(0)
    #expect(Garden.ask(&scheduler, .addProgram(program)).programs == [1])
    #expect(scheduler.nextStart(after: Garden.start) == nil)
  }

  @Test("a program that is removed while it runs: its runs end")
  func removeRunning() throws {
    var world = try Garden.world([Garden.program(1), Garden.program(2, steps: [(3, 60)])], at: Garden.at(7, 1, 5, 59))
    world.run(untilWall: Garden.at(7, 1, 6, 5))
    world.ask(.removeProgram(id: 1))
    world.run(untilWall: Garden.at(7, 1, 12))
    #expect(
      world.log.map { "\($0.zone) \($0.ranSeconds) \($0.outcome)" } == [
        "1 300.0 stopped", "2 0.0 stopped", "3 60.0 completed",
      ])
  }

  private static func faulty(_ change: (inout Program) -> Void) -> Program {
    var program = Garden.program(1)
    change(&program)
    return program
  }

  private static let programFaults: [(field: String, program: Program)] = [
    ("name", faulty { $0.name = "" }), ("name", faulty { $0.name = String(repeating: "x", count: 61) }),
    ("name", faulty { $0.name = "a\nb" }), ("days", faulty { $0.days = .weekdays(128) }),
    ("alias", faulty { $0.alias = "7" }), ("alias", faulty { $0.alias = String(repeating: "x", count: 65) }),
    ("days.interval", faulty { $0.days = .interval(days: 0, from: LocalDate(year: 2026, month: 1, day: 1)) }),
    ("days.from", faulty { $0.days = .interval(days: 2, from: LocalDate(year: 2026, month: 2, day: 30)) }),
    ("season.from", faulty { $0.season = Season(from: MonthDay(month: 13, day: 1), to: MonthDay(month: 1, day: 1)) }),
    ("season.to", faulty { $0.season = Season(from: MonthDay(month: 1, day: 1), to: MonthDay(month: 4, day: 31)) }),
    ("starts", faulty { $0.starts = [] }), ("starts[0]", faulty { $0.starts = [.clock(minute: 1_440)] }),
    ("starts[1]", faulty { $0.starts = [.clock(minute: 1), .clock(minute: 1)] }),
    ("starts[0]", faulty { $0.starts = [.sunset(offsetMinutes: 721)] }), ("steps", faulty { $0.steps = [] }),
    ("steps[0].zone", faulty { $0.steps[0].zone = Garden.zone(9) }),
    ("steps[1].seconds", faulty { $0.steps[1].seconds = 0 }),
    ("cycleAndSoak.cycleSeconds", faulty { $0.cycleAndSoak = .init(cycleSeconds: 59, soakSeconds: 0) }),
    ("cycleAndSoak.soakSeconds", faulty { $0.cycleAndSoak = .init(cycleSeconds: 60, soakSeconds: -1) }),
    ("priority", faulty { $0.priority = 101 }),
  ]

  @Test("a program with one value that does not fit: the refusal names the field", arguments: 0..<20)
  func programValidation(index: Int) {
    let (field, program) = Self.programFaults[index]
    #expect(Self.programFaults.count == 20)
    var scheduler = Garden.scheduler([Garden.program(1)])
    for (command, prefix) in [
      (SprinklerCommand.addProgram(program), ""), (.replaceProgram(program), ""),
      (.importPrograms([Garden.program(1), program]), "programs[1]."),
    ] {
      guard case .invalid(let named, let expected, let got)? = Garden.ask(&scheduler, command).refusal else {
        Issue.record("taken: \(program)")
        return
      }
      #expect(named == prefix + field)
      #expect(!expected.isEmpty && !got.isEmpty)
    }
    #expect(scheduler.records.programs == [Garden.program(1)])
  }

  @Test("no place in the configuration: a start by the sun is refused")
  func noPlace() {
    var settings = Garden.settings
    settings.place = nil
    var scheduler = Garden.scheduler(settings: settings)
    guard
      case .invalid("starts[0]", _, _)? = Garden.ask(
        &scheduler, .addProgram(Garden.program(1, starts: [.sunrise(offsetMinutes: 0)]))
      ).refusal
    else {
      Issue.record("taken")
      return
    }
  }
}
