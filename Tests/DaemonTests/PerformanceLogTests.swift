import Logging
import Tactus
import Testing

@testable import TactusDaemon

@Suite("figures of a minute in the log")
struct PerformanceLogTests {
  @Test("nothing before a minute is over; then processor time, memory and every loop, and again a minute later")
  func everyMinute() throws {
    let start = TickInstant.zero + .seconds(5)
    var log = PerformanceLog(at: start)
    var asked = 0
    func loops() -> [LoopStatistics] {
      asked += 1
      return []
    }
    let early = log.beat(loops, at: start + .milliseconds(59_900))
    #expect(early == nil && asked == 0)
    let minute = log.beat(loops, at: start + .seconds(60))
    let first = try #require(minute)
    #expect(Set(first.keys) == ["cpu_percent", "resident_mb", "loops"] && asked == 1)
    #expect((Int("\(first["resident_mb"]!)") ?? 0) > 0)
    let soon = log.beat(loops, at: start + .seconds(61))
    let later = log.beat(loops, at: start + .seconds(120))
    #expect(soon == nil && later != nil && asked == 2)
  }
}
