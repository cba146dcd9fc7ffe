import TestSupport
import Testing

@testable import Tactus

/// The loops of one lane, release by release, with nothing of the scheduler's arithmetic: which loop ticks when, and what
/// becomes of every release.
private struct OrderModel {
  struct Loop {
    var period: Int64
    var phase: Int64
    var policy: LatePolicy
    var execution: Int64
    var predecessors: [Int]
    var stalls: [(from: Int64, by: Int64)]
    var next: Int64 = 0
    var waiting: [Int64] = []
    var ran: Int64 = 0
    var skipped: Int64 = 0
  }
  struct Tick: Equatable {
    var loop: Int
    var scheduled: Int64
    var started: Int64
  }

  var loops: [Loop]
  var oversleeps: [(from: Int64, by: Int64)]
  private(set) var ticks: [Tick] = []

  init(_ loops: [Loop], oversleeps: [(from: Int64, by: Int64)]) {
    self.loops = loops
    self.oversleeps = oversleeps
    for index in loops.indices { self.loops[index].next = loops[index].phase }
  }

  func comesBefore(_ one: Int, _ other: Int) -> Bool {
    loops[other].predecessors.contains { $0 == one || comesBefore(one, $0) }
  }

  /// Of all orders that are allowed, the one in which the most urgent loop is earliest, then the next one, and so on.
  func ranks() -> [Int] {
    let all = Array(loops.indices)
    func urgency(_ loop: Int) -> Int64 {
      all.filter { $0 == loop || comesBefore(loop, $0) }.map { loops[$0].period }.min()!
    }
    let wanted = all.sorted { (urgency($0), $0) < (urgency($1), $1) }
    let allowed = permutations(all).filter { order in
      all.allSatisfy { place in (place + 1..<all.count).allSatisfy { !comesBefore(order[$0], order[place]) } }
    }
    func places(_ order: [Int]) -> [Int] { wanted.map { order.firstIndex(of: $0)! } }
    return allowed.min { places($0).lexicographicallyPrecedes(places($1)) }!
  }

  private func permutations(_ list: [Int]) -> [[Int]] {
    guard !list.isEmpty else { return [[]] }
    return list.flatMap { first in permutations(list.filter { $0 != first }).map { [first] + $0 } }
  }

  private func taking(_ list: inout [(from: Int64, by: Int64)], at instant: Int64) -> Int64 {
    guard let index = list.firstIndex(where: { $0.from <= instant }) else { return 0 }
    return list.remove(at: index).by
  }

  private mutating func release(until now: Int64) {
    for index in loops.indices {
      while loops[index].next <= now {
        loops[index].waiting.append(loops[index].next)
        loops[index].next += loops[index].period
      }
    }
  }

  private mutating func giveUp(_ count: Int, of loop: Int) {
    loops[loop].waiting.removeFirst(count)
    loops[loop].skipped += Int64(count)
  }

  /// Up to and including `end`; what happens at the end of a tick that ends later does not happen.
  mutating func run(until end: Int64) {
    let order = ranks()
    var now: Int64 = 0
    release(until: now)
    while true {
      if loops.allSatisfy(\.waiting.isEmpty) {
        let next = loops.map(\.next).min()!
        if next > now { now = next + taking(&oversleeps, at: next) }
        release(until: now)
      }
      guard now <= end else { return }
      let index = order.first { !loops[$0].waiting.isEmpty }!
      switch loops[index].policy {
      case .skip: giveUp(loops[index].waiting.count - 1, of: index)
      case .catchUp(let limit): giveUp(max(0, loops[index].waiting.count - Int(limit) - 1), of: index)
      case .runLate: break
      }
      let scheduled = loops[index].waiting.removeFirst()
      ticks.append(Tick(loop: index, scheduled: scheduled, started: now))
      loops[index].ran += 1
      let isLate = now - scheduled > loops[index].period / 10
      now += loops[index].execution + taking(&loops[index].stalls, at: now)
      guard now <= end else { return }
      release(until: now)
      if case .runLate = loops[index].policy, isLate { giveUp(loops[index].waiting.count, of: index) }
    }
  }
}

private struct RandomSet {
  var model: OrderModel
  var horizon: Int64

