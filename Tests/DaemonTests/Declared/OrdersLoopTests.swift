import Buses
import Foundation
import Logging
import Synchronization
import Tactus
import TestSupport
import Testing
import Wire

@testable import Service
@testable import TactusDaemon

/// The bells of a tower in simulated time, with their desk.
private final class Tower {
  let standIn: StandIn<Chime>
  let desk: ChimeDesk
  let door: any ServedSystem & MetricSource
  private let bell = SimulatedInput()
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = Clock()

  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
    /// Whether an order has rung since the loop's last turn.
    let hasRung = Atomic(false)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  }

  /// - Parameter isDeaf: whether no order wakes the loop, which then takes it in its next period.
  init(isDeaf: Bool = false) throws {
    let (bell, clock) = (bell, clock)
    let standIn = try StandIn(
      Chime.self, ring: { clock.hasRung.store(!isDeaf, ordering: .releasing) }, now: { clock.now })
    self.standIn = standIn
    desk = ChimeDesk(standIn.orders(makesSafe: { $0 == .stop }, mayBeLate: { $0 == .stop }))
    door = standIn.serve(desk).system
    runtime = try Runtime {
      Lane("chime") {
        Loop("chime", every: .period(.seconds(1)), phase: .zero, inputs: [.simulated(bell)]) {
          ChimeLoop(ends: standIn.ends(requestBell: bell.doorbell))
        }
      }
    }
    simulation = try runtime.simulation()
  }

  var now: TickInstant { clock.now }

  /// Time passes, with or without turns of the loop.
  func pass(_ milliseconds: Int64, loopRuns: Bool = true) {
    let end = now + .milliseconds(milliseconds)
    if loopRuns {
      if clock.hasRung.exchange(false, ordering: .acquiringAndReleasing) { bell.ring(at: now) }
      simulation.run(until: end)
    }
    clock.nanoseconds.store(end.nanoseconds, ordering: .releasing)
  }

  func json(_ bytes: [UInt8]) -> JSONValue { JSONValue(json: bytes) ?? .null }
}

@Suite("a desk that orders its loop")
struct OrdersLoopTests {
  @Test("an order: when it is answered, the desk has heard what the loop told before, and its thread hears it, too")
  func heardFirst() throws {
    let tower = try Tower()
    let heard = Mutex<[[Int]]>([])
    for bell in [3, 4] {
      tower.desk.orders.send(.ring(bell)) { [desk = tower.desk] _ in heard.withLock { $0.append(desk.bells) } }
    }
    tower.pass(10)
    #expect(heard.withLock { $0 } == [], "nobody is answered before the main thread has looked")
    let events = tower.standIn.takeAnswers(at: tower.now)
    #expect(heard.withLock { $0 } == [[3, 4], [3, 4]])
    #expect(events.map(\.type) == ["chime.notice", "chime.notice"])
    #expect(tower.standIn.takeAnswers(at: tower.now).isEmpty && tower.desk.bells == [3, 4], "each once")
    #expect(tower.desk.heard.withLock { $0.calls } == 2, "without notices, too")
  }

  @Test("a beat of the service delivers nothing: the main thread alone does, once it has noted what there is to note")
  func heardAtABeat() throws {
    let tower = try Tower()
    tower.desk.orders.send(.ring(1)) { _ in }
    tower.pass(10)
    _ = tower.door.events(at: tower.now, second: false)
    #expect(tower.desk.bells.isEmpty)
    #expect(tower.standIn.takeAnswers(at: tower.now).map(\.type) == ["chime.notice"])
    #expect(tower.desk.bells == [1])
  }

  @Test("queued orders: more than the mailbox has room for, each in its turn, answered together with the last")
  func queued() throws {
    let tower = try Tower()
    tower.pass(10)
    let outcomes = Mutex<[Int]>([])
    tower.desk.orders.queue((1...100).map { .ring($0) }) { all in
      outcomes.withLock { $0.append(all.count { if case .success = $0.result { true } else { false } }) }
    }
    #expect(tower.desk.orders.count == 100)
    tower.desk.orders.sendQueued()
    tower.pass(1)
    tower.standIn.takeAnswers(at: tower.now)
    #expect(tower.desk.bells == Array(1...16), "of 32 places 16 are for stops")
    #expect(outcomes.withLock { $0.isEmpty })
    for _ in 0..<40 where outcomes.withLock({ $0.isEmpty }) {
      tower.desk.orders.sendQueued()
      tower.pass(2)
      tower.standIn.takeAnswers(at: tower.now)
    }
    #expect(outcomes.withLock { $0 } == [100] && tower.desk.bells == Array(1...100))
    #expect(tower.desk.orders.count == 0)
  }

