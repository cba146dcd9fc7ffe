import Dispatch
import TestSupport
import Testing

@testable import Tactus

typealias Number = Sampled<Int64>

/// Measures the number of its tick.
struct Sensor: ~Copyable, ControlLoop, NoOutput {
  var noted: Noted
  var output: LatestWriter<Number>

  mutating func tick(_ tick: Tick) {
    noted.tick(tick)
    output.write(Sampled(tick.index, at: tick))
  }
}

struct Controller: ~Copyable, ControlLoop, NoOutput {
  var noted: Noted
  var input: LatestReader<Number>
  var output: LatestWriter<Number>

  mutating func tick(_ tick: Tick) {
    noted.tick(tick)
    let number = input.read()
    output.write(Sampled(number.value, from: number))
  }
}

struct Actuator: ~Copyable, ControlLoop, NoOutput {
  var noted: Noted
  var input: LatestReader<Number>
  let age: AgeMeter
  /// Ticks from this instant on use nothing.
  var until = TickInstant.distantFuture

  mutating func tick(_ tick: Tick) {
    noted.tick(tick)
    if tick.started < until { age.uses(input.read()) }
  }
}

@Suite("Age of data", .ownThread)
struct AgeTests {
  private func tick(_ milliseconds: Int64) -> Tick {
    let at = TickInstant(nanoseconds: milliseconds * 1_000_000)
    return Tick(index: 0, scheduled: at, started: at)
  }

  @Test("a value is as old as the oldest that it derives from; what derives from something never measured has no age")
  func derived() {
    let (old, new) = (Sampled(1, at: tick(3)), Sampled(2.5, at: tick(5)))
    let never = Sampled(initially: UInt8(0))
    #expect(Sampled(0, from: new).sampledAt == tick(5).started)
    #expect(Sampled(0, from: old, new).sampledAt == tick(3).started)
    #expect(Sampled(0, from: new, old).sampledAt == tick(3).started)
    #expect(Sampled(0, from: new, new, old).sampledAt == tick(3).started)
    #expect(Sampled(0, from: old, new, new).sampledAt == tick(3).started)
    #expect(Sampled(0, from: old, never).sampledAt == nil && Sampled(0, from: never, old, new).sampledAt == nil)
    #expect(Sampled(0, from: old, new, never).sampledAt == nil)
    #expect(Sampled(0, at: TickInstant(nanoseconds: 7)).sampledAt?.nanoseconds == 7)
  }

  /// Sensor and motors at 100 Hz on one lane, each tick 2 µs; the age of what the motors use.
  private func pair(
    ordered: Bool, until: TickInstant = .distantFuture, for duration: Nanoseconds = .seconds(1),
    _ disturb: (Simulation) -> Void = { _ in }
  ) throws -> AgeStatistics {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    let runtime = try Runtime {
      Lane("a") {
        Loop("sensor", every: .hertz(100), executionTime: .microseconds(2)) {
          Sensor(noted: Noted(number: 0, log: log), output: latest.writer())
        }
        Loop(
          name: "motors", rate: .hertz(100), phase: nil, predecessors: ordered ? ["sensor"] : [], late: .skip,
          deadline: nil, executionTime: .microseconds(2), tolerance: nil, safeStateAfter: 0, counting: .all,
          inputs: [], minimumInterval: .milliseconds(1), ages: [age],
          body: .made(
            LoopBody {
              Actuator(
                noted: Noted(number: 1, log: log), input: latest.reader(), age: age.meter(), until: until)
            }))
      }
    }
    let simulation = try runtime.simulation()
    disturb(simulation)
    simulation.run(for: duration)
    return try #require(runtime.statistics["motors"]?.ages.first)
  }

  @Test("two 100 Hz loops of one lane: half a period old by the planner's phases, two ticks' time when ordered")
  func pair() throws {
    let unordered = try pair(ordered: false)
    #expect(unordered.age.minimum == .microseconds(5_002) && unordered.age.maximum == .microseconds(5_002))
    #expect(unordered.bound == .microseconds(10_002) && !unordered.isBoundMeasured)
    let ordered = try pair(ordered: true)
    #expect(ordered.age.minimum == .microseconds(4) && ordered.age.maximum == .microseconds(4))
    #expect(ordered.bound == .microseconds(4))
    #expect(ordered.path == ["sensor", "motors"] && ordered.name == "tilt" && ordered.age.count == 100)
  }

