import Buses
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

@Suite(.ownThread) struct IrrigationRulesTests {
  // MARK: on and off

  @Test("on: open for exactly so long; on again sets the deadline anew, the valve does not close between")
  func on() {
    let bench = MachineBench()
    bench.run(2, 60, .now)
    #expect(bench.word == 2 && bench.machine.nextDeadline == .seconds(60))
    bench.advance(to: 40)
    bench.run(2, 30, .now)
    #expect(bench.word == 2 && bench.machine.nextDeadline == .seconds(70))
    bench.advance(to: 100)
    #expect(bench.word == 0 && bench.machine.state == .idle)
    #expect(bench.story() == ["0 opened 1", "40 ended 1 replaced 40 s", "40 opened 2", "70 ended 2 completed 30 s"])
    // Nor does a delay between two zones come between.
    let delayed = MachineBench(maximumOpen: 2, groups: [0: 2], delay: 30, lead: 5)
    delayed.run(2, 60, .now)
    delayed.advance(to: 20)
    delayed.run(2, 60, .now)
    #expect(delayed.word == 2 | 8 && delayed.machine.queueCount == 0 && delayed.machine.nextDeadline == .seconds(80))
    delayed.run(2, 10, .replace)
    #expect(delayed.word == 2 | 8 && delayed.machine.nextDeadline == .seconds(30))
  }

  @Test("extend: adds to what is left, up to the zone's longest run; refused for a zone that is closed")
  func extend() {
    let bench = MachineBench { _, zone in zone.maximumSeconds = 100 }
    #expect(bench.step(.extend(ZoneID(1)!, seconds: 10)) == .refused(.zoneNotRunning))
    bench.run(1, 60, .now)
    bench.advance(to: 50)
    #expect(bench.step(.extend(ZoneID(1)!, seconds: 40)) == .accepted)
    #expect(bench.machine.nextDeadline == .seconds(100))
    #expect(bench.step(.extend(ZoneID(1)!, seconds: 1)) == .refused(.longerThanMaximum))
    bench.advance(to: 200)
    #expect(bench.story() == ["0 opened 1", "50 extended 1 until 100", "100 ended 1 completed 100 s"])
  }

  @Test("off: ends the zone's run, the queue goes on; with its queued runs, if asked; off of a closed zone is no error")
  func off() {
    let bench = MachineBench()
    for zone in [1, 1, 2, 1] { bench.run(zone, 60) }
    bench.advance(to: 10)
    #expect(bench.step(.off(ZoneID(1)!, dropsQueued: false)) == .accepted)
    #expect(bench.story() == ["0 opened 1", "10 ended 1 stopped 10 s", "10 opened 2"])
    bench.advance(to: 20)
    #expect(bench.step(.off(ZoneID(1)!, dropsQueued: true)) == .accepted)
    #expect(bench.story() == ["20 ended 2 stopped 10 s", "20 ended 4 stopped 0 ns", "20 opened 3"])
    #expect(bench.step(.off(ZoneID(1)!, dropsQueued: true)) == .accepted && bench.story().isEmpty)
  }

  @Test("refused: an unknown, disabled or lineless zone, a duration out of range or beyond the zone's longest run")
  func refused() {
    let bench = MachineBench { number, zone in
      zone.isEnabled = number != 2
      if number == 3 { zone.line = nil }
    }
    #expect(bench.run(9, 60, .now) == .refused(.noSuchZone))
    #expect(bench.run(2, 60, .now) == .refused(.zoneDisabled))
    #expect(bench.run(3, 60, .now) == .refused(.zoneHasNoLine))
    #expect(bench.run(1, 0, .now) == .refused(.invalidDuration))
    #expect(bench.run(1, 86_401, .now) == .refused(.invalidDuration))
    #expect(bench.run(1, 7_201, .now) == .refused(.longerThanMaximum))
    #expect(bench.run(1, 7_200, .now) == .accepted)
    #expect(bench.story() == ["0 opened 7"])
  }

  // MARK: limits