  init(_ random: inout SplitMix64) {
    let count = Int(random.below(4)) + 2
    let unit: Int64 = 100_000
    let horizon = unit * 4_000
    self.horizon = horizon
    var loops: [OrderModel.Loop] = []
    func disturbances(_ most: UInt64, _ length: Int64) -> [(from: Int64, by: Int64)] {
      (0..<random.below(most)).map { _ in
        (Int64(random.below(UInt64(horizon))), Int64(random.below(UInt64(length))))
      }.sorted { $0.from < $1.from }
    }
    // Declared in any order: a loop may be after one that is declared behind it.
    var places = Array(0..<count)
    for place in places.indices.reversed() { places.swapAt(place, Int(random.below(UInt64(place + 1)))) }
    for number in 0..<count {
      let period = [10, 10, 20, 30, 40, 70, 100][Int(random.below(7))] * unit
      let before = (0..<count).filter { places[$0] < places[number] && random.below(2) == 0 }
      loops.append(
        .init(
          period: period, phase: 0, policy: LatenessTests.policies[Int(random.below(5))],
          execution: random.below(3) == 0 ? 0 : Int64(random.below(UInt64(period) * 2 / UInt64(count))),
          predecessors: before, stalls: disturbances(6, period * 20)))
    }
    model = OrderModel(loops, oversleeps: disturbances(6, unit * 200))
  }
}

@Suite("Order of loops", .ownThread)
struct OrderTests {
  @Test("random sets, policies, overruns and late wake-ups: the ticks are those of a model that knows no arithmetic")
  func model() throws {
    for seed in UInt64(1)...150 {
      var random = SplitMix64(seed: seed)
      var set = RandomSet(&random)
      let log = Log()
      let runtime = try Runtime {
        Lane("a") {
          for (number, loop) in set.model.loops.enumerated() {
            Loop(
              name: "\(number)", rate: .period(.nanoseconds(loop.period)), phase: nil,
              predecessors: loop.predecessors.map { "\($0)" }, late: loop.policy, deadline: .seconds(1_000_000),
              executionTime: nil, tolerance: nil, safeStateAfter: 0, counting: .all, inputs: [],
              minimumInterval: .milliseconds(1), body: .made(LoopBody { Noted(number: number, log: log) }))
          }
        }
      }
      for loop in runtime.statistics.loops {
        set.model.loops[Int(loop.name)!].phase = loop.phase.count
      }
      set.model = OrderModel(set.model.loops, oversleeps: set.model.oversleeps)
      try run(runtime, &set, log: log, seed: seed)
      let ticks = log.all
      for (place, tick) in ticks.enumerated() {
        let loop = Int(tick.missed)
        // What the order says, asked of each tick: nothing that comes before it was due and had not run.
        for before in set.model.loops.indices where set.model.comesBefore(before, loop) {
          let next = ticks[(place + 1)...].first { Int($0.missed) == before }
          let due = next.map {
            $0.scheduled <= tick.started && $0.started > tick.started
              && tick.started - $0.scheduled < .nanoseconds(set.model.loops[before].period)
          }
          #expect(due != true, "seed \(seed): \(loop) at \(tick.started) before \(before)")
        }
      }
    }
  }

  /// Runs set and model, and compares what happened.
  private func run(_ runtime: Runtime, _ set: inout RandomSet, log: Log, seed: UInt64) throws {
    let simulation = try runtime.simulation(seed: seed)
    for (number, loop) in set.model.loops.enumerated() {
      // What a tick takes is injected with each: the planner refuses a lane that it knows to be overloaded.
      for index in runtime.lanes[0].loopNames.indices where runtime.lanes[0].loopNames[index] == "\(number)" {
        runtime.lanes[0].slots[index].simulatedExecution = loop.execution
      }
      for (from, by) in loop.stalls {
        simulation.stall(loop: "\(number)", at: TickInstant(nanoseconds: from), by: .nanoseconds(by))
      }
    }
    for (from, by) in set.model.oversleeps {
      simulation.oversleep(lane: "a", at: TickInstant(nanoseconds: from), by: .nanoseconds(by))
    }
    simulation.run(until: TickInstant(nanoseconds: set.horizon))
    set.model.run(until: set.horizon)
    let found = log.all.map {
      OrderModel.Tick(
        loop: Int($0.missed), scheduled: $0.scheduled.nanoseconds, started: $0.started.nanoseconds)
    }
    let first = zip(found, set.model.ticks).first { $0 != $1 }
    #expect(found.count == set.model.ticks.count && first == nil, "seed \(seed): first difference \(first as Any)")
    for (number, loop) in set.model.loops.enumerated() {
      let counters = try #require(runtime.statistics["\(number)"]).counters
      #expect(counters.ran == loop.ran && counters.skipped == loop.skipped, "seed \(seed), loop \(number)")
      #expect(counters.released == counters.ran + counters.skipped + counters.pending, "seed \(seed), loop \(number)")
      let released = set.horizon < loop.phase ? 0 : (set.horizon - loop.phase) / loop.period + 1
      #expect(counters.released == released, "seed \(seed), loop \(number)")
    }
  }

