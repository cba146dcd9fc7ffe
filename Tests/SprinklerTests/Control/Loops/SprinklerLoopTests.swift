import Buses
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

@Suite(.ownThread) struct SprinklerLoopTests {
  @Test("start: every line off before anything, the first tick says so again and reads it back")
  func start() {
    let bench = SprinklerBench()
    #expect(bench.on.isEmpty && bench.bank.isDriven(1))
    #expect(bench.snapshot.confirmation == .pending)
    bench.tick()
    #expect(bench.writes() == ["0 off"])
    #expect(bench.snapshot.confirmation == .confirmed && bench.snapshot.read == 0)
  }

  @Test("on for 12 minutes: the line holds for exactly 720 s, one call that sets it and one that ends it")
  func holds() {
    let bench = SprinklerBench.started()
    bench.jump(to: 0.25)
    let answer = bench.on(3, 720)
    #expect(answer?.verdict == .accepted && bench.until(3) == .seconds(720) + .milliseconds(250))
    bench.advance(to: 719.999)
    #expect(bench.on == [3] && bench.snapshot[ZoneID(3)!].isOn)
    #expect(bench.snapshot[ZoneID(3)!].remaining(at: bench.now) == .milliseconds(251))
    bench.advance(to: 1_000)
    #expect(bench.writes() == ["0.25 on 3", "720.25 off"])
    #expect(bench.takeNotices() == ["0.25 opened 1", "720.25 ended 1 completed 720 s"])
    #expect(bench.snapshot[ZoneID(3)!].ranToday == .seconds(720))
  }

  @Test("another zone on: the first is closed in the same call that opens it")
  func exclusive() {
    let bench = SprinklerBench.started()
    bench.on(1, 600)
    bench.jump(to: 5)
    bench.on(2, 600)
    #expect(bench.writes() == ["0 on 1", "5 on 2"])
    #expect(bench.takeNotices() == ["0 opened 1", "5 ended 1 replaced 5 s", "5 opened 2"])
  }

