import Buses
import Devices
import Tactus
import Testing

@testable import Leg

/// The chip's output-enable pin, which is active low: low lets pulses out.
@Suite struct OutputEnableTests {
  @Test("start: disabled; enabled with the first pulse, after it was written; disabled again when no leg wants one")
  func follows() {
    let bench = LegBench(legs: 2, isStarted: false, hasOutputEnable: true)
    #expect(bench.bank.isDriven(4) && bench.bank.isHigh(4))
    bench.tick(0)
    bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
    bench.act(.arm, at: 10)
    #expect(bench.bank.isHigh(4) && bench.snapshot.servos.outputsEnabled == false)
    bench.act(.setServo(.microseconds(1500)), at: 13)
    #expect(!bench.bank.isHigh(4) && bench.snapshot.servos.outputsEnabled == true)
    bench.arm(1, pulse: 1500, at: 20)
    bench.act(.disarm, at: 30)
    #expect(!bench.bank.isHigh(4), "the other leg still drives")
    bench.act(.disarm, to: 1, at: 40)
    #expect(bench.bank.isHigh(4))
    #expect(
      bench.bank.transactions().map(\.operation) == [.request, .read, .set, .set],
      "read back when the chip is configured; then one access a change")
  }

  @Test("chip gone: disabled in the same tick, and until it answers and a leg is armed and set anew")
  func chipGone() {
    let bench = LegBench(legs: 2, hasOutputEnable: true)
    bench.arm(pulse: 1500, at: 10)
    #expect(!bench.bank.isHigh(4))
    bench.chip.isPowered = false
    bench.act(.setServo(.microseconds(1000)), at: 15)
    #expect(bench.bank.isHigh(4) && bench.snapshot[0].state == .fault(.output, .pending))
    bench.chip.isPowered = true
    bench.tick(20)
    bench.tick(TickInstant(nanoseconds: 20_500_000), .deadline)
    bench.act(.disarm, at: 30)
    bench.act(.arm, at: 31)
    #expect(bench.bank.isHigh(4))
    bench.act(.setServo(.microseconds(1000)), at: 32)
    #expect(!bench.bank.isHigh(4))
  }

  @Test("stuck bus: disabled before the transfer that times out")
  func stuckBus() {
    let bench = LegBench(hasOutputEnable: true)
    bench.arm(pulse: 1500, at: 10)
    bench.bus.inject(.stuck)
    #expect(bench.request(.emergencyStop, issued: 20)?.verdict == .accepted)
    #expect(bench.bank.isHigh(4) && bench.snapshot[0].state == .emergencyStopped(.pending))
  }

  @Test("e-stop, missed releases, shutdown: disabled in the release that brings it", arguments: 0..<3)
  func everyWay(_ way: Int) {
    let bench = LegBench(legs: 3, hasOutputEnable: true)
    for leg in 0..<3 { bench.arm(leg, pulse: 1500, at: 10) }
    #expect(!bench.bank.isHigh(4))
    switch way {
    case 0: _ = bench.request(.emergencyStop, issued: 20)
    case 1: bench.safeState(20, .misses(4))
    default: bench.safeState(20, .stop)
    }
    #expect(bench.bank.isHigh(4))
    bench.arm(pulse: 1500, at: 30)
    bench.tick(40)
    #expect(bench.bank.isHigh(4))
  }

  @Test(
    "line gone: every leg in fault, the chip's own off still works; back, the chip is configured, armed anew it drives")
  func lineGone() {
    let bench = LegBench(legs: 2, hasOutputEnable: true)
    bench.arm(pulse: 1500, at: 10)
    bench.bank.inject(.gone)
    bench.act(.disarm, at: 20)
    #expect(bench.snapshot[0].state == .fault(.output, .confirmed) && bench.writes().last == "off all")
    #expect(bench.snapshot[1].state == .fault(.output, .confirmed))
    let servos = bench.snapshot.servos
    #expect(servos.outputsEnabled == nil && servos.enableFailures == 2 && servos.lastEnableFailure == .gone)
    bench.tick(40)
    #expect(!bench.snapshot.servos.isReady && bench.snapshot[0].state == .fault(.output, .confirmed))
    #expect(
      bench.takeNotices().filter { $0.hasPrefix("chip fails") }
        == ["chip fails: the output-enable line does not take its level: the GPIO chip is gone"], "told once")
    bench.bank.clearFaults()
    bench.tick(60)
    bench.tick(TickInstant(nanoseconds: 60_500_000), .deadline)
    #expect(bench.bank.isHigh(4) && bench.snapshot.servos.outputsEnabled == false && bench.snapshot.servos.isReady)
    #expect(bench.takeNotices() == ["chip answers"])
    bench.act(.disarm, at: 70)
    bench.arm(pulse: 1500, at: 71)
    #expect(!bench.bank.isHigh(4) && bench.snapshot[0].pulse != nil)
  }

  @Test("line cannot be enabled: fault in the same tick instead of a pulse that never comes")
  func lineGoneWhenWanted() {
    let bench = LegBench(hasOutputEnable: true)
    bench.act(.arm, at: 10)
    bench.bank.inject(.gone)
    bench.act(.setServo(.microseconds(1500)), at: 12)
    #expect(bench.snapshot[0].state == .fault(.output, .confirmed) && bench.writes() == ["0: 307", "off all"])
  }

  @Test(
    "line shorted, either way: noticed within 200 ms by its level, fault, off through the chip",
    arguments: [true, false])
  func lineStuck(isHigh: Bool) {
    let bench = LegBench(hasOutputEnable: true)
    if isHigh { bench.arm(pulse: 1500, at: 10) }
    bench.bank.inject(.stuck(line: 4, isHigh: isHigh))
    var at: Int64 = 20
    while at <= 220, bench.snapshot.servos.failures == 0 {
      if isHigh { bench.act(.ping, at: at - 1) }
      bench.tick(at)
      at += 20
    }
    #expect(bench.snapshot[0].state == .fault(.output, .confirmed))
    #expect(bench.snapshot.servos.lastFailure == .outputEnableStuck(isEnabled: !isHigh))
    #expect(bench.writes().last == "off all")
    bench.tick(at)
    // Shorted to the inactive level it looks right until a leg drives; to the other it stays a failure.
    bench.tick(TickInstant(nanoseconds: at * 1_000_000 + 500_000), .deadline)
    #expect(bench.snapshot.servos.isReady == isHigh)
  }

  @Test("line gone, e-stop, shutdown: the chip's off is what counts")
  func lineGoneThenStopped() {
    let bench = LegBench(hasOutputEnable: true)
    bench.arm(pulse: 1500, at: 10)
    bench.bank.inject(.gone)
    _ = bench.request(.emergencyStop, issued: 20)
    #expect(bench.snapshot[0].state == .emergencyStopped(.confirmed))
    bench.safeState(40, .stop)
    #expect(bench.snapshot[0].state == .shutDown(.confirmed))
  }
}
