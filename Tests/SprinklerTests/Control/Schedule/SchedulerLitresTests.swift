import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

@Suite("The schedule by litres", .ownThread)
struct SchedulerLitresTests {
  private static func settings(hasFlow: Bool = true) -> SchedulerSettings {
    var settings = Garden.settings
    settings.pulsesPerLitre = hasFlow ? 60 : nil
    return settings
  }

  private static func program(_ litres: Double = 20, seconds: Int = 3_600) -> Program {
    var program = Garden.program(1)
    program.steps = [
      Program.Step(zone: Garden.zone(1), seconds: seconds, litres: litres),
      Program.Step(zone: Garden.zone(2), seconds: 60),
    ]
    return program
  }

  /// The orders and changes of the start at 06:00, and the scheduler after it.
  private static func started(
    _ program: Program = program(), hasFlow: Bool = true, percent: Int = 100, rules: [MoistureRule] = []
  ) -> (scheduler: SprinklerScheduler, effects: SprinklerEffects) {
    var settings = settings(hasFlow: hasFlow)
    settings.moisture = rules
    var records = Garden.records([program])
    records.levels.seasonalPercent = percent
    var scheduler = SprinklerScheduler(records, settings: settings, boot: BootID("1"))
    _ = scheduler.step(.started, wall: Garden.at(7, 1, 5, 59), monotonic: .zero)
    if let probe = rules.first?.probe {
      _ = scheduler.step(
        .moisture([MoistureReading(probe: probe, percent: 90)]), wall: Garden.at(7, 1, 5, 59), monotonic: .zero)
    }
    let effects = scheduler.step(.timePassed, wall: Garden.at(7, 1, 6), monotonic: .zero + .seconds(60))
    return (scheduler, effects)
  }

  private static func runs(_ effects: SprinklerEffects) -> [ZoneRun] {
    effects.orders.compactMap { if case .run(let run, _) = $0 { run } else { nil } }
  }

  private static func log(_ effects: SprinklerEffects) -> [WateringRecord] {
    effects.changes.compactMap { if case .log(let record) = $0 { record } else { nil } }
  }

  @Test("a step by litres: its run has them and its longest time, and the log says both and what flowed")
  func completed() throws {
    var (scheduler, effects) = Self.started()
    let runs = Self.runs(effects)
    #expect(runs.map(\.litres) == [20, nil] && runs.map(\.seconds) == [3_600, 60])
    _ = scheduler.step(.opened(run: runs[0].id), wall: Garden.at(7, 1, 6), monotonic: .zero + .seconds(60))
    effects = scheduler.step(
      .ended(run: runs[0].id, ranSeconds: 120, outcome: .completed, pulses: 1_201), wall: Garden.at(7, 1, 6, 2),
      monotonic: .zero + .seconds(180))
    let line = try #require(Self.log(effects).first)
    #expect(line.askedLitres == 20 && line.litres == 1_201.0 / 60 && line.why == nil)
  }

  @Test("the longest time of a step by litres was over: the log says how much it had")
  func timeLimit() throws {
    var (scheduler, effects) = Self.started()
    let run = Self.runs(effects)[0]
    effects = scheduler.step(
      .ended(run: run.id, ranSeconds: 3_600, outcome: .timeLimit, pulses: 195), wall: Garden.at(7, 1, 7),
      monotonic: .zero + .seconds(3_660))
    #expect(Self.log(effects).map(\.why) == ["3.3 of 20 l in its longest time"])
  }

  @Test("the seasonal level and wet soil scale litres, not the longest time; at 0 % nothing is watered")
  func scaled() {
    #expect(Self.runs(Self.started(percent: 50).effects).map(\.litres) == [10, nil])
    #expect(Self.runs(Self.started(percent: 50).effects).map(\.seconds) == [3_600, 30])
    let rule = MoistureRule(probe: .plant(3), zones: [Garden.zone(1)], wetPercent: 60, effect: .shorten(percent: 30))
    let shortened = Self.runs(Self.started(rules: [rule]).effects)
    #expect(shortened.map(\.litres) == [6, nil] && shortened[0].seconds == 3_600)
    #expect(Self.log(Self.started(percent: 0).effects).map(\.outcome) == [.seasonalLevel, .seasonalLevel])
  }

  @Test("no flow sensor any more: a step by litres lasts its zone's default duration, and log and preview say so")
  func noSensor() throws {
    var (scheduler, effects) = Self.started(hasFlow: false)
    let run = try #require(Self.runs(effects).first)
    #expect(run.litres == nil && run.seconds == 600)
    let why = "no flow sensor: 10 min in place of 20 l"
    let preview = scheduler.preview(after: Garden.at(7, 1, 6, 1), count: 1).starts[0].runs
    #expect(preview.map(\.why) == [why, nil] && preview.map(\.litres) == [nil, nil])
    effects = scheduler.step(
      .ended(run: run.id, ranSeconds: 600, outcome: .completed), wall: Garden.at(7, 1, 6, 11),
      monotonic: .zero + .seconds(700))
    #expect(Self.log(effects).map(\.why) == [why])
  }