  @Test(
    "a zone's day: closed the moment its limit is reached, on is refused, queued runs end; the next day it runs again")
  func dayLimit() {
    let bench = MachineBench { _, zone in zone.maximumSecondsPerDay = 100 }
    bench.run(1, 60, .now)
    bench.advance(to: 60)
    bench.run(1, 60, .now)
    bench.run(1, 60, .append)
    bench.advance(to: 120)
    #expect(
      bench.story() == [
        "0 opened 1", "60 ended 1 completed 60 s", "60 opened 2", "100 ended 2 dayLimit 40 s",
        "100 ended 3 dayLimit 0 ns",
      ])
    #expect(bench.run(1, 10, .now) == .refused(.dayLimitReached))
    #expect(bench.run(2, 10, .now) == .accepted)
    bench.step(.dayBegan)
    #expect(bench.run(1, 10, .now) == .accepted)
  }

  @Test("midnight while a valve is open: its time counts for both days, each for its own")
  func midnight() {
    let bench = MachineBench { _, zone in zone.maximumSecondsPerDay = 100 }
    bench.run(1, 90, .now)
    bench.advance(to: 60)
    bench.step(.dayBegan)
    bench.advance(to: 90)
    bench.run(1, 100, .now)
    bench.advance(to: 300)
    #expect(
      bench.story() == [
        "0 opened 1", "90 ended 1 completed 90 s", "90 opened 2", "160 ended 2 dayLimit 70 s",
      ])
    guard case .ended(let last) = bench.notices.last?.subject else { return #expect(Bool(false)) }
    #expect(last.ranToday == .seconds(100))
  }

  @Test("what the store knows of today counts")
  func restoredDay() {
    let bench = MachineBench { _, zone in zone.maximumSecondsPerDay = 100 }
    bench.step(.ranToday(ZoneID(1)!, .seconds(80)))
    bench.run(1, 60, .now)
    bench.advance(to: 60)
    #expect(bench.story() == ["0 opened 1", "20 ended 1 dayLimit 20 s"])
  }

  @Test("a zone's longest run made shorter: what is open closes there, a queued run too")
  func shorterMaximum() {
    let bench = MachineBench()
    bench.run(1, 600, .now)
    bench.run(1, 600)
    bench.advance(to: 10)
    var zone = ZoneSettings(line: 0)
    zone.maximumSeconds = 30
    bench.step(.zone(ZoneID(1)!, zone))
    bench.advance(to: 100)
    #expect(
      bench.story() == ["0 opened 1", "30 ended 1 runLimit 30 s", "30 opened 2", "60 ended 2 runLimit 30 s"])
  }

  @Test("late by 3 s: the run's time is what it was, not what was asked")
  func late() {
    let bench = MachineBench()
    bench.run(1, 60, .now)
    bench.jump(to: 63)
    bench.step(.tick)
    #expect(bench.story() == ["0 opened 1", "63 ended 1 completed 63 s"])
  }

  // MARK: groups and the queue

  @Test("one valve in all: on ends the one that is open; a queued run waits for it")
  func single() {
    let bench = MachineBench()
    bench.run(1, 60, .now)
    bench.run(2, 60)
    bench.advance(to: 10)
    bench.run(3, 60, .now)
    #expect(bench.word == 4)
    bench.advance(to: 100)
    #expect(
      bench.story() == [
        "0 opened 1", "10 ended 1 replaced 10 s", "10 opened 3", "70 ended 3 completed 60 s", "70 opened 2",
      ])
  }

  @Test("groups: each has its own limit; on ends the oldest of its group alone")
  func groups() {
    let bench = MachineBench(zones: 4, maximumOpen: 4, groups: [1: 2]) { number, zone in
      zone.group = number == 1 ? 0 : 1
    }
    for zone in 1...3 {
      bench.jump(to: Double(zone))
      bench.run(zone, 600, .now)
    }
    #expect(bench.word == 0b111)
    bench.jump(to: 9)
    bench.run(4, 600, .now)
    #expect(bench.word == 0b1101)
    #expect(bench.story().suffix(2) == ["9 ended 2 replaced 7 s", "9 opened 4"])
  }

  @Test("placements: append is last, insert first after what is open, replace ends whatever there is")
  func placements() {
    let bench = MachineBench()
    bench.run(1, 10)
    bench.run(2, 10, .append)
    bench.run(3, 10, .insert)
    bench.advance(to: 25)
    #expect(
      bench.story().filter { $0.contains("opened") } == ["0 opened 1", "10 opened 3", "20 opened 2"])
    bench.run(1, 10)
    bench.run(3, 10, .replace)
    #expect(bench.story() == ["25 ended 2 replaced 5 s", "25 ended 4 replaced 0 ns", "25 opened 5"])
  }

  @Test("skip: what is open ends, the next follows; nothing open is refused. Clear: what is open goes on, alone")
  func skip() {
    let bench = MachineBench()
    #expect(bench.step(.skip) == .refused(.nothingToSkip))
    for zone in 1...3 { bench.run(zone, 60) }
    bench.advance(to: 5)
    #expect(bench.step(.skip) == .accepted)
    #expect(bench.story() == ["0 opened 1", "5 ended 1 stopped 5 s", "5 opened 2"])
    bench.step(.clearQueue)
    bench.advance(to: 200)
    #expect(bench.story() == ["5 ended 3 stopped 0 ns", "65 ended 2 completed 60 s"])
  }

  @Test("cancel: this run alone, open or queued")
  func cancel() {
    let bench = MachineBench()
    for zone in 1...3 { bench.run(zone, 60) }
    #expect(bench.step(.cancel(run: 2)) == .accepted && bench.step(.cancel(run: 2)) == .refused(.noSuchRun))
    #expect(bench.step(.cancel(run: 1)) == .accepted)
    #expect(
      bench.story() == ["0 opened 1", "0 ended 2 stopped 0 ns", "0 ended 1 stopped 0 ns", "0 opened 3"])
  }

  @Test("soak: the zone waits for it while another zone waters")
  func soak() {
    let bench = MachineBench()
    bench.run(1, 60)
    bench.run(1, 60, soak: 100)
    bench.run(2, 30)
    bench.advance(to: 1_000)
    #expect(
      bench.story().filter { $0.contains("opened") } == ["0 opened 1", "60 opened 3", "160 opened 2"])
  }

  @Test("station delay longer than the runs: nothing locks, every run opens that long after the one before closed")
  func longDelay() {
    let bench = MachineBench(delay: 300)
    for zone in 1...3 { bench.run(zone, 10) }
    bench.advance(to: 2_000)
    #expect(
      bench.story().filter { $0.contains("opened") } == ["0 opened 1", "310 opened 2", "620 opened 3"])
    #expect(bench.machine.queueCount == 0)
  }

  // MARK: zones

  @Test("a zone that is disabled or removed: its open run ends, its queued ones too, the others go on")
  func disabled() {
    let bench = MachineBench()
    for zone in [1, 1, 2] { bench.run(zone, 60) }
    bench.advance(to: 5)
    bench.step(.zone(ZoneID(1)!, ZoneSettings(line: 0, isEnabled: false)))
    #expect(
      bench.story() == ["0 opened 1", "5 ended 1 disabled 5 s", "5 ended 2 disabled 0 ns", "5 opened 3"])
    bench.step(.zone(ZoneID(2)!, nil))
    #expect(bench.word == 0 && bench.run(2, 60) == .refused(.noSuchZone))
  }

  @Test("lines: no two zones share one, the master's is taken, an open zone keeps its own; two zones swap through none")
  func lines() {
    let bench = MachineBench(lead: 0)
    #expect(bench.step(.zone(ZoneID(1)!, ZoneSettings(line: 1))) == .refused(.lineTaken))
    #expect(bench.step(.zone(ZoneID(1)!, ZoneSettings(line: 3))) == .refused(.lineTaken))
    #expect(bench.step(.zone(ZoneID(1)!, ZoneSettings(line: 4))) == .refused(.noSuchLine))
    #expect(bench.step(.zone(ZoneID(1)!, ZoneSettings(line: 0, group: 16))) == .refused(.noSuchGroup))
    bench.run(1, 60)
    #expect(bench.step(.zone(ZoneID(1)!, ZoneSettings(line: nil))) == .refused(.zoneOpen))
    #expect(bench.step(.zone(ZoneID(1)!, ZoneSettings(line: 0, group: 1))) == .refused(.zoneOpen))
    bench.run(2, 60)
    bench.run(3, 60)
    #expect(bench.step(.zone(ZoneID(2)!, ZoneSettings(line: nil))) == .accepted)
    #expect(bench.step(.zone(ZoneID(3)!, ZoneSettings(line: 1))) == .accepted)
    bench.advance(to: 61)
    #expect(bench.word == 2 | 8, "the zone without a line waits, the next one waters")
    #expect(bench.step(.zone(ZoneID(2)!, ZoneSettings(line: 2))) == .accepted)
    bench.advance(to: 121)
    #expect(bench.word == 4 | 8)
  }

  // MARK: notices

  @Test("notices that nobody takes: no run is accepted whose end could get lost, others are dropped and counted")
  func noticesNotTaken() {
    var machine = IrrigationMachine(try! IrrigationSettings(lineCount: 1))
    _ = machine.step(.order(.zone(ZoneID(1)!, ZoneSettings(line: 0))), at: .zero)
    var accepted = 0
    var refusals: Set<IrrigationRefusal> = []
    for number in UInt64(0)..<3_000 {
      let run = ZoneRun(id: number, zone: ZoneID(1)!, seconds: 10, source: .manual)
      // 200 that wait, and then one after the other.
      switch machine.step(.order(.run(run, number < 200 ? .append : .now)), at: .zero).verdict {
      case .accepted: accepted += 1
      case .refused(let reason): refusals.insert(reason)
      }
    }
    _ = machine.step(.order(.pause(seconds: 5)), at: .zero)
    _ = machine.step(.order(.emergencyStop), at: .zero)
    var ends = 0
    while let notice = machine.takeNotice() { if case .ended = notice.subject { ends += 1 } }
    #expect(accepted == 512 && ends == accepted && refusals == [.noticesNotTaken])
    #expect(machine.noticesDropped > 0)
  }
}
