import TestSupport
import Testing

@testable import Tactus

/// Says at which instant its deadman expires, and when it has.
private struct Fed: ControlLoop, NoOutput, ~Copyable {
  var deadman = Deadman(timeout: .milliseconds(200))
  var output: LatestWriter<Int64>
  var ticks = 0

  init(output: consuming LatestWriter<Int64>) { self.output = output }

  mutating func tick(_ tick: Tick) {
    if ticks == 0 { deadman.feed(at: tick.started) }
    ticks += 1
    if deadman.hasExpired(at: tick.started) {
      deadman.disarm()
      output.write(tick.started.nanoseconds)
    }
  }

  var nextDeadline: TickInstant? { deadman.expiresAt }
}

@Suite("One run and the next", .ownThread)
struct RunTests {
  @Test(
    "made for each run: after a simulated day a start is as the first one, and the deadman fires 200 ms after its feed")
  func simulateThenStart() throws {
    let output = Latest<Int64>(0)
    let ticked = try Doorbell()
    let button = ticked.button
    struct Ringing: ControlLoop, NoOutput, ~Copyable {
      var fed: Fed
      let ticked: DoorbellButton

      mutating func tick(_ tick: Tick) {
        fed.tick(tick)
        if fed.deadman.fedAt == nil { ticked.ring() }
      }
      var nextDeadline: TickInstant? { fed.nextDeadline }
    }
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .hertz(5), phase: .zero, eachRun: { Ringing(fed: Fed(output: output.writer()), ticked: button) })
      }
    }
    var reader = output.reader()
    for _ in 0..<3 {
      try runtime.simulate(for: .seconds(86_400))
      #expect(reader.read() == 200_000_000)
    }
    ticked.clear()
    try runtime.start()
    #expect(ticked.wait(limit: .seconds(60)))
    runtime.stop()
    #expect(reader.read() >= runtime.epoch.nanoseconds + 200_000_000)
    #expect(reader.version == 4)
  }

  @Test("made once: a second run of any kind is refused by name, and the first one's accounts stay")
  func once() throws {
    let log = Log()
    func runtime() throws -> Runtime {
      try Runtime {
        Lane("a") {
          Loop("once", every: .hertz(10), phase: .zero) { log.loop() }
          Loop("again", every: .hertz(10), phase: .zero, eachRun: { Idle() })
        }
      }
    }
    let simulated = try runtime()
    try simulated.simulate(for: .seconds(1))
    let error = RuntimeError.ranAlready(loops: ["once"])
    #expect(throws: error) { try simulated.start() }
    #expect(throws: error) { try simulated.simulation() }
    #expect(simulated.statistics["once"]?.counters.ran == 11)
    #expect(error.description.contains("loop \"once\"") && error.description.contains("eachRun"))
    let started = try runtime()
    try started.start()
    started.stop()
    #expect(throws: error) { try started.simulation() }
  }

  @Test("ends of mailboxes: the second is had when the first is gone, and goes on where that stopped")
  func ends() {
    let ring = Ring<Int>(capacity: 4)
    let latest = Latest(0)
    var value = latest.reader()
    func run(_ pushed: [Int], popping count: Int) -> [Int?] {
      var (writes, reads) = (0, [Int?]())
      var writer = latest.writer()
      var pushing = ring.writer()
      var popping = ring.reader()
      for element in pushed where pushing.push(element) { writes += 1 }
      for _ in 0..<count { reads.append(popping.pop()) }
      writer.write(writes)
      return reads
    }
    #expect(run([1, 2, 3, 4, 5], popping: 1) == [1])
    #expect(value.read() == 4 && value.version == 1)
    #expect(run([6, 7], popping: 5) == [2, 3, 4, 6, nil])
    #expect(value.read() == 1 && value.version == 2)
  }

  static var flawed: [(Loop, String)] {
    [
      (Loop("l", every: .hertz(0)) { Idle() }, "got 0.0 Hz"),
      (Loop("l", every: .hertz(-3)) { Idle() }, "got -3.0 Hz"),
      (Loop("l", every: .hertz(.nan)) { Idle() }, "got nan Hz"),
      (Loop("l", every: .hertz(.infinity)) { Idle() }, "got inf Hz"),
      (Loop("l", every: .hertz(1_000_001)) { Idle() }, "got 1000001.0 Hz"),
      (Loop("l", every: .hertz(1e-7)) { Idle() }, "got 1e-07 Hz"),
      (Loop("l", every: .period(.zero)) { Idle() }, "got 0 ns"),
      (Loop("l", every: .period(.nanoseconds(999))) { Idle() }, "got 999 ns"),
      (Loop("l", every: .hertz(1), late: .catchUp(limit: -1)) { Idle() }, "got -1"),
      (Loop("l", every: .hertz(1), deadline: .zero) { Idle() }, "a deadline"),
      (Loop("l", every: .hertz(1), executionTime: .nanoseconds(-1)) { Idle() }, "an execution time"),
      (Loop("l", every: .hertz(1), tolerance: .nanoseconds(-1)) { Idle() }, "a tolerance"),
      (Loop("l", every: .hertz(1), safeStateAfter: -1) { Idle() }, "a number of misses"),
      (Loop("l", every: .hertz(1), minimumInterval: .zero) { Idle() }, "a minimum interval"),
      (Loop("l", every: .hertz(1), phase: .seconds(1_000_000_001)) { Idle() }, "a phase"),
    ]
  }

  @Test("a declaration out of range: the runtime throws with the loop and what was asked for")
  func outOfRange() throws {
    for (loop, part) in Self.flawed {
      let error = #expect(throws: RuntimeError.self) { try Runtime { Lane("a") { loop } } }
      guard case .invalidLoop("l", let reason) = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
      #expect(reason.contains(part), "\(reason)")
    }
    for rate in [Rate.hertz(1e-6), .hertz(1e6), .period(.microseconds(1)), .period(.seconds(1_000_000_000))] {
      _ = try Runtime { Lane("a") { Loop("l", every: rate) { Idle() } } }
    }
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(10)) { Idle() } } }
    #expect(throws: RuntimeError.invalidLoop(loop: "l", reason: "a rate is 10⁻⁶…10⁶ Hz, got 0.0 Hz")) {
      try runtime.setRates(["l": .hertz(0)])
    }
    #expect(runtime.statistics["l"]?.period == .milliseconds(100))
  }

  @Test("looked at before anything has happened and before the first release: nothing was released or is overdue")
  func before() throws {
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(50), phase: .milliseconds(3)) { Fed(output: Latest<Int64>(0).writer()) } }
    }
    func expectNothing() throws {
      let statistics = try #require(runtime.statistics["l"])
      #expect(statistics.counters == LoopCounters() && statistics.overdue == 0 && statistics.running == nil)
      #expect(statistics.longestGap == nil)
    }
    try expectNothing()
    let simulation = try runtime.simulation()
    try expectNothing()
    simulation.run(for: .milliseconds(2))
    try expectNothing()
    simulation.run(for: .milliseconds(2))
    #expect(runtime.statistics["l"]?.counters.ran == 1)
    simulation.stop()
  }
}
