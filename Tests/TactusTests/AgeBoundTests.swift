import TestSupport
import Testing

@testable import Tactus

/// A random path of data over one to three lanes, among other loops, and what it must be by the ticks alone.
private struct RandomPath {
  struct Node {
    var name: String
    var lane: Int
    var period: Int64
    var cost: Int64
    var phase: Int64?
    var predecessors: [String] = []
  }

  /// Those on the path, in its order; then the others.
  var nodes: [Node] = []
  let length: Int
  let horizon = Nanoseconds.milliseconds(600)

  init(_ random: inout SplitMix64, length: Int? = nil, lanes: Int? = nil, ordered: Bool? = nil) {
    let path = length ?? Int(random.below(3)) + 2
    let laneCount = lanes ?? Int(random.below(3)) + 1
    let others = Int(random.below(5))
    self.length = path
    let isOrdered = (0..<laneCount).map { _ in ordered ?? (random.below(2) == 0) }
    for number in 0..<path + others {
      let lane = number < laneCount ? number % laneCount : Int(random.below(UInt64(laneCount)))
      let period = [1, 2, 4, 5, 8, 10, 20][Int(random.below(7))] * Int64(1_000_000)
      var node = Node(name: "\(number)", lane: lane, period: period, cost: 0)
      let before = number > 0 && number < path ? nodes[number - 1] : nil
      if isOrdered[lane], let before, before.lane == lane {
        node.predecessors = [before.name]
        if random.below(2) == 0 { node.period = before.period * Int64(random.below(3) + 1) }
      }
      node.cost = Int64(random.below(UInt64(node.period) / UInt64(path + others))) + 1
      if !isOrdered[lane] || random.below(3) == 0 && number >= path {
        node.phase = Int64(random.below(UInt64(period)))
      }
      nodes.append(node)
    }
  }

  /// The loops' ticks and what the last one's age says after a run; `nil` if it has no bound.
  func run(seed: UInt64) throws -> (age: AgeStatistics, ticks: [Tick])? {
    let log = Log()
    let mailboxes = nodes.map { _ in Latest(Number(initially: 0)) }
    let age = DataAge("path", path: nodes[..<(length - 1)].map(\.name))
    func loop(_ number: Int) -> Loop {
      let node = nodes[number]
      let noted = Noted(number: number, log: log)
      let body: LoopBody =
        switch number {
        case 0: LoopBody { Sensor(noted: noted, output: mailboxes[0].writer()) }
        case length - 1:
          LoopBody { Actuator(noted: noted, input: mailboxes[number - 1].reader(), age: age.meter()) }
        case 1..<length:
          LoopBody {
            Controller(noted: noted, input: mailboxes[number - 1].reader(), output: mailboxes[number].writer())
          }
        default: LoopBody { noted }
        }
      return Loop(
        name: node.name, rate: .period(.nanoseconds(node.period)), phase: node.phase.map { .nanoseconds($0) },
        predecessors: node.predecessors, late: LatenessTests.policies[number % 5], deadline: .seconds(1_000_000),
        executionTime: .nanoseconds(node.cost), tolerance: nil, safeStateAfter: 0, counting: .all, inputs: [],
        minimumInterval: .milliseconds(1), ages: number == length - 1 ? [age] : [], body: .made(body))
    }
    let lanes = Set(nodes.map(\.lane)).sorted()
    let runtime = try Runtime {
      for lane in lanes {
        Lane("\(lane)") { for number in nodes.indices where nodes[number].lane == lane { loop(number) } }
      }
    }
    let simulation = try runtime.simulation(seed: seed)
    simulation.run(for: horizon)
    let found = try #require(runtime.statistics[nodes[length - 1].name]?.ages.first)
    return found.bound == nil ? nil : (found, log.all)
  }

  /// The ages at the ends of the last loop's ticks, from nothing but who ticked when.
  func ages(_ ticks: [Tick]) -> [Int64] {
    var values = [Int64?](repeating: nil, count: length)
    var ages: [Int64] = []
    for tick in ticks where tick.missed < length {
      let number = Int(tick.missed)
      values[number] = number == 0 ? tick.started.nanoseconds : values[number - 1]
      let end = tick.started.nanoseconds + nodes[number].cost
      if number == length - 1, let value = values[number], end <= horizon.count { ages.append(end - value) }
    }
    return ages
  }
}

