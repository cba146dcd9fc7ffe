import Buses
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

@Suite(.ownThread) struct PauseAndRainTests {
  @Test("pause: every line off, what is left follows by itself or on resume; the run's time is all of it")
  func pause() {
    let bench = MachineBench(lead: 0, lag: 60)
    bench.run(1, 60)
    bench.run(2, 60)
    bench.advance(to: 20)
    #expect(bench.step(.pause(seconds: 100)) == .accepted)
    #expect(bench.word == 0, "the master does not lag")
    #expect(bench.run(3, 60, .now) == .refused(.paused))
    #expect(bench.run(3, 60, .insert) == .accepted)
    bench.advance(to: 130)
    #expect(bench.word == 1 | 8)
    bench.step(.pause(seconds: 1_000))
    bench.advance(to: 200)
    #expect(bench.step(.resume) == .accepted && bench.step(.resume) == .refused(.notPaused))
    bench.advance(to: 230)
    #expect(
      bench.story().filter { !$0.contains("master") } == [
        "0 opened 1", "20 paused", "120 reopened 1 for 40 s", "120 watering", "130 paused", "200 reopened 1 for 30 s",
        "200 watering", "230 ended 1 completed 60 s", "230 opened 4",
      ])
  }

  @Test("paused: off and extend reach the run that waits; an emergency stop ends it")
  func pausedRun() {
    let bench = MachineBench()
    bench.run(1, 60, .now)
    bench.advance(to: 20)
    bench.step(.pause(seconds: 100))
    #expect(bench.step(.extend(ZoneID(1)!, seconds: 5)) == .accepted)
    bench.step(.off(ZoneID(1)!, dropsQueued: false))
    #expect(bench.story().suffix(2) == ["20 extended 1 until -", "20 ended 1 stopped 20 s"])
    bench.run(1, 60)
    bench.step(.emergencyStop)
    #expect(bench.story().first == "20 ended 2 emergencyStop 0 ns")
  }

  @Test("rain: queued runs of programs end for good, open ones if so configured; by hand and ignoring ones go on")
  func rain() {
    let bench = MachineBench(zones: 4)
    bench.run(1, 60, isScheduled: true)
    bench.run(2, 60, isScheduled: true)
    bench.run(3, 60)
    bench.run(4, 60, isScheduled: true, ignoresRain: true)
    bench.advance(to: 10)
    bench.step(.rain(isActive: true, endsRuns: false))
    #expect(bench.word == 1 && bench.story() == ["0 opened 1", "10 ended 2 rainDelay 0 ns"])
    bench.step(.rain(isActive: true, endsRuns: true))
    #expect(bench.word == 4 && bench.story() == ["10 ended 1 rainDelay 10 s", "10 opened 3"])
    #expect(bench.run(1, 60, isScheduled: true) == .refused(.rainDelay))
    bench.step(.rain(isActive: false, endsRuns: true))
    bench.advance(to: 500)
    #expect(
      bench.story() == ["70 ended 3 completed 60 s", "70 opened 4", "130 ended 4 completed 60 s"],
      "nothing that was suppressed comes back")
  }
}
