import Tactus
import TestSupport
import Testing
import Video

@Suite("a limit of frames a second")
struct FrameLimitTests {
  /// How many of ten seconds' frames pass.
  private func passed(_ limit: Int, of framesPerSecond: Int, from start: UInt64 = 5_000_000_000) -> Int {
    var limit = FrameLimit(framesPerSecond: limit)
    return (0..<UInt64(10 * framesPerSecond)).filter {
      limit.passes(at: start + $0 * 1_000_000_000 / UInt64(framesPerSecond))
    }
    .count
  }

  @Test(
    "from a camera of any rate: the limit's many, or all that there are",
    arguments: [
      (10, 30, 100), (10, 25, 100), (10, 60, 100), (10, 10, 100), (10, 7, 70), (1, 30, 10), (30, 30, 300), (4, 9, 40),
    ])
  func rates(limit: Int, camera: Int, expected: Int) {
    #expect(passed(limit, of: camera) == expected)
    #expect(passed(limit, of: camera, from: 0) == expected)
  }

  @Test("frames that come a little early or late: none is lost, seeded")
  func jitter() {
    var random = SplitMix64(seed: 7)
    var limit = FrameLimit(framesPerSecond: 10)
    let passed = (1...300).filter { index in
      let jitter = random.next() % 5_000_000
      return limit.passes(at: UInt64(index) * 33_333_333 + jitter)
    }
    // One more where the first came late.
    #expect((100...101).contains(passed.count))
  }

  @Test("after a gap: one frame, and the next a period later; no burst")
  func gap() {
    var limit = FrameLimit(framesPerSecond: 10)
    let times: [UInt64] = [0, 5_000, 5_020, 5_040, 5_099, 5_100, 5_199, 5_200]
    #expect(times.filter { limit.passes(at: $0 * 1_000_000) } == [0, 5_000, 5_099, 5_199])
  }

  /// Which of these frames pass.
  private func passed(_ times: [UInt64], _ framesPerSecond: Int) -> [UInt64] {
    var limit = FrameLimit(framesPerSecond: framesPerSecond)
    return times.filter { limit.passes(at: $0) }
  }

  @Test(
    "a frame that is just early enough passes, and one a nanosecond earlier does not: 5 ms, or an eighth of a period",
    arguments: [(10, 95_000_000), (40, 21_875_000), (25, 35_000_000)])
  func early(limit: Int, first: UInt64) {
    #expect(passed([0, first], limit) == [0, first])
    #expect(passed([0, first - 1], limit) == [0])
  }

  @Test("a limit of none: one a second")
  func none() { #expect(passed([0, 900_000_000, 1_000_000_000], 0) == [0, 1_000_000_000]) }
}
