import Dispatch
import TestSupport
import Testing

@testable import Tactus

private func instant(_ milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

@Suite("Changes at the edges", .ownThread)
struct RateEdgeTests {
  @Test("a change between two runs of a simulation: nothing happens in its past")
  func notInThePast() throws {
    let log = Log()
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(10), phase: .zero) { log.loop() } } }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(290))
    try runtime.setRates(["l": .hertz(50)])
    simulation.run(until: instant(330))
    #expect(milliseconds(log.all) == [0, 100, 200, 300, 320])
    #expect(try #require(runtime.statistics["l"]).counters.skipped == 0)
  }

  static let policies: [(LatePolicy, ran: Int64, skipped: Int64, pending: Int64)] = [
    (.skip, 2, 3, 0), (.catchUp(limit: 10), 2, 0, 3), (.catchUp(limit: 1), 2, 2, 1),
  ]

  @Test(
    "a change while releases are due: as many are due as before, at the new rate none is invented", arguments: policies)
  func due(policy: LatePolicy, ran: Int64, skipped: Int64, pending: Int64) throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(100), phase: .zero, late: policy) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "l", at: instant(0), by: .milliseconds(47))
    simulation.stall(loop: "l", at: instant(40), by: .milliseconds(1))
    simulation.run(until: instant(20))
    try runtime.setRates(["l": .period(.milliseconds(2))])
    // Busy until 47 with 10, 20, 30 and 40 due; at the new rate the newest is 46.
    simulation.run(until: instant(47))
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.released == 5)
    #expect(counters.ran == ran && counters.skipped == skipped && counters.pending == pending)
    #expect(log.all[1].scheduled == instant(46 - 2 * pending))
    simulation.run(until: instant(60))
    #expect(log.all.last?.scheduled == instant(60))
  }

  @Test("a change before the first release of a long period: the new rate begins at once, in phase with the old one")
  func beforeFirst() throws {
    let log = Log()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .period(.seconds(3600)), phase: .seconds(3000)) { log.loop() } }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(5))
    try runtime.setRates(["l": .hertz(100)])
    simulation.run(until: instant(35))
    #expect(milliseconds(log.all) == [10, 20, 30])
    #expect(log.all.map(\.index) == [0, 1, 2])
  }

  @Test("a new rate brings its own deadline and tolerance; what was declared stays", arguments: [true, false])
  func deadline(beforeStart: Bool) throws {
    let runtime = try Runtime {
      Lane("a") {
        Loop("own", every: .hertz(10), phase: .zero) { Idle() }
        Loop(
          "declared", every: .hertz(10), phase: .milliseconds(50), deadline: .milliseconds(5),
          tolerance: .milliseconds(3)
        ) {
          Idle()
        }
      }
    }
    let rates: [String: Rate] = ["own": .hertz(100), "declared": .hertz(20)]
    if beforeStart { try runtime.setRates(rates) }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(1))
    if !beforeStart { try runtime.setRates(rates) }
    simulation.stall(loop: "own", at: instant(10), by: .milliseconds(11))
    simulation.stall(loop: "declared", at: instant(100), by: .milliseconds(6))
    simulation.run(until: instant(130))
    simulation.oversleep(lane: "a", at: instant(131), by: .milliseconds(2))
    simulation.run(until: instant(149))
    simulation.oversleep(lane: "a", at: instant(149), by: .milliseconds(2))
    simulation.run(until: instant(160))
    let own = try #require(runtime.statistics["own"])
    let declared = try #require(runtime.statistics["declared"])
    #expect(own.period == .milliseconds(10) && declared.period == .milliseconds(50))
    #expect(own.counters.deadlineMisses == 1 && declared.counters.deadlineMisses == 1)
    #expect(own.counters.oversleeps == 2 && declared.counters.oversleeps == 0)
  }
}

@Suite("Under the scheduler", .ownThread)
struct UnderTests {
  @Test("the heap: smallest key first, ties to the smaller loop, whatever is inserted, changed and taken")
  func heap() {
    var random = SplitMix64(seed: 11)
    var heap = ReleaseHeap(capacity: 40)
    var model: [Int: Int64] = [:]
    for step in 0..<20_000 {
      let loop = Int.random(in: 0..<40, using: &random)
      let key = Int64.random(in: 0..<12, using: &random)
      if Int.random(in: 0..<3, using: &random) > 0 {
        heap.update(loop, key: key)
        model[loop] = key
      } else if !model.isEmpty {
        let first = model.min { ($0.value, $0.key) < ($1.value, $1.key) }!
        #expect(heap.removeTop() == first.key, "step \(step)")
        model[first.key] = nil
      }
      let keys = model.values.sorted()
      #expect(heap.topKey == keys.first ?? .max && heap.secondKey == keys.dropFirst().first ?? .max, "step \(step)")
      #expect(heap.count == model.count && heap.contains(loop) == (model[loop] != nil), "step \(step)")
    }
  }