  @Test("a loop that hangs: what was sent is not taken, what waited for room is not sent; no bell rings afterwards")
  func hung() throws {
    let tower = try Tower(isDeaf: true)
    tower.pass(10)
    let codes = Mutex<[String]>([])
    tower.desk.orders.queue((1...20).map { .ring($0) }) { all in
      codes.withLock { codes in
        codes = all.map { if case .failure(let error) = $0.result { error.code } else { "" } }
      }
    }
    tower.desk.orders.sendQueued()
    for _ in 0..<3 {
      tower.pass(500, loopRuns: false)
      tower.standIn.takeAnswers(at: tower.now)
      tower.desk.orders.sendQueued()
    }
    let found = codes.withLock { $0 }
    #expect(found.count == 20 && found.count { $0 == "NOT_TAKEN" } == 16 && found.count { $0 == "BUSY" } == 4)
    tower.pass(1_000)
    tower.standIn.takeAnswers(at: tower.now)
    #expect(tower.desk.bells == [], "the loop is patient for 0.8 s")
  }

  @Test(
    "a mailbox's shape: a loop that is patient for 0.8 s obeys an order of 0.7 s and none of 0.9 s; a stop is never late",
    arguments: [(100, .ring(1), false), (300, .ring(1), true), (100, .stop, true)] as [(Int64, Chime.Order, Bool)])
  func patience(milliseconds: Int64, order: Chime.Order, isObeyed: Bool) throws {
    let tower = try Tower(isDeaf: true)
    tower.pass(milliseconds)
    let verdict = Mutex<Bool?>(nil)
    tower.desk.orders.send(order) { result in
      guard case .success(let answer) = result else { return }
      verdict.withLock { $0 = if case .accepted = answer.verdict { true } else { false } }
    }
    tower.pass(1_010 - milliseconds)
    tower.standIn.takeAnswers(at: tower.now)
    #expect(verdict.withLock { $0 } == isObeyed)
  }

  @Test("a loop that ticks once a second: documents go on between ticks; telemetry is told when there is news")
  func present() throws {
    let tower = try Tower()
    tower.desk.orders.send(.ring(1)) { _ in }
    tower.pass(10)
    tower.standIn.takeAnswers(at: tower.now)
    func left() -> Double? {
      if case .number(let text)? = tower.json(tower.door.state)["leftSeconds"] { Double(text) } else { nil }
    }
    let before = try #require(left())
    tower.pass(500)
    #expect(abs(before - (try #require(left())) - 0.5) < 1e-6)
    func told(_ second: Bool = false) -> [String] {
      tower.door.events(at: tower.now, second: second).map { "\($0.kind) \($0.type)" }
    }
    #expect(told() == ["telemetry chime", "edge hand"])
    #expect(told() == ["edge hand"], "nothing is new")
    #expect(told(true) == ["state chime", "edge hand"])
    let event = try #require(tower.door.events(at: tower.now + .seconds(1), second: true).first)
    guard case .number(let text)? = tower.json(event.body)["leftSeconds"] else { return #expect(Bool(false)) }
    #expect(abs((Double(text) ?? 0) - (before - 1.5)) < 1e-6, "at the instant of the beat")
  }

  @Test("members of the status, a route in the place of a made one, an example of call, a counter of the loop's own")
  func outside() throws {
    let tower = try Tower()
    #expect(tower.door.statusMembers == Array(#"{"rings":0}"#.utf8))
    let paths = tower.door.routes.map { "\($0.method) \($0.path)" }
    #expect(paths == ["GET /api/chime", "POST /api/chime/reset", "POST /api/chime/e-stop"])
    #expect(DeclaredKind(Chime.self).callExamples == ["tower ring"])
    var writer = MetricsWriter()
    tower.door.write(into: &writer)
    #expect(writer.text.contains("tactus_chime_dropped_notices_total 7"))
    #expect(writer.text.components(separatedBy: "\ntactus_chime_dropped_notices_total").count == 2)
  }
}

@Suite("a reload that a loop and a desk share", .ownThread)
struct RuledDeskTests {
  private func hosted() throws -> HostedSystem<Chime> {
    let configuration = try Configuration.read(YAMLFile(text: "motors: { }", name: "c.yaml"), environment: [:])
    let log = ProgramLog(format: .json, level: .critical, console: false, secrets: [])
    let bell = try Doorbell()
    let surroundings = SystemSurroundings(
      configuration: configuration, store: nil, simulate: true, bell: bell.button, clock: WatchedWallClock(),
      zone: .utc, logger: log.logger("test"), log: log, madeSafe: nil, endedWithoutStop: false, portOwners: PortOwners()
    )
    return try #require(try ConfiguredSystem<Chime>().open(surroundings) as? HostedSystem<Chime>)
  }