  private func phases(@LoopBuilder _ loops: () -> [Loop]) throws -> [String: Int64] {
    let runtime = try Runtime { Lane("a", loops: loops) }
    return Dictionary(
      uniqueKeysWithValues: runtime.statistics.loops.map { ($0.name, $0.phase.count / 1_000_000) })
  }

  @Test("phases: tied loops share one, which is the given one wherever it stands; the others keep away from it")
  func phases() throws {
    let tied = try phases {
      Loop("motors", every: .hertz(50), after: "control") { Idle() }
      Loop("log", every: .hertz(100)) { Idle() }
      Loop("sensor", every: .hertz(100)) { Idle() }
      Loop("control", every: .hertz(100), after: "sensor") { Idle() }
    }
    #expect(tied == ["motors": 5, "sensor": 5, "control": 5, "log": 0])
    for place in 0..<3 {
      func phase(_ loop: Int) -> Nanoseconds? { loop == place ? .milliseconds(3) : nil }
      let given = try phases {
        Loop("a", every: .hertz(100), phase: phase(0)) { Idle() }
        Loop("b", every: .hertz(50), phase: phase(1), after: "a") { Idle() }
        Loop("c", every: .hertz(50), phase: phase(2), after: "a") { Idle() }
        Loop("other", every: .hertz(100)) { Idle() }
      }
      #expect(given == ["a": 3, "b": 3, "c": 3, "other": 8], "given to \(place)")
    }
  }

  @Test("the planner's phase for several loops together: each of them keeps away from every loop placed before")
  func together() {
    let phases = Planner.phases(
      periods: [.milliseconds(10), .milliseconds(15), .milliseconds(6)],
      given: [.milliseconds(0), nil, nil], together: [[1, 2]])
    // Against 10 ms: at 15 ms a release comes as near as the phase modulo 5, at 6 ms as the phase modulo 2.
    #expect(phases == [.zero, .milliseconds(1), .milliseconds(1)])
  }