  @Test("accounts are read while they are written: never half of one set and half of another")
  func record() {
    final class Shared: Sendable {
      nonisolated(unsafe) let record = UnsafeMutablePointer<LoopRecord>.allocate(capacity: 1)
    }
    let shared = Shared()
    shared.record.initialize(to: LoopRecord())
    let finished = DispatchSemaphore(value: 0)
    let total: Int64 = 100_000
    DispatchQueue(label: "writer").async {
      for n in 1...total {
        var account = LoopAccount()
        (account.ran, account.skipped, account.byInput, account.safeStates) = (n, n, n, n)
        (account.mostExecution, account.nextRelease, account.deadline) = (n, n, n)
        shared.record.pointee.change()
        shared.record.pointee.latency.record(n)
        shared.record.pointee.publish(&account)
      }
      finished.signal()
    }
    var torn = 0
    var last: Int64 = 0
    while last < total {
      let (account, latency, _) = shared.record.pointee.snapshot()
      last = account.ran
      if last > 0 {
        let values = [
          account.skipped, account.safeStates, account.mostExecution, account.nextRelease, account.deadline,
        ]
        if !values.allSatisfy({ $0 == last }) { torn += 1 }
        // The lane publishes faster than anybody copies a histogram; it is ahead then, never behind.
        if latency.count < UInt64(last) { torn += 1 }
      }
    }
    finished.wait()
    #expect(torn == 0)
    #expect(shared.record.pointee.snapshot().latency.count == UInt64(total))
    shared.record.deinitialize(count: 1)
    shared.record.deallocate()
  }
}

@Suite("What the kernel is asked and asked back", .ownThread)
struct KernelEdgeTests {
  @Test("the thread's own state cannot be read: whoever asked for something is told, nobody else")
  func decline() {
    let asked = LaneSetup.decline(lane: "a", scheduling: .fifo(50), cpus: [1], errno: 38)
    #expect(!asked.isAsRequested && asked.effective == .normal && asked.effectiveCPU == nil)
    #expect(asked.findings[0].description.contains("errno 38"))
    #expect(LaneSetup.decline(lane: "a", scheduling: .normal, cpus: nil, errno: 38).isAsRequested)
    #expect(!LaneSetup.decline(lane: "a", scheduling: .normal, cpus: [0], errno: 38).isAsRequested)
  }

  @Test("500 changes of a lane that ticks all the time: each is taken, whole and once, when the call returns")
  func changes() throws {
    let lane = try LaneRun(
      Lane("a") {
        Loop("beat", every: .period(.microseconds(50)), phase: .zero) { Idle() }
        Loop("l", every: .period(.seconds(1)), phase: .zero) { Idle() }
      }, number: 0)
    lane.prepare(simulating: false)
    _ = try lane.startThread(ControlGroup())
    lane.openGate(epoch: 0)
    for number in 1...500 {
      let period = Nanoseconds.milliseconds(Int64(number))
      #expect(lane.apply([1: period], running: true, within: .seconds(60)))
      let statistics = lane.statistics(of: 1)
      #expect(statistics.period == period && statistics.deadline == period)
    }
    _ = lane.requestStop()
    lane.awaitEnd()
    // Nobody looks into a lane's slots while it runs.
    #expect(lane.slots[1].tolerance == 50_000_000)
    lane.releaseThread()
  }

  @Test("a limit below a millisecond is a wait, not a poll; none is negative, none overflows")
  func doorbellLimit() {
    #expect(Doorbell.milliseconds(.microseconds(1)) == 1)
    #expect(Doorbell.milliseconds(.milliseconds(2)) == 2)
    #expect(Doorbell.milliseconds(.nanoseconds(2_000_001)) == 3)
    #expect(Doorbell.milliseconds(.zero) == 0)
    #expect(Doorbell.milliseconds(.seconds(-1)) == 0)
    #expect(Doorbell.milliseconds(.nanoseconds(.max)) == .max)
  }
}