  @Test("a sensor that hangs 95 ms: the motors' next tick says how old its data is, as does who looks meanwhile")
  func hang() throws {
    let instant = TickInstant(nanoseconds: 500_000_000)
    let during = try pair(ordered: true, for: .milliseconds(560)) {
      $0.stall(loop: "sensor", at: instant, by: .milliseconds(95))
    }
    // Nothing has been used since 490 ms.
    #expect(during.age.maximum == .microseconds(4) && during.now == .milliseconds(70))
    #expect(during.sampledAt == TickInstant(nanoseconds: 490_000_000))
    let after = try pair(ordered: true) { $0.stall(loop: "sensor", at: instant, by: .milliseconds(95)) }
    // The sensor's next tick, the newest release that is due, is before that of the motors.
    #expect(after.age.maximum == .microseconds(4))
    let late = try pair(ordered: true) { $0.stall(loop: "motors", at: instant, by: .milliseconds(95)) }
    #expect(late.age.maximum == .microseconds(95_004))
  }

  @Test("a loop that no longer uses anything: no further entries, and the age goes on growing when looked at")
  func stopped() throws {
    let found = try pair(ordered: true, until: TickInstant(nanoseconds: 300_000_000))
    #expect(found.age.count == 30 && found.last == .microseconds(4))
    #expect(found.sampledAt == TickInstant(nanoseconds: 290_000_000) && found.now == .milliseconds(710))
  }

