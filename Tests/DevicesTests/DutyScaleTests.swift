import Buses
import Tactus
import Testing
import Wire

@testable import Devices

@Suite struct DutyScaleTests {
  @Test(
    "full scale: percent becomes round(|percent| · 255 / 100)",
    arguments: [(0, 0), (100, 255), (-100, 255), (50, 128), (-50, 128), (1, 3), (0.1, 0), (99.9, 255), (33.3, 85)])
  func fullScale(percent: Double, duty: UInt8) {
    #expect(DutyScale().duty(Percent(percent)) == duty)
  }

  @Test("beyond ±100 %: counts as 100 %", arguments: [100.1, -250, .infinity, -.infinity])
  func clamped(percent: Double) {
    #expect(DutyScale(maxDuty: 200).duty(Percent(percent)) == 200)
  }

  @Test("not a number: rests")
  func notANumber() { #expect(DutyScale(minDuty: 40).duty(Percent(.nan)) == 0) }

  @Test("minimum duty 40: any non-zero speed gets at least 40, zero stays 0")
  func deadBand() {
    let scale = DutyScale(maxDuty: 255, minDuty: 40)
    #expect(scale.duty(Percent(0)) == 0)
    #expect(scale.duty(Percent(-0.0)) == 0)
    #expect(scale.duty(Percent(0.01)) == 40)
    #expect(scale.duty(Percent(-10)) == 40)
    #expect(scale.duty(Percent(16)) == 41)
  }

  @Test(
    "any scale: more speed never gives less duty, and 100 % gives the maximum", arguments: 1...20 as ClosedRange<UInt64>
  )
  func monotonic(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let maxDuty = UInt8(random.below(256))
    let scale = DutyScale(maxDuty: maxDuty, minDuty: UInt8(random.below(UInt64(maxDuty) + 1)))
    var last: UInt8 = 0
    for step in 0...1000 {
      let duty = scale.duty(Percent(Double(step) / 10))
      #expect(duty >= last && duty <= maxDuty, "seed \(seed)")
      last = duty
    }
    #expect(last == maxDuty, "seed \(seed)")
  }
}