  @Test("a 1 kHz loop after a 100 Hz one: where releases coincide the slow one is first, and as urgent")
  func slowBefore() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") {
        Loop("fast", every: .hertz(1000), after: "slow") { Noted(number: 1, log: log) }
        Loop("between", every: .hertz(500), phase: .zero) { Noted(number: 2, log: log) }
        Loop("slow", every: .hertz(100), phase: .zero) { Noted(number: 0, log: log) }
      }
    }
    try runtime.simulate(for: .milliseconds(11))
    #expect(log.all.map(\.missed) == [0, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 0, 1, 2, 1])
  }

  @Test("a late wake-up: what follows runs behind what it follows, though its own release is the older one")
  func late() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") {
        Loop("sensor", every: .hertz(100)) { Noted(number: 0, log: log) }
        Loop("motors", every: .hertz(50), after: "sensor", late: .catchUp(limit: 3)) { Noted(number: 1, log: log) }
      }
    }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: TickInstant(nanoseconds: 15_000_000), by: .milliseconds(35))
    simulation.run(for: .milliseconds(59))
    // Awake at 55: the sensor's newest release, 50; then the motors' 20 and 40.
    #expect(log.all.map(\.missed) == [0, 1, 0, 0, 1, 1])
    #expect(milliseconds(log.all) == [0, 0, 10, 55, 55, 55])
  }

  private func refusal(_ lanes: () -> [Lane]) -> String {
    do throws(RuntimeError) { _ = try Runtime(lanes: lanes) } catch { return error.description }
    return "none"
  }

  @Test("refused with the reason: an unknown name, another lane, a circle, phases that never meet")
  func refusals() {
    #expect(
      refusal { [Lane("a") { Loop("l", every: .hertz(10), after: "x") { Idle() } }] }
        == "loop \"l\": after \"x\", but no loop has that name")
    #expect(
      refusal {
        [
          Lane("a") { Loop("l", every: .hertz(10), after: "x") { Idle() } },
          Lane("b") { Loop("x", every: .hertz(10)) { Idle() } },
        ]
      }
        == "loop \"l\": after \"x\", which is on lane \"b\": only loops of one lane run in an order. Put both on one lane, or "
        + "hand the values over in a Latest")
    #expect(
      refusal { [Lane("a") { Loop("l", every: .hertz(10), after: "l") { Idle() } }] }
        == "loop \"l\": it would run after itself: \"l\" after \"l\"")
    #expect(
      refusal {
        [
          Lane("a") {
            Loop("x", every: .hertz(10), after: "z") { Idle() }
            Loop("y", every: .hertz(10), after: "x") { Idle() }
            Loop("z", every: .hertz(10), after: "y") { Idle() }
          }
        ]
      } == "loop \"x\": it would run after itself: \"x\" after \"z\" after \"y\" after \"x\"")
    #expect(
      refusal {
        [
          Lane("a") {
            Loop("x", every: .hertz(100), phase: .milliseconds(3)) { Idle() }
            Loop("y", every: .hertz(50), phase: .milliseconds(4), after: "x") { Idle() }
          }
        ]
      }
        == "loop \"y\": after \"x\", but they are never released at one instant: phase 4 ms, every 20 ms, and phase 3 ms, "
        + "every 10 ms. Give both one phase, or none")
    // 3, 13, 23, … and 33, 53, …: they meet.
    #expect(
      refusal {
        [
          Lane("a") {
            Loop("x", every: .hertz(100), phase: .milliseconds(3)) { Idle() }
            Loop("y", every: .hertz(50), phase: .milliseconds(33), after: "x") { Idle() }
          }
        ]
      } == "none")
  }

  @Test("changed rates, at any instant: released in phase again at most two new periods later, the order held")
  func rates() throws {
    for seed in UInt64(1)...60 {
      var random = SplitMix64(seed: seed)
      let log = Log()
      let runtime = try Runtime {
        Lane("a") {
          Loop("0", every: .hertz(100), phase: .milliseconds(4)) { Noted(number: 0, log: log) }
          Loop("1", every: .hertz(100), after: "0", executionTime: .microseconds(10)) { Noted(number: 1, log: log) }
          Loop("2", every: .hertz(50), after: "1") { Noted(number: 2, log: log) }
        }
      }
      let simulation = try runtime.simulation(seed: seed)
      var changedAt: Int64 = 0
      for _ in 0..<8 {
        simulation.stall(loop: "0", at: simulation.now, by: .nanoseconds(Int64(random.below(60_000_000))))
        simulation.run(for: .nanoseconds(Int64(random.below(100_000_000))))
        var rates: [String: Rate] = [:]
        for loop in 0..<3 where random.below(2) == 0 {
          rates["\(loop)"] = .period(.milliseconds(Int64(random.below(30)) + 1))
        }
        try runtime.setRates(rates)
        changedAt = max(simulation.now.nanoseconds, runtime.lanes[0].simulated.pointee.busyUntil)
        let seen = log.all.count
        let periods = runtime.statistics.loops.map(\.period.count)
        simulation.run(for: .milliseconds(400))
        for tick in log.all.dropFirst(seen) {
          let loop = Int(tick.missed)
          guard tick.scheduled.nanoseconds > changedAt + 2 * periods[loop] else { continue }
          #expect(
            (tick.scheduled.nanoseconds - 4_000_000) % periods[loop] == 0, "seed \(seed), \(loop) at \(tick.scheduled)")
        }
        for counters in runtime.statistics.loops.map(\.counters) {
          #expect(counters.released == counters.ran + counters.skipped + counters.pending, "seed \(seed)")
        }
      }
    }
  }

  @Test("a change of rates that leaves an order without meaning is refused, and nothing has changed")
  func rateContradiction() throws {
    let runtime = try Runtime {
      Lane("a") {
        Loop("x", every: .hertz(100), phase: .zero) { Idle() }
        Loop("y", every: .hertz(100), phase: .milliseconds(10), after: "x") { Idle() }
      }
    }
    let error = #expect(throws: RuntimeError.self) { try runtime.setRates(["x": .hertz(50), "y": .hertz(50)]) }
    #expect(error?.description.contains("never released at one instant") == true)
    #expect(runtime.statistics.loops.map(\.period) == [.milliseconds(10), .milliseconds(10)])
  }
}