  /// Tells two meters what it is told to.
  private struct User: ~Copyable, ControlLoop, NoOutput {
    let one: AgeMeter
    let other: AgeMeter

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      switch tick.index {
      case 0: one.uses(sampledAt: nil)
      case 1:
        one.uses(sampledAt: tick.started - .milliseconds(1))
        one.uses(sampledAt: tick.started - .milliseconds(3))
        one.uses(sampledAt: tick.started - .milliseconds(2))
      case 2:
        one.uses(sampledAt: nil)
        one.uses(sampledAt: tick.started - .milliseconds(2))
      case 3: other.uses(sampledAt: tick.started)
      default: break
      }
    }
  }

  @Test("of several uses in one tick the oldest counts, never measured before all; a loop's two ages are kept apart")
  func several() throws {
    let (one, other) = (DataAge("one", from: "l"), DataAge("other", from: "l"))
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(100), phase: .zero, executionTime: .milliseconds(1), ages: [one, other]) {
          User(one: one.meter(), other: other.meter())
        }
      }
    }
    let simulation = try runtime.simulation()
    let before = try #require(runtime.statistics["l"]).ages
    #expect(before.allSatisfy { $0.now == nil && $0.last == nil && $0.sampledAt == nil && $0.age.count == 0 })
    simulation.run(for: .milliseconds(5))
    let first = try #require(runtime.statistics["l"]).ages
    #expect(first.map(\.unsampled) == [1, 0] && first[0].now == nil)
    simulation.run(for: .milliseconds(95))
    let ages = try #require(runtime.statistics["l"]).ages
    #expect(ages.map(\.name) == ["one", "other"] && ages.map(\.unsampled) == [2, 0])
    #expect(ages[0].age.minimum == .milliseconds(4) && ages[0].age.count == 1)
    #expect(ages[1].age.maximum == .milliseconds(1) && ages[1].now == .milliseconds(70))
  }

  /// Takes one number from its ring in each tick.
  private struct Queue: ~Copyable, ControlLoop, NoOutput {
    var input: RingReader<Number>
    let age: AgeMeter

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      if let number = input.pop() { age.uses(number) }
    }
  }

  @Test("a value that waited in a ring behind others is as old as it is")
  func ring() throws {
    let (ring, age) = (Ring<Number>(capacity: 8), DataAge("commands", from: "l"))
    var writer = ring.writer()
    for number in Int64(1)...5 {
      _ = writer.push(Sampled(number, at: TickInstant(nanoseconds: number * 1_000_000)))
    }
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(100), phase: .milliseconds(10), ages: [age]) {
          Queue(input: ring.reader(), age: age.meter())
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(for: .milliseconds(100))
    let found = try #require(runtime.statistics["l"]?.ages.first)
    #expect(found.age.minimum == .milliseconds(9) && found.age.maximum == .milliseconds(45) && found.age.count == 5)
  }

  @Test("simulated twice: the second run's ages begin with nothing, and its body has the meter")
  func again() throws {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "sensor", every: .hertz(100), eachRun: { Sensor(noted: Noted(number: 0, log: log), output: latest.writer()) })
        Loop(
          "motors", every: .hertz(100), after: "sensor", ages: [age],
          eachRun: { Actuator(noted: Noted(number: 1, log: log), input: latest.reader(), age: age.meter()) })
      }
    }
    for _ in 0..<2 {
      try runtime.simulate(for: .milliseconds(95))
      #expect(try #require(runtime.statistics["motors"]?.ages.first).age.count == 10)
    }
    _ = try runtime.simulation()
    let empty = try #require(runtime.statistics["motors"]?.ages.first)
    #expect(empty.age.count == 0 && empty.now == nil && empty.age.maximum == nil)
  }

  @Test("simulated again after a run that ended within a tick: what that tick had used is forgotten")
  func againWithinATick() throws {
    let (log, latest, age) = (Log(), Latest(Number(initially: 0)), DataAge("tilt", from: "sensor"))
    var isFirst = true
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "sensor", every: .hertz(100), eachRun: { Sensor(noted: Noted(number: 0, log: log), output: latest.writer()) })
        Loop(
          "motors", every: .hertz(100), after: "sensor", ages: [age],
          eachRun: {
            defer { isFirst = false }
            // In the second run it uses nothing.
            return Actuator(
              noted: Noted(number: 1, log: log), input: latest.reader(), age: age.meter(),
              until: isFirst ? .distantFuture : .zero)
          })
      }
    }
    do {
      let simulation = try runtime.simulation()
      simulation.stall(loop: "motors", at: TickInstant(nanoseconds: 50_000_000), by: .milliseconds(30))
      simulation.run(for: .milliseconds(60))
    }
    try runtime.simulate(for: .milliseconds(95))
    let found = try #require(runtime.statistics["motors"]?.ages.first)
    #expect(found.age.count == 0 && found.last == nil)
  }

  @Test("read at an instant before the last use: by now the data is as old as it was then, not younger")
  func readLate() {
    let age = DataAge("tilt", fromOutside: .unknown)
    age.record.pointee.used.pointee = 100
    age.record.pointee.tickEnded(at: 170)
    #expect(AgeStatistics(age, usedBy: "l", at: TickInstant(nanoseconds: 150)).now == .nanoseconds(70))
    #expect(AgeStatistics(age, usedBy: "l", at: TickInstant(nanoseconds: 190)).now == .nanoseconds(90))
  }

  private func refusal(_ loops: () -> [Loop]) -> String {
    do throws(RuntimeError) { _ = try Runtime { Lane("a", loops: loops) } } catch { return error.description }
    return "none"
  }

  @Test("refused with the reason: no path, a path that does not exist, one name twice, an age that another loop has")
  func refusals() throws {
    func loop(_ name: String, _ ages: [DataAge]) -> Loop { Loop(name, every: .hertz(10), ages: ages) { Idle() } }
    #expect(refusal { [loop("l", [DataAge("x")])] } == "loop \"l\": its age \"x\" names no loop that it comes from")
    #expect(
      refusal { [loop("l", [DataAge("x", from: "l", "imu")])] }
        == "loop \"l\": its age \"x\" comes from \"imu\", but no loop has that name")
    #expect(
      refusal { [loop("l", [DataAge("x", from: "l"), DataAge("x", from: "l")])] }
        == "loop \"l\": two of its ages have one name")
    #expect(refusal { [loop("l", [DataAge("x", fromOutside: .awaitsLoop)])] } == "none")
    let age = DataAge("x", from: "l")
    #expect(refusal { [loop("l", [age]), loop("m", [age])] } == "loop \"m\": its age \"x\" is another loop's already")
    // It is free again when the runtime that had it is gone, also one that could not be made.
    for _ in 0..<2 {
      let runtime = try Runtime { Lane("a") { loop("l", [age]) } }
      #expect(refusal { [loop("l", [age])] } == "loop \"l\": its age \"x\" is another loop's already")
      _ = runtime
    }
  }

  @Test("two threads: what is read is of one moment, however fast the lane publishes")
  func threads() {
    let record = UnsafeMutablePointer<AgeRecord>.allocate(capacity: 1)
    record.initialize(to: AgeRecord())
    defer {
      record.deinitialize(count: 1)
      record.deallocate()
    }
    let total: Int64 = 100_000
    let finished = DispatchSemaphore(value: 0)
    nonisolated(unsafe) let shared = record
    DispatchQueue(label: "lane").async {
      for number in 1...total {
        shared.pointee.used.pointee = number
        shared.pointee.tickEnded(at: 3 * number)
      }
      finished.signal()
    }
    var wrong = 0
    var seen: Int64 = 0
    while seen < total {
      let account = record.pointee.account()
      if account.last != 2 * account.sampledAt || account.uses != account.sampledAt || account.uses < seen {
        wrong += 1
      }
      if account.uses > 0, account.most != account.last || account.least != 2 { wrong += 1 }
      seen = account.uses
    }
    finished.wait()
    let (account, ages) = record.pointee.snapshot()
    #expect(wrong == 0 && ages.count == UInt64(total) && ages.maximum?.count == 2 * total && account.uses == total)
  }
}
