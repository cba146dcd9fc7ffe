import Buses
import Devices
import Tactus
import Testing

@testable import Leg

/// A sensor behind a divider by 3: 7.4 V are 2,466,667 µV at its input.
@Suite struct BatteryTests {
  private let battery = LegBattery(channel: 1, dividerPerMille: 3000)

  private func bench(legs: Int = 1, limits: LegBatteryLimits? = nil) -> LegBench {
    let settings = try! LegSettings(deadmanTimeout: .seconds(5), battery: limits)
    let bench = LegBench(
      (0..<legs).map { LegConfiguration(settings, channel: try! ServoChannel($0)) }, battery: battery)
    bench.converter.set(1, Microvolts(2_466_667))
    bench.tick(0)
    bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
    return bench
  }

  private func run(_ bench: LegBench, from first: Int64, to last: Int64) {
    for at in stride(from: first, through: last, by: 20) { bench.tick(at) }
  }

  @Test("measured: in the snapshot and in every leg's telemetry, five times a second, one transfer a tick")
  func measured() {
    let bench = bench(legs: 2)
    bench.send(.disarm, at: 1)
    run(bench, from: 20, to: 1000)
    #expect(bench.snapshot[0].battery == Millivolts(7400) && bench.snapshot[1].battery == Millivolts(7400))
    #expect(bench.snapshot[1].telemetry.battery == Millivolts(7400))
    #expect((4...5).contains(bench.snapshot.battery.readings) && bench.snapshot.battery.failures == 0)
    let transfers = bench.bus.transactions().filter { $0.address == ADS1115.standardAddress }
    #expect(Set(transfers.map(\.at)).count == transfers.count)
  }

  @Test("empty while armed: fault, no pulse; charged and disarmed, it can be armed again")
  func empty() {
    let bench = bench(limits: LegBatteryLimits(warning: Millivolts(6800), fault: Millivolts(6400)))
    run(bench, from: 20, to: 100)
    bench.arm(pulse: 1500, at: 110)
    bench.converter.set(1, Microvolts(2_200_000))
    run(bench, from: 120, to: 500)
    #expect(bench.snapshot[0].telemetry.error == .lowBattery && bench.snapshot[0].pulse != nil, "6.6 V: a warning")
    bench.converter.set(1, Microvolts(2_100_000))
    run(bench, from: 520, to: 900)
    #expect(
      bench.snapshot[0].state == .fault(.lowBattery, .confirmed) && bench.snapshot[0].telemetry.error == .lowBattery)
    bench.act(.disarm, at: 905)
    bench.act(.arm, at: 906)
    #expect(bench.snapshot[0].state == .disarmed(.confirmed) && bench.snapshot[0].lastIgnored == .lowBattery)
    bench.converter.set(1, Microvolts(2_466_667))
    run(bench, from: 920, to: 1300)
    bench.act(.arm, at: 1310)
    #expect(bench.snapshot[0].state == .armed(.waiting(.confirmed)))
  }

  @Test("sensor silent: the legs drive on, unknown after three misses, told once; back, told once")
  func silent() {
    let bench = bench()
    run(bench, from: 20, to: 100)
    bench.arm(pulse: 1500, at: 110)
    _ = bench.takeNotices()
    bench.bus.inject(.noAcknowledge(address: ADS1115.standardAddress, count: nil))
    run(bench, from: 120, to: 1500)
    #expect(bench.snapshot[0].battery == nil && bench.snapshot[0].telemetry.battery == Millivolts(0))
    #expect(bench.snapshot[0].pulse != nil && bench.snapshot.servos.failures == 0)
    bench.bus.clearFaults()
    run(bench, from: 1520, to: 2000)
    #expect(bench.snapshot[0].battery == Millivolts(7400))
    let told = bench.takeNotices()
    #expect(
      told.count == 2 && told[0].hasPrefix("battery silent: the converter does not answer")
        && told[1] == "battery answers")
  }

  @Test("sensor without power for a moment: its zero is no voltage")
  func reset() {
    let bench = bench(limits: LegBatteryLimits(warning: Millivolts(6800), fault: Millivolts(6400)))
    run(bench, from: 20, to: 100)
    bench.arm(pulse: 1500, at: 110)
    for at in stride(from: Int64(120), through: 3000, by: 20) {
      bench.converter.reset()
      bench.tick(at)
    }
    #expect(bench.snapshot[0].pulse != nil && bench.snapshot.battery.lastFailure == .notReady)
  }

  @Test("stuck bus: the sensor is left alone, so that a tick times out once")
  func stuckBus() {
    let bench = bench()
    run(bench, from: 20, to: 100)
    bench.bus.inject(.stuck)
    let before = bench.bus.transactionCount
    run(bench, from: 120, to: 1500)
    // One at each period while the chip is configured anew; the sensor may have been the first to meet it.
    #expect(bench.bus.transactionCount - before <= 71)
    #expect(bench.snapshot[0].battery == nil && bench.snapshot.battery.lastFailure == .busUnusable)
  }

  @Test("divider: rounded, and kept within what telemetry can carry")
  func divider() {
    #expect(LegBattery(channel: 0, dividerPerMille: 3000).voltage(Microvolts(2_466_666)) == Millivolts(7400))
    #expect(LegBattery(channel: 0, dividerPerMille: 1000).voltage(Microvolts(-200)) == Millivolts(0))
    #expect(LegBattery(channel: 0, dividerPerMille: 100_000).voltage(Microvolts(4_000_000)) == Millivolts(65_535))
  }
}