@Suite("Bound of an age", .ownThread)
struct AgeBoundTests {
  @Test("random paths over lanes: the age measured is that of a replay by hand, and never larger than the bound")
  func bound() throws {
    var bounded = 0
    for seed in UInt64(1)...300 {
      var random = SplitMix64(seed: seed)
      let path = RandomPath(&random)
      guard let (found, ticks) = try path.run(seed: seed) else { continue }
      bounded += 1
      let ages = path.ages(ticks)
      #expect(found.age.count == UInt64(ages.count), "seed \(seed)")
      #expect(found.age.maximum?.count == ages.max() && found.age.minimum?.count == ages.min(), "seed \(seed)")
      #expect(found.age.sum.count == ages.reduce(0, +), "seed \(seed)")
      let bound = try #require(found.bound)
      #expect(ages.allSatisfy { $0 <= bound.count }, "seed \(seed): \(ages.max() as Any) of \(bound), \(path.nodes)")
    }
    #expect(bounded > 200)
  }

  /// The largest part of its bound that a search finds, over paths of two loops.
  private func search(lanes: Int, ordered: Bool, _ isMeant: (RandomPath) -> Bool) throws -> Double {
    var most = 0.0
    for seed in UInt64(1)...400 {
      var random = SplitMix64(seed: seed)
      let path = RandomPath(&random, length: 2, lanes: lanes, ordered: ordered)
      guard isMeant(path), let (found, _) = try path.run(seed: seed) else { continue }
      guard let age = found.age.maximum, let bound = found.bound else { continue }
      most = max(most, Double(age.count) / Double(bound.count))
    }
    return most
  }

