import CTactus
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Tactus

private func instant(_ milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

/// Hangs in the tick it is told to, as a call that never comes back would, until the gate is opened.
private struct Hanging: ControlLoop {
  let began: DoorbellButton
  let gate: Int32
  let safe: DoorbellButton
  var ticks = 0

  mutating func tick(_ tick: Tick) {
    ticks += 1
    guard ticks == 3 else { return }
    began.ring()
    _ = tactus_eventfd_wait(gate, -1)
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { safe.ring() }
}

/// What a watchdog has told, in order.
private final class Told: Sendable {
  private let list = Mutex<[Watchdog.Event]>([])

  func add(_ event: Watchdog.Event) { list.withLock { $0.append(event) } }
  var all: [Watchdog.Event] { list.withLock { $0 } }
}

@Suite("Ticks that hang", .ownThread)
struct HangTests {
  @Test("a tick of 3 s at 1 kHz: whoever looks sees since when it runs, and pending and missed releases grow")
  func simulated() throws {
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(1000), phase: .zero) { Idle() }
        Loop("slow", every: .hertz(10), phase: .milliseconds(50)) { Idle() }
      }
      Lane("b") { Loop("free", every: .hertz(1000), phase: .zero) { Idle() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(100), by: .seconds(3))
    for end: Int64 in [99, 100, 101, 102, 600, 2000, 3099, 3100] {
      simulation.run(until: instant(end))
      let loop = try #require(runtime.statistics["l"])
      let slow = try #require(runtime.statistics["slow"])
      let hangs = (100..<3100).contains(end)
      #expect(loop.instant == instant(end))
      #expect(loop.running == (hangs ? RunningTick(since: instant(100), isSafeState: false) : nil), "at \(end) ms")
      #expect(slow.running == nil)
      #expect(loop.counters.released == end + 1 && slow.counters.released == (end + 50) / 100, "at \(end) ms")
      let counters = loop.counters
      #expect(counters.released == counters.ran + counters.skipped + counters.pending)
      // 0…100 have run; at 101 the first one waits, and the one that runs is at its deadline, not past it.
      #expect(counters.pending == (hangs ? end - 100 : 0), "at \(end) ms")
      #expect(loop.overdue == (hangs ? max(0, end - 101) : 0), "at \(end) ms")
      #expect(counters.deadlineMisses == (end > 101 ? 1 : 0) && counters.overruns == counters.deadlineMisses)
      #expect(slow.counters.pending == (hangs ? (end + 50) / 100 - 1 : 0), "at \(end) ms")
      #expect(try #require(runtime.statistics["free"]).counters.pending == 0)
    }
    #expect(try #require(runtime.statistics["l"]).counters.skipped == 2_999)
  }

  @Test("a stop while releases wait: all but the newest are given up, as late as they are then")
  func stopWhileWaiting() throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(100), phase: .zero) { Idle() } } }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(100), by: .seconds(3))
    simulation.run(until: instant(2005))
    simulation.stop()
    let loop = try #require(runtime.statistics["l"])
    // 0…100 have run, 110…1990 are given up, 2000 is due.
    #expect(loop.counters.ran == 11 && loop.counters.skipped == 189 && loop.counters.pending == 1)
    #expect(loop.latency.maximum == .milliseconds(1895) && loop.latency.count == 200)
  }

  @Test("runLate: a tick that ends after the simulation's end gives up nothing in it")
  func runLateEnd() throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(100), phase: .zero, late: .runLate) { Idle() } } }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "a", at: instant(85), by: .milliseconds(5))
    simulation.stall(loop: "l", at: instant(91), by: .milliseconds(50))
    simulation.run(until: instant(99))
    let before = try #require(runtime.statistics["l"])
    #expect(before.counters.released == 10 && before.counters.skipped == 0 && before.counters.pending == 0)
    simulation.run(until: instant(200))
    let after = try #require(runtime.statistics["l"])
    #expect(after.counters.released == 21 && after.counters.skipped == 5)
  }

  @Test(
    "a real tick that hangs: reading, stopping with a limit and changing rates come back and name it; it ends, all ends"
  )
  func real() throws {
    let began = try Doorbell()
    let gate = try Doorbell()
    let safe = try Doorbell()
    let otherSafe = try Doorbell()
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(1000), phase: .zero, inputs: []) {
          Hanging(began: began.button, gate: gate.descriptor, safe: safe.button)
        }
      }
      Lane("b") { Loop("m", every: .hertz(1000)) { Bell(ticked: began.button, safe: otherSafe.button) } }
    }
    try runtime.start()
    while runtime.statistics["l"]?.counters.ran != 3 { began.wait() }
    let first = try #require(runtime.statistics["l"])
    let since = try #require(first.running).since
    #expect(first.counters.released == first.counters.ran + first.counters.skipped + first.counters.pending)
    // Every look comes back while the tick hangs; a later one sees more of it.
    var later = first
    while later.counters.pending < first.counters.pending + 20 { later = try #require(runtime.statistics["l"]) }
    #expect(later.running?.since == since && later.overdue >= 19 && later.counters.deadlineMisses >= 1)
    // What a loaded machine had given up before the third tick is all that is.
    #expect(later.counters.skipped == first.counters.skipped)
    #expect(later.counters.released == later.counters.ran + later.counters.skipped + later.counters.pending)
    #expect(runtime.reports.count == 2 && runtime.epoch <= since && runtime.analysis().count == 2)

    let hang = LaneHang(lane: "a", loop: "l", cause: .tick, since: since)
    #expect(throws: RuntimeError.hangs([hang])) { try runtime.setRates(["l": .hertz(500), "m": .hertz(500)]) }
    #expect(runtime.statistics["m"]?.period == .milliseconds(1) && runtime.statistics["l"]?.period == .milliseconds(1))
    // On a loaded machine the lane that does not hang may not have ended within the limit, and is named besides. What hangs is named each time.
    var named: [LaneHang] = []
    let until = MonotonicClock.now + .seconds(60)
    repeat {
      do throws(RuntimeError) {
        try runtime.stop(within: .milliseconds(30))
        named = []
      } catch {
        named = if case .hangs(let lanes) = error { lanes } else { [] }
      }
      #expect(named.contains(hang))
    } while named != [hang] && MonotonicClock.now < until
    #expect(named == [hang])
    #expect(otherSafe.wait(limit: .zero), "the lane that does not hang is in its safe state")
    #expect(!safe.wait(limit: .zero))
    #expect(throws: RuntimeError.alreadyRunning) { try runtime.start() }
    #expect(runtime.statistics["l"]?.running?.since == since)
    gate.button.ring()
    try runtime.stop(within: .seconds(60))
    #expect(safe.wait(limit: .zero))
    let ended = try #require(runtime.statistics["l"])
    #expect(ended.running == nil)
    // What the hang kept waiting has been given up, with its lateness; the newest release may still be due.
    #expect(ended.counters.pending <= 1 && ended.latency.count == UInt64(ended.counters.ran + ended.counters.skipped))
    #expect(try #require(ended.latency.maximum) >= .milliseconds(20))
    #expect(try #require(runtime.statistics["l"]).counters == ended.counters, "what has ended stands still")
  }

  @Test("two threads stop a runtime at once, again and again: both return when it has ended")
  func stopTwice() throws {
    for round in 0..<100 {
      let safe = try Doorbell()
      let runtime = try Runtime {
        Lane("a") { Loop("l", every: .hertz(1000)) { Bell(ticked: safe.button, safe: safe.button) } }
      }
      try runtime.start()
      let both = DispatchGroup()
      for number in 0..<2 {
        DispatchQueue(label: "stop \(number)").async(group: both) { runtime.stop() }
      }
      both.wait()
      #expect(runtime.statistics["l"]?.running == nil, "round \(round)")
      #expect(throws: RuntimeError.ranAlready(loops: ["l"])) { try runtime.start() }
    }
  }

  @Test("the watchdog tells each hang once, and once when it is over, whichever loop and lane")
  func watchdog() throws {
    let told = Told()
    let runtime = try Runtime(watchdog: Watchdog(after: .milliseconds(80)) { told.add($0) }) {
      Lane("a") {
        Loop("l", every: .hertz(100), phase: .zero) { Idle() }
        Loop("m", every: .hertz(10), phase: .milliseconds(5)) { Idle() }
      }
      Lane("b") { Loop("n", every: .hertz(100), phase: .zero) { Idle() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(1000), by: .milliseconds(500))
    simulation.stall(loop: "m", at: instant(2000), by: .milliseconds(80))
    simulation.stall(loop: "m", at: instant(3000), by: .milliseconds(91))
    simulation.oversleep(lane: "b", at: instant(4000), by: .milliseconds(200))
    simulation.run(until: instant(5000))
    // It looks every 10 ms: a hang of 80 ms is none, and one is seen at the first look after 80 ms.
    let first = LaneHang(lane: "a", loop: "l", cause: .tick, since: instant(1000))
    let second = LaneHang(lane: "a", loop: "m", cause: .tick, since: instant(3005))
    let third = LaneHang(lane: "b", loop: "n", cause: .waiting, since: instant(4000))
    #expect(
      told.all == [
        .hangs(first), .isOver(first, at: instant(1500)), .hangs(second), .isOver(second, at: instant(3100)),
        .hangs(third), .isOver(third, at: instant(4200)),
      ])
    #expect(runtime.statistics.loops.map(\.name) == ["l", "m", "n"])
  }

  @Test("a real watchdog tells of a real hang from its own thread, and of its end; stopping ends it, too")
  func realWatchdog() throws {
    let began = try Doorbell()
    let gate = try Doorbell()
    let safe = try Doorbell()
    let heard = try Doorbell()
    let told = Told()
    let button = heard.button
    let watchdog = Watchdog(after: .milliseconds(10)) { event in
      told.add(event)
      button.ring()
    }
    let runtime = try Runtime(watchdog: watchdog) {
      Lane("a") {
        Loop("l", every: .hertz(1000)) {
          Hanging(began: began.button, gate: gate.descriptor, safe: safe.button)
        }
      }
    }
    try runtime.start()
    // A loaded machine may keep the lane waiting before and after; the hang of the third tick is told in any case.
    var since: TickInstant?
    while since == nil {
      #expect(heard.wait(limit: .seconds(60)))
      for case .hangs(let hang) in told.all where hang.cause == .tick { since = hang.since }
    }
    gate.button.ring()
    let hang = LaneHang(lane: "a", loop: "l", cause: .tick, since: try #require(since))
    func isOver(_ event: Watchdog.Event) -> Bool {
      if case .isOver(hang, _) = event { true } else { false }
    }
    while !told.all.contains(where: isOver) { #expect(heard.wait(limit: .seconds(60))) }
    #expect(told.all.count { $0 == .hangs(hang) } == 1 && told.all.count(where: isOver) == 1)
    #expect(runtime.reports.map(\.lane) == ["a", "watchdog"])
    try runtime.stop(within: .seconds(60))
  }
}