  @Test("preview: a run by litres has them, and its zone's longest run where it has no minutes")
  func preview() {
    let (scheduler, _) = Self.started(Self.program(seconds: 86_400))
    let runs = scheduler.preview(after: Garden.at(7, 1, 6, 1), count: 1).starts[0].runs
    #expect(runs.map(\.litres) == [20, nil] && runs.map(\.seconds) == [7_200, 60])
  }

  @Test("by hand: litres with the zone's longest run, or with minutes; without a sensor or out of range refused")
  func byHand() {
    func ask(_ litres: Double, seconds: Int? = nil, hasFlow: Bool = true) -> SprinklerEffects {
      var scheduler = Garden.scheduler(settings: Self.settings(hasFlow: hasFlow))
      return Garden.ask(&scheduler, .zoneOn(Garden.zone(1), seconds: seconds, litres: litres))
    }
    #expect(Self.runs(ask(12)).map(\.seconds) == [7_200] && Self.runs(ask(12)).map(\.litres) == [12])
    #expect(Self.runs(ask(12, seconds: 60)).map(\.seconds) == [60])
    for litres in [0, -1, 0.05, 100_001, 1e300, Double.infinity, .nan] {
      #expect(ask(litres).refusal == .invalid(field: "litres", expected: "0.1…100000", got: "\(litres)"))
    }
    #expect(
      ask(12, hasFlow: false).refusal
        == .invalid(
          field: "litres", expected: "minutes, because there is no flow sensor (sprinkler.flow.pin)", got: "litres"))
    var scheduler = Garden.scheduler(settings: Self.settings())
    let queued = Garden.ask(
      &scheduler, .runOnce([Program.Step(zone: Garden.zone(2), seconds: 86_400, litres: 5)]))
    #expect(Self.runs(queued).map(\.seconds) == [7_200] && Self.runs(queued).map(\.litres) == [5])
  }

  @Test("a schedule by litres out of range, with cycles or by deficits: refused, with the field")
  func validated() {
    func refusal(_ change: (inout Program) -> Void, hasFlow: Bool = true) -> SprinklerRefusal? {
      var program = Self.program()
      change(&program)
      var scheduler = Garden.scheduler(settings: Self.settings(hasFlow: hasFlow))
      return Garden.ask(&scheduler, .addProgram(program)).refusal
    }
    #expect(refusal { _ in } == nil)
    #expect(
      refusal { $0.steps[0].litres = .nan }
        == .invalid(field: "steps[0].litres", expected: "0.1…100000", got: "nan"))
    #expect(refusal({ _ in }, hasFlow: false) != nil)
    let withTime = SprinklerRefusal.invalid(
      field: "steps[0].litres", expected: "minutes in a schedule with cycleAndSoak or adjustment", got: "litres")
    #expect(refusal { $0.adjustment = .deficit } == withTime)
    #expect(refusal { $0.cycleAndSoak = .init(cycleSeconds: 60, soakSeconds: 60) } == withTime)
  }

  @Test("extend does not lengthen a run by litres")
  func extended() {
    var scheduler = Garden.scheduler(settings: Self.settings())
    let run = Self.runs(Garden.ask(&scheduler, .zoneOn(Garden.zone(1), seconds: nil, litres: 12)))[0]
    let refusal = Garden.ask(&scheduler, .zoneExtend(Garden.zone(1), seconds: 60, active: run.id)).refusal
    #expect(
      refusal
        == .invalid(field: "mode", expected: "set, because the zone's run is one of 12 l", got: "extend"))
  }

  @Test("a power cut in a run by litres: the rest has what is missing; without a sensor it does not follow")
  func powerCut() {
    for hasFlow in [true, false] {
      var (scheduler, effects) = Self.started()
      let run = Self.runs(effects)[0]
      let wall = Garden.at(7, 1, 6)
      _ = scheduler.step(.opened(run: run.id), wall: wall, monotonic: .zero + .seconds(60))
      var progress = RunProgress(run: run.id, ranSeconds: 60)
      progress.pulses = 720
      _ = scheduler.step(.progress([progress]), wall: wall + 60, monotonic: .zero + .seconds(120))
      var next = SprinklerScheduler(scheduler.records, settings: Self.settings(hasFlow: hasFlow), boot: BootID("2"))
      effects = next.step(.started, wall: wall + 300, monotonic: .zero)
      #expect(Self.log(effects).map(\.litres).first == 12.0)
      let rest = Self.runs(effects).filter { $0.zone == Garden.zone(1) }
      #expect(rest.map(\.litres) == (hasFlow ? [8] : []))
    }
  }
}