  @Test("requests: all of a tick's are answered in their order, the snapshot before them shows what came of them")
  func answers() {
    let bench = SprinklerBench.started()
    bench.push(.run(bench.zoneRun(1, 60), .append))
    bench.push(.run(bench.zoneRun(2, 0), .append))
    bench.push(.extend(ZoneID(1)!, seconds: 30))
    bench.push(.off(ZoneID(9)!, dropsQueued: false))
    bench.push(.query)
    bench.tick(.input)
    let answers = bench.takeAnswers()
    #expect(
      answers.map(\.verdict) == [
        .accepted, .refused(.invalidDuration), .accepted, .refused(.noSuchZone), .accepted,
      ])
    #expect(bench.until(1) == .seconds(90) && bench.until(2) == nil)
    #expect(bench.snapshot[ZoneID(1)!].remaining(at: bench.now) == .seconds(90))
    #expect(bench.snapshot.lastRefusal == .noSuchZone)
  }

  @Test("a request that opens and waited longer than 2 s is stale; one that closes is obeyed")
  func stale() {
    let bench = SprinklerBench.started()
    bench.on(1, 60)
    bench.push(.run(bench.zoneRun(2, 60), .now))
    bench.push(.extend(ZoneID(1)!, seconds: 9))
    bench.jump(to: 2.001)
    bench.tick(.input)
    #expect(bench.takeAnswers().map(\.verdict) == [.refused(.stale), .refused(.stale)])
    bench.push(.off(ZoneID(1)!, dropsQueued: false))
    bench.jump(to: 9)
    bench.tick(.input)
    #expect(bench.takeAnswers().map(\.verdict) == [.accepted] && bench.on.isEmpty)
  }

  @Test("256 runs in one tick: taken, answered, queued; the 257th is refused; each gets its one end")
  func fullQueue() {
    let bench = SprinklerBench.started(noticeCapacity: 16)
    for _ in 0..<257 { bench.push(.run(bench.zoneRun(1, 10), .append)) }
    bench.tick(.input)
    let answers = bench.takeAnswers()
    #expect(answers.count == 257 && answers[255].verdict == .accepted)
    #expect(answers[256].verdict == .refused(.queueFull))
    #expect(bench.snapshot.queueCount == 255)
    #expect(bench.snapshot.queued(0).expected == .seconds(10) && bench.snapshot.queued(63).expected == .seconds(640))
    bench.push(.allOff)
    bench.tick(.input)
    // Nobody takes the notices for a while: the runs' ends wait, 16 at a time come.
    var ends = 0
    for _ in 0..<40 {
      ends += bench.takeNotices().filter { $0.contains("ended") }.count
      bench.tick(.input)
    }
    #expect(ends == 256 && bench.snapshot.noticesWaiting == 0 && bench.snapshot.noticesDropped == 0)
  }

  @Test("queue: what is expected to open when, behind soak, delay, lead and pause, is what happens")
  func forecast() {
    let bench = SprinklerBench.started(delay: .seconds(5), master: (lead: 3, lag: 4))
    for (zone, soak) in [(1, 0), (2, 0), (1, 300), (3, 0), (2, 30)] {
      bench.push(.run(bench.zoneRun(zone, 60, soak: UInt32(soak)), .append))
    }
    bench.tick(.input)
    let expected = (0..<bench.snapshot.queueCount).map { bench.snapshot.queued($0) }
    #expect(
      expected.count == 4
        && bench.snapshot[ZoneID(1)!].valve
          == .leading(
            ZoneRun(
              id: 1, zone: ZoneID(1)!, seconds: 60, source: .manual), opensAt: .seconds(3))
    )
    bench.advance(to: 1_000)
    var opened: [UInt64: String] = [:]
    for line in bench.takeNotices() {
      let words = line.split(separator: " ")
      if words[1] == "opened" { opened[UInt64(words[2])!] = String(words[0]) }
    }
    for run in expected {
      #expect(opened[run.run.id] == "\(run.expected!.nanoseconds / 1_000_000_000)", "run \(run.run.id)")
    }
  }

  // MARK: five ways to the safe state

  @Test("silence: nobody asks anything any more, the valve closes at its deadline")
  func silence() {
    let bench = SprinklerBench.started()
    bench.on(4, 60)
    #expect(bench.deadline == .seconds(60))
    bench.jump(to: 60)
    bench.tick(.deadline)
    #expect(bench.on.isEmpty && bench.writes() == ["0 on 4", "60 off"] && bench.deadline == nil)
  }

  @Test(
    "fault: the lines fail; every run ends, the off is tried at every tick until it is taken, then a reset leaves it")
  func linesFail() {
    let bench = SprinklerBench.started()
    bench.on(1, 600)
    bench.queue(2, 60)
    _ = bench.takeNotices()
    _ = bench.writes()
    bench.advance(to: 10.5)
    bench.bank.inject(.gone)
    bench.advance(to: 12)
    #expect(bench.snapshot.state == .fault(.lines(.gone)) && bench.snapshot.confirmation == .pending)
    #expect(bench.snapshot.read == nil && bench.snapshot.lastLineFailure == .gone)
    #expect(bench.writes() == ["11 set!", "12 set!"])
    #expect(
      bench.takeNotices() == [
        "11 ended 1 fault 11 s", "11 ended 2 fault 0 ns",
        "11 fault: the lines do not take what they are told: the GPIO chip is gone",
      ])
    #expect(bench.request(.reset)?.verdict == .refused(.offNotConfirmed))
    bench.bank.clearFaults()
    bench.advance(to: 13)
    #expect(bench.on.isEmpty && bench.snapshot.confirmation == .confirmed)
    #expect(bench.on(1, 60)?.verdict == .refused(.inFault))
    #expect(bench.request(.reset)?.verdict == .accepted)
    #expect(bench.on(1, 60)?.verdict == .accepted && bench.on == [1])
  }

  @Test("a relay line that stays on: told again twice within 200 ms, then a fault that closes the master valve")
  func lineStuckOn() {
    let bench = SprinklerBench.started(master: (lead: 0, lag: 60))
    bench.on(2, 20)
    bench.advance(to: 19)
    bench.bank.inject(.stuck(line: 2, isHigh: false))
    bench.advance(to: 25)
    #expect(bench.snapshot.state == .fault(.lineDiffers(line: 1, isActive: true)))
    #expect(bench.on == [2], "the line itself is out of reach; the master valve is not")
    #expect(
      bench.takeNotices() == [
        "0 opened 1", "0 master open", "20 ended 1 completed 20 s", "20 told 16 read 18", "20.2 master closed",
        "20.2 fault: line 2 is on, whatever it is told",
      ])
    #expect(bench.writes().prefix(5) == ["0 on 2 10", "20 on 10", "20.1 on 10", "20.2 on 10", "20.2 off"])
    #expect(bench.request(.reset)?.verdict == .refused(.offNotConfirmed))
    bench.bank.clearFaults()
    bench.advance(to: 26)
    #expect(bench.request(.reset)?.verdict == .accepted && bench.on.isEmpty)
  }

  @Test("a line that differs once: counted, told again, no fault")
  func lineDiffersOnce() {
    let bench = SprinklerBench.started()
    bench.on(2, 60)
    bench.bank.inject(.stuck(line: 2, isHigh: true))
    bench.advance(to: 1)
    bench.bank.clearFaults()
    bench.advance(to: 30)
    #expect(bench.snapshot.state == .watering && bench.snapshot.differences == 1)
    #expect(bench.takeNotices() == ["0 opened 1", "1 told 2 read 0", "1.1 lines agree"])
  }

  @Test("emergency stop: every line off in the release that brings it, the queue gone, latched; reset leaves it")
  func emergencyStop() {
    let bench = SprinklerBench.started(maximumOpen: 4, groups: [0: 4], master: (lead: 0, lag: 30))
    for zone in 1...4 { bench.on(zone, 600) }
    bench.queue(1, 60)
    #expect(bench.on == [1, 2, 3, 4, 10])
    bench.jump(to: 7)
    #expect(bench.request(.emergencyStop)?.verdict == .accepted)
    #expect(bench.on.isEmpty && bench.writes().last == "7 off")
    #expect(bench.takeNotices().filter { $0.contains("emergencyStop 7 s") }.count == 4)
    #expect(bench.on(1, 60)?.verdict == .refused(.emergencyStopped))
    bench.advance(to: 1_000)
    #expect(bench.on.isEmpty && bench.snapshot.state == .emergencyStopped)
    #expect(bench.request(.reset)?.verdict == .accepted && bench.snapshot.state == .idle)
    bench.advance(to: 2_000)
    #expect(bench.on.isEmpty, "nothing comes back by itself")
  }

  @Test("shutdown: every line off, tried three times, nothing opens after")
  func shutdown() {
    let bench = SprinklerBench.started()
    bench.on(1, 600)
    bench.queue(2, 60)
    _ = bench.writes()
    bench.jump(to: 3)
    bench.safeState(.stop)
    #expect(bench.writes() == ["3 off"] && bench.on.isEmpty)
    #expect(bench.takeNotices().contains("3 ended 1 shutdown 3 s"))
    #expect(bench.on(1, 60)?.verdict == .refused(.shutDown))
    let failing = SprinklerBench.started()
    failing.on(1, 600)
    _ = failing.writes()
    failing.bank.inject(.gone)
    failing.safeState(.stop)
    #expect(failing.writes() == ["0 set!", "0 set!", "0 set!"])
  }

  @Test("missed releases: every line off, a fault with the count")
  func misses() {
    let bench = SprinklerBench.started()
    bench.on(1, 600)
    bench.jump(to: 9)
    bench.safeState(.misses(4))
    #expect(bench.on.isEmpty && bench.snapshot.state == .fault(.missedReleases(4)))
  }

  @Test("stopped from outside: the run ends as of that instant and stays closed, queued ones end, later ones run")
  func externalStop() throws {
    let bench = SprinklerBench.started(master: (lead: 0, lag: 20))
    bench.on(1, 600)
    bench.queue(2, 600, isScheduled: true)
    bench.advance(to: 60)
    _ = bench.takeNotices()
    _ = bench.writes()
    // The program hung from 60 s on; the guard closed the valves at 61.25 s; it is back an hour later.
    bench.jump(to: 3_660)
    bench.safeState(.externalStop(.zero + .milliseconds(61_250)))
    #expect(bench.on.isEmpty && bench.snapshot.state == .idle && bench.snapshot.queueCount == 0)
    #expect(bench.writes() == ["3660 off"])
    let told = bench.takeNotices()
    #expect(
      told.contains("61.25 ended 1 externalStop 61.25 s") && told.contains("3660 ended 2 externalStop 0 ns"), "\(told)")
    bench.advance(to: 3_720)
    #expect(bench.on.isEmpty)
    bench.on(3, 60)
    #expect(bench.on == [3, 10])
    // What opened after the stop was closed by the next one, not before it opened.
    bench.safeState(.externalStop(.zero + .milliseconds(61_250)))
    #expect(bench.takeNotices().contains { $0.contains("ended 3 externalStop 0 ns") } && bench.on.isEmpty)
  }

  @Test("stopped from outside after the loop has hung beyond a run's end: it ran until the guard closed it")
  func externalStopLate() throws {
    let bench = SprinklerBench.started()
    bench.on(1, 10)
    bench.advance(to: 9)
    bench.jump(to: 20)
    bench.safeState(.externalStop(.zero + .milliseconds(10_500)))
    #expect(bench.takeNotices().contains("10.5 ended 1 externalStop 10.5 s"))
  }

  @Test("crash: the lines that the guard turns off are all that the loop holds, the master valve's too")
  func crash() throws {
    let bench = SprinklerBench.started(master: (lead: 0, lag: 0))
    bench.on(3, 600)
    #expect(bench.on == [3, 10])
    // What the guard does when the daemon is gone: it requests the same lines, which makes them off.
    let lines = bench.release()
    let guarded = try bench.bank.outputs(lines)
    #expect(bench.on.isEmpty)
    withExtendedLifetime(guarded) {}
  }

  // MARK: flow

  private static let flow = try! FlowSettings(
    pulsesPerLitre: 60, noFlow: .init(litresPerMinute: 1, over: .seconds(30)),
    highFlow: .init(litresPerMinute: 20, over: .seconds(10)),
    leak: .init(litresPerMinute: 0.5, over: .seconds(60)))

  @Test("flow: the run's pulses and the rate are what the garden let through")
  func flowCounts() {
    let bench = SprinklerBench.started(flow: Self.flow)
    bench.on(2, 120)
    bench.advance(to: 100)
    #expect(abs(bench.snapshot.flow!.litresPerMinute - 10) < 1 && bench.snapshot.flow!.alarm == nil)
    bench.advance(to: 200)
    #expect(abs(bench.garden.litres(1) - 20) < 0.001)
    #expect(abs(bench.snapshot.flow!.pulses - 1_200) <= 1 && bench.snapshot.flow!.litresPerMinute == 0)
    #expect(bench.ended.map(\.pulses).allSatisfy { abs($0 - 1_200) <= 1 } && bench.ended.count == 1)
  }

  @Test("no flow for 30 s while a valve is open: a fault that names the zone")
  func noFlow() {
    let bench = SprinklerBench.started(flow: Self.flow)
    bench.garden.inject(.stuckClosed(2))
    bench.on(3, 600)
    bench.advance(to: 100)
    #expect(bench.snapshot.state == .fault(.flow(.noFlow(ZoneID(3)!))) && bench.on.isEmpty)
    #expect(bench.takeNotices()[1] == "31 no water flows while zone 3 is open")
  }

  @Test("a burst pipe while a valve is open: high flow within 21 s, all closed")
  func burst() {
    let bench = SprinklerBench.started(flow: Self.flow)
    bench.garden.inject(.burst(litresPerMinute: 40))
    bench.on(1, 600)
    bench.advance(to: 100)
    #expect(bench.snapshot.state == .fault(.flow(.highFlow(ZoneID(1)!))) && bench.on.isEmpty)
  }

  @Test("a valve that does not close: a leak within two minutes; a reset does not hide it")
  func leak() {
    let bench = SprinklerBench.started(flow: Self.flow)
    bench.on(1, 60)
    bench.garden.inject(.stuckOpen(0))
    bench.advance(to: 175)
    #expect(bench.snapshot.state == .idle)
    bench.advance(to: 190)
    #expect(bench.snapshot.state == .fault(.flow(.leak)) && bench.snapshot.flow?.alarm == .leak)
    #expect(bench.request(.reset)?.verdict == .accepted)
    bench.advance(to: 400)
    #expect(bench.snapshot.state == .fault(.flow(.leak)))
  }

  @Test("rain sensor: read each period; a bounce does not count; a line that is gone is unreadable until it is back")
  func rainSensor() throws {
    let bench = SprinklerBench(hasRainSensor: true)
    #expect(bench.snapshot.rainSensor == nil)
    bench.advance(to: 0)
    #expect(bench.snapshot.rainSensor == .dry)
    bench.rainBank.set(12, isHigh: false, at: bench.now)
    bench.rainBank.set(12, isHigh: true, at: bench.now + .milliseconds(50))
    bench.advance(to: 1)
    #expect(bench.snapshot.rainSensor == .dry)
    bench.rainBank.set(12, isHigh: false, at: bench.now)
    bench.advance(to: 2)
    #expect(bench.snapshot.rainSensor == .wet)
    bench.rainBank.inject(.gone)
    bench.advance(to: 3)
    #expect(bench.snapshot.rainSensor == .unreadable)
    bench.rainBank.clearFaults()
    bench.advance(to: 4)
    #expect(bench.snapshot.rainSensor == .wet)
    #expect(SprinklerBench.started().snapshot.rainSensor == nil)
  }

  @Test("comparators in the soil: each is read once a period; lines that are gone are unreadable until they are back")
  func soil() {
    let bench = SprinklerBench(soilPins: [5, 6])
    #expect((0..<8).allSatisfy { bench.snapshot.soil.isWet($0) == nil })
    bench.advance(to: 0)
    #expect((0..<3).map { bench.snapshot.soil.isWet($0) } == [false, false, nil])
    bench.soilBank.set(6, isHigh: false, at: bench.now)
    bench.advance(to: 1)
    #expect((0..<3).map { bench.snapshot.soil.isWet($0) } == [false, true, nil])
    bench.soilBank.inject(.gone)
    bench.advance(to: 2)
    #expect((0..<3).allSatisfy { bench.snapshot.soil.isWet($0) == nil })
    bench.soilBank.clearFaults()
    bench.advance(to: 3)
    #expect((0..<3).map { bench.snapshot.soil.isWet($0) } == [false, true, nil])
  }
}