  @Test("the bounds are close: of each kind of handover a search finds an age of at least nine tenths")
  func tight() throws {
    let inOrder = try search(lanes: 1, ordered: true) { $0.nodes[1].period % $0.nodes[0].period == 0 }
    let fromMoreUrgent = try search(lanes: 1, ordered: false) { $0.nodes[0].period <= $0.nodes[1].period }
    let fromLessUrgent = try search(lanes: 1, ordered: false) { $0.nodes[0].period > $0.nodes[1].period }
    let overLanes = try search(lanes: 2, ordered: false) { _ in true }
    for found in [inOrder, fromMoreUrgent, fromLessUrgent, overLanes] { #expect(found >= 0.9 && found <= 1) }
  }

  private func step(
    _ period: Int64, _ execution: Int64, _ response: Int64?, _ handover: Planner.Handover = .free
  ) -> Planner.Step {
    Planner.Step(
      period: .milliseconds(period), executionTime: .milliseconds(execution),
      responseTime: response.map { .milliseconds($0) }, handover: handover)
  }

  @Test("the formula: each handover by its kind, orders in a row once, the last tick's own time")
  func formula() {
    func age(_ path: [Planner.Step]) -> Nanoseconds? { Planner.longestAge(along: path) }
    let (one, two) = (step(10, 1, 2), step(20, 3, 6))
    #expect(age([one]) == .milliseconds(1))
    // T(1) + R(1) + C(2)
    #expect(age([one, two]) == .milliseconds(15))
    // T(1) + C(2)
    #expect(age([one, step(20, 3, 6, .fromMoreUrgent)]) == .milliseconds(13))
    #expect(age([one, step(20, 3, 6, .inOrder)]) == .milliseconds(6))
    #expect(age([one, step(20, 3, 6, .inOrder), step(20, 1, 8, .inOrder)]) == .milliseconds(8))
    // R(2) − C(2), then T(2) + R(2) + C(3)
    #expect(age([one, step(20, 3, 6, .inOrder), two]) == .milliseconds(32))
    // T(1) + R(1), then R(3)
    #expect(age([one, two, step(20, 1, 8, .inOrder)]) == .milliseconds(20))
  }

  @Test("no bound: a loop without one on the path, a response as long as the period, nothing at all")
  func none() {
    #expect(Planner.longestAge(along: []) == nil)
    #expect(Planner.longestAge(along: [step(10, 1, nil), step(10, 1, 2)]) == nil)
    #expect(Planner.longestAge(along: [step(10, 1, 2), step(10, 1, 10)]) == nil)
    #expect(Planner.longestAge(along: [step(10, 1, 2), step(10, 1, 9)]) == .milliseconds(13))
  }

  @Test(
    "measured execution times: no bound before every loop of the lane has ticked, then one that says it is measured")
  func measured() throws {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    let runtime = try Runtime {
      Lane("a") {
        Loop("sensor", every: .hertz(100), phase: .zero) {
          Sensor(noted: Noted(number: 0, log: log), output: latest.writer())
        }
        Loop("motors", every: .hertz(100), after: "sensor", ages: [age]) {
          Actuator(noted: Noted(number: 1, log: log), input: latest.reader(), age: age.meter())
        }
        Loop("slow", every: .hertz(1), phase: .milliseconds(505)) { Idle() }
      }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "sensor", at: TickInstant(nanoseconds: 100_000_000), by: .milliseconds(2))
    simulation.run(for: .milliseconds(500))
    #expect(try #require(runtime.statistics["motors"]?.ages.first).bound == nil)
    simulation.run(for: .milliseconds(10))
    let found = try #require(runtime.statistics["motors"]?.ages.first)
    #expect(found.bound == .milliseconds(2) && found.isBoundMeasured)
    // Nobody declared how long a tick may take, so this one makes the bound larger.
    simulation.stall(loop: "slow", at: TickInstant(nanoseconds: 1_505_000_000), by: .milliseconds(6))
    simulation.run(for: .seconds(2))
    #expect(try #require(runtime.statistics["motors"]?.ages.first).bound == .milliseconds(8))
  }

  @Test(
    "declared execution times hold whatever was measured; one of the lane that is not declared is told",
    arguments: [true, false])
  func declared(neighbourIsDeclared: Bool) throws {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    let runtime = try Runtime {
      Lane("a") {
        Loop("sensor", every: .hertz(100), executionTime: .microseconds(10)) {
          Sensor(noted: Noted(number: 0, log: log), output: latest.writer())
        }
        Loop("motors", every: .hertz(100), after: "sensor", executionTime: .microseconds(10), ages: [age]) {
          Actuator(noted: Noted(number: 1, log: log), input: latest.reader(), age: age.meter())
        }
        Loop("other", every: .hertz(10), executionTime: neighbourIsDeclared ? .microseconds(10) : nil) { Idle() }
      }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "sensor", at: TickInstant(nanoseconds: 500_000_000), by: .milliseconds(3))
    simulation.run(for: .seconds(1))
    let found = try #require(runtime.statistics["motors"]?.ages.first)
    #expect(found.isBoundMeasured == !neighbourIsDeclared && found.age.maximum! > .milliseconds(3))
    #expect(found.bound == (neighbourIsDeclared ? .microseconds(30) : .microseconds(20)))
  }

  @Test("data from outside, the formula: a period and the response, or what releases the loop at once")
  func outsideFormula() {
    func age(_ step: Planner.Step, _ interval: Int64? = nil) -> Nanoseconds? {
      Planner.longestAge(ofArrivalsAt: step, releasingAtMostEvery: interval.map { .milliseconds($0) })
    }
    // T + R; max(m, C) + C; the smaller one.
    #expect(age(step(20, 3, 6)) == .milliseconds(26))
    #expect(age(step(20, 3, 6), 5) == .milliseconds(8))
    #expect(age(step(20, 3, 6), 2) == .milliseconds(6))
    #expect(age(step(20, 3, 6), 100) == .milliseconds(26))
    #expect(age(step(20, 3, nil), 5) == nil && age(step(20, 3, 20), 5) == nil && age(step(20, 3, 19), 5) != nil)
  }

  /// Takes everything that has come, and tells the oldest.
  private struct Arrivals: ~Copyable, ControlLoop, NoOutput {
    var ring: RingReader<Number>
    let age: AgeMeter

    mutating func tick(_ tick: Tick) {
      while let number = ring.pop() { age.uses(number) }
    }
  }

  /// What a search over seeds finds of arrivals at random instants: the largest part of its bound that an age had, and the bound
  /// of the first.
  private func arrivals(
    _ arrival: DataAge.Arrival, neighbour: Bool = false, isRinging: Bool = true
  ) throws -> (part: Double, bound: Nanoseconds?) {
    var found: (part: Double, bound: Nanoseconds?) = (0, nil)
    for seed in UInt64(1)...20 {
      var random = SplitMix64(seed: seed)
      let (ring, input) = (Ring<Number>(capacity: 64), SimulatedInput())
      let age = DataAge("arrival", fromOutside: arrival)
      let runtime = try Runtime {
        Lane("a") {
          Loop(
            "l", every: .hertz(50), executionTime: .microseconds(700), inputs: isRinging ? [.simulated(input)] : [],
            minimumInterval: .milliseconds(2), ages: [age]
          ) { Arrivals(ring: ring.reader(), age: age.meter()) }
          if neighbour { Loop("m", every: .hertz(10), executionTime: .milliseconds(4)) { Idle() } }
        }
      }
      let simulation = try runtime.simulation(seed: seed)
      var writer = ring.writer()
      var instant: Int64 = 0
      for _ in 0..<200 {
        // In bursts, and far apart.
        instant += Int64(random.below(random.below(3) == 0 ? 30_000_000 : 2_500_000)) + 1
        simulation.run(until: TickInstant(nanoseconds: instant))
        _ = writer.push(Sampled(0, at: TickInstant(nanoseconds: instant)))
        input.ring(at: TickInstant(nanoseconds: instant))
      }
      let statistics = try #require(runtime.statistics["l"]?.ages.first)
      if found.bound == nil { found.bound = statistics.bound }
      guard let bound = statistics.bound, let most = statistics.age.maximum else { continue }
      #expect(most <= bound, "seed \(seed)")
      found.part = max(found.part, Double(most.count) / Double(bound.count))
    }
    return found
  }

  @Test("data from outside at random instants: never older than the bound, and a search comes to nine tenths of it")
  func outside() throws {
    let releasing = try arrivals(.releasesLoop)
    #expect(releasing.bound == .microseconds(2_700) && releasing.part >= 0.9)
    // With another loop in the lane only the period is sure.
    let shared = try arrivals(.releasesLoop, neighbour: true)
    #expect(shared.bound == .microseconds(24_700))
    let waiting = try arrivals(.awaitsLoop, isRinging: false)
    #expect(waiting.bound == .microseconds(20_700) && waiting.part >= 0.9)
    #expect(try arrivals(.unknown).bound == nil)
  }

  /// Uses the newest number, at its period and by a deadline of its own 3 ms later.
  private struct Twice: ~Copyable, ControlLoop, NoOutput {
    var input: LatestReader<Number>
    let age: AgeMeter
    var nextDeadline: TickInstant?

    mutating func tick(_ tick: Tick) {
      age.uses(input.read())
      if case .period = tick.cause { nextDeadline = tick.started + .milliseconds(3) } else { nextDeadline = nil }
    }
  }

  @Test("released by a deadline, too: the bound is that of data from a more urgent loop")
  func deadlines() throws {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    let runtime = try Runtime {
      Lane("a") {
        Loop("sensor", every: .hertz(100), executionTime: .microseconds(10)) {
          Sensor(noted: Noted(number: 0, log: log), output: latest.writer())
        }
        Loop("motors", every: .hertz(100), after: "sensor", executionTime: .microseconds(10), ages: [age]) {
          Twice(input: latest.reader(), age: age.meter())
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(for: .milliseconds(95))
    let found = try #require(runtime.statistics["motors"]?.ages.first)
    #expect(found.age.maximum! > .milliseconds(3) && found.bound == .microseconds(10_010))
  }

  @Test("released by an input, too: data may be a period old, and the bound says so")
  func inputs() throws {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    let input = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop("sensor", every: .hertz(100), executionTime: .microseconds(10)) {
          Sensor(noted: Noted(number: 0, log: log), output: latest.writer())
        }
        Loop(
          "motors", every: .hertz(100), after: "sensor", executionTime: .microseconds(10),
          inputs: [.simulated(input)], ages: [age]
        ) {
          Actuator(noted: Noted(number: 1, log: log), input: latest.reader(), age: age.meter())
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: TickInstant(nanoseconds: 95_000_000))
    input.ring(at: TickInstant(nanoseconds: 99_000_000))
    simulation.run(until: TickInstant(nanoseconds: 99_500_000))
    let found = try #require(runtime.statistics["motors"]?.ages.first)
    #expect(found.age.maximum == .microseconds(9_010) && found.bound == .microseconds(10_010))
  }
}
