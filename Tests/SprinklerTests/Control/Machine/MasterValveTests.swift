import Buses
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

@Suite(.ownThread) struct MasterValveTests {
  @Test("master: opens 10 s before the valve, closes 5 s after it, stays open between two that follow each other")
  func master() {
    let bench = MachineBench(zones: 2, lead: 10, lag: 5)
    bench.run(1, 60)
    bench.run(2, 60)
    #expect(bench.word == 4)
    bench.advance(to: 10)
    #expect(bench.word == 5)
    bench.advance(to: 131)
    #expect(bench.word == 4)
    bench.advance(to: 200)
    #expect(
      bench.story() == [
        "0 master open", "10 opened 1", "70 ended 1 completed 60 s", "70 opened 2", "130 ended 2 completed 60 s",
        "135 master closed",
      ])
  }

  @Test(
    "master: a negative lead opens it after the valve, a negative lag closes it before; a run too short for both never has it"
  )
  func negativeMaster() {
    let bench = MachineBench(zones: 2, lead: -10, lag: -20)
    bench.run(1, 60)
    bench.advance(to: 100)
    #expect(
      bench.story() == ["0 opened 1", "10 master open", "40 master closed", "60 ended 1 completed 60 s"])
    bench.run(2, 25)
    bench.advance(to: 200)
    #expect(bench.story() == ["100 opened 2", "125 ended 2 completed 25 s"])
  }

  @Test("master: a zone that does not use it opens at once and leaves it closed")
  func withoutMaster() {
    let bench = MachineBench(zones: 2, lead: 10, lag: 5) { number, zone in zone.usesMaster = number == 1 }
    bench.run(2, 60)
    #expect(bench.word == 2 && bench.story() == ["0 opened 1"])
  }

  @Test("off while the master leads: the run ends without having opened, the master closes")
  func offWhileLeading() {
    let bench = MachineBench(zones: 2, lead: 10, lag: 5)
    bench.run(1, 60, .now)
    bench.advance(to: 4)
    bench.step(.off(ZoneID(1)!, dropsQueued: false))
    #expect(bench.word == 0)
    #expect(bench.story() == ["0 master open", "4 ended 1 stopped 0 ns", "4 master closed"])
  }
}
