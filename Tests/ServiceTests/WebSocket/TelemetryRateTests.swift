import Tactus
import Testing

@testable import Service

@Suite("Telemetry rate")
struct TelemetryRateTests {
  @Test(
    "10 Hz of beats whose ticks lie up to 50 ms before them: every beat but those that carry the state is sent",
    arguments: [[0], [0, -20], [-20, 0, 0], [0, -50], [-50, -50, 0]])
  func everyBeat(offsetsMs: [Int64]) {
    var rate = TelemetryRate(hertz: 10)
    var taken = 0
    for beat in 1..<101 where beat % 10 != 0 {
      let offset = offsetsMs[beat % offsetsMs.count]
      if rate.takes(TickInstant(nanoseconds: (Int64(beat) * 100 + offset) * 1_000_000)) { taken += 1 }
    }
    #expect(taken == 90)
  }

  @Test("a lower rate is kept on average", arguments: [1.0, 2, 3, 5, 7])
  func lower(hertz: Double) {
    var rate = TelemetryRate(hertz: hertz)
    let taken = (0..<1000).count { rate.takes(TickInstant(nanoseconds: $0 * 100_000_000)) }
    #expect(abs(Double(taken) - hertz * 100) <= 1)
  }
}
