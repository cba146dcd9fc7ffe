import Buses
import Devices
import Tactus
import Testing
import Wire

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
    #expect(bench.bank.transactions().map(\.operation) == [.request, .set, .set], "one access a change")
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

  @Test("line gone: counted with its reason, tried at every tick, the legs drive on and the chip's own off still works")
  func lineGone() {
    let bench = LegBench(hasOutputEnable: true)
    bench.arm(pulse: 1500, at: 10)
    bench.bank.inject(.gone)
    bench.act(.disarm, at: 20)
    bench.tick(40)
    #expect(bench.snapshot.servos.outputsEnabled == nil && bench.snapshot.servos.enableFailures == 2)
    #expect(bench.snapshot.servos.lastEnableFailure == .gone)
    #expect(bench.writes().last == "0: off" && bench.snapshot[0].state == .disarmed(.confirmed))
    bench.bank.clearFaults()
    bench.tick(60)
    #expect(bench.bank.isHigh(4) && bench.snapshot.servos.outputsEnabled == false)
  }
}