  private func rules(_ loudness: Int, _ melody: Int) -> Chime.Rules {
    var rules = Chime.Rules()
    (rules.loudness, rules.melody) = (loudness, melody)
    return rules
  }

  private func waits(_ condition: () -> Bool) -> Bool {
    let until = MonotonicClock.now + .seconds(60)
    while !condition() {
      guard MonotonicClock.now < until else { return false }
      sched_yield()
    }
    return true
  }

  @Test("both take it, or neither: the desk is given it at the commit, and it is over when both have it")
  func both() throws {
    let system = try hosted()
    let runtime = try Runtime { system.lane }
    let simulation = try runtime.simulation()
    let desk = try #require((system.door.beside as? HostedDesk<Chime>)?.desk)
    let done = Guarded<(@Sendable () -> Void)?>(nil)
    desk.taking.value = { done.value = $0 }
    func change(_ rules: Chime.Rules) throws -> any RulesChange {
      try #require(HostedSystem.change(system.wanted, system.door.beside, to: rules))
    }

    let refused = try change(rules(2, 3))
    refused.propose()
    #expect(!refused.isPrepared, "the loop has not ticked yet")
    refused.withdraw()
    simulation.run(for: .seconds(1))
    system.door.beside?.thread.finish {}
    #expect(desk.rules == nil && system.door.published.state.loudness == 5)

    let taken = try change(rules(2, 3))
    #expect(taken.keys.map(\.key) == ["chime.loudness", "chime.melody"])
    taken.propose()
    simulation.run(for: .seconds(1))
    #expect(taken.isPrepared && desk.rules == nil)
    taken.commit()
    simulation.run(for: .seconds(1))
    #expect(waits { desk.rules == rules(2, 3) && done.value != nil })
    #expect(system.door.published.state.loudness == 2 && taken.progress == .waiting, "the desk has not taken it")
    done.value?()
    #expect(taken.progress == .taken)
  }

  @Test(
    "several lines in one request: each is claimed and the guard's; what is not off is named; lines beyond the header")
  func outputs() throws {
    let configured = try ConfiguredSystem<Chime>()
    #expect(configured.safeLines.count == 5 && configured.safeLines[1].isActiveLow)
    #expect(configured.claims.map(\.key) == Array(repeating: "chime.first", count: 4) + ["chime.extra"])
    var wiring = Chime.Wiring()
    // Two lines that a bank of 64 has, two that it has not, and one whose place these could have taken.
    (wiring.first, wiring.extra) = (62, GPIOLineName(.offset(61, chip: "c")))
    let simulated = try SimulatedSystem<Chime>(ConfiguredSystem<Chime>(wiring, Chime.Rules()), seed: 1)
    simulated.simulation.run(for: .seconds(1))
    #expect(simulated.isConfirmed)
    // So that it is not stale in the loop's next period.
    simulated.send(.ring(1), makesSafe: true, at: simulated.simulation.now) { _ in }
    simulated.simulation.run(for: .seconds(2))
    #expect(simulated.system.unconfirmed?.message.hasPrefix("chime: not in the safe state: ") == true)
    #expect(simulated.bench.isDriving)
    #expect(
      simulated.bench.makeSafe(at: simulated.simulation.now) && simulated.isConfirmed && !simulated.bench.isDriving)
  }

  @Test("a slow loop whose rate no key sets contradicts no timeout of the guard")
  func slow() throws {
    let configured = try ConfiguredSystem<Chime>()
    let whole = try Configuration.read(YAMLFile(text: "motors: { }", name: "c.yaml"), environment: [:])
    #expect(whole.guardTimeoutSeconds < 2 && configured.plan.drives && configured.rate?.period == .seconds(1))
    #expect(configured.errors(in: whole, at: .none).isEmpty)
  }
}
