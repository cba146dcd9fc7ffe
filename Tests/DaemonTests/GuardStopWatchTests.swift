import Logging
import Service
import Tactus
import Testing

@testable import TactusDaemon

@Suite("telling people of the guard's writes")
struct GuardStopWatchTests {
  private func at(_ milliseconds: Int64) -> TickInstant { .zero + .milliseconds(milliseconds) }

  @Test(
    "the guard has written: told once, whatever the number of writes; of further ones a second later at the earliest")
  func told() {
    let stops = ExternalStops()
    var watch = GuardStopWatch(
      stops, left: nil, health: GuardHealth(.watching), logger: Logger(label: "guard") { _ in SwiftLogNoOpLogHandler() }
    )
    var times: [Int64] = []
    for time in stride(from: Int64(0), through: 3_000, by: 100) {
      if [500, 700, 800].contains(time) { stops.note(at: at(time)) }
      if let event = watch.check(at: at(time)) {
        #expect(event.type == "madeSafe")
        times.append(time)
      }
    }
    #expect(times == [500, 1_500])
  }
}
