@_spi(FromOutside) import Conversions
import Dispatch
import Plants
import Synchronization
import Tactus
import Water

/// A simulated sprinkler for dry plants, which opens a requested zone at once and for the requested time. It may be used on any thread.
final class SimulatedWater: Sendable {
  /// The state of the sprinkler whose zones dry plants request.
  enum Condition: String, CaseIterable {
    case ready
    case rainDelay = "rain-delay"
    case stopped
  }

  private struct State {
    var condition = Condition.ready
    /// The requests whose zones are not open yet.
    var waiting: [WaterRequest] = []
    /// The end of the watering, by zone.
    var open: [Int: TickInstant] = [:]
    var asked = 0
  }
  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)

  var condition: Condition {
    get { state.withLock { $0.condition } }
    set { state.withLock { $0.condition = newValue } }
  }

  /// The number of requests so far.
  var asked: Int { state.withLock { $0.asked } }

  func isOpen(_ zone: Int, at now: TickInstant) -> Bool {
    state.withLock { state in state.open[zone].map { now < $0 } ?? false }
  }

  /// Blocks until an announced request has arrived, and opens its zone.
  func waitForRequest(at now: TickInstant) {
    arrival.wait()
    state.withLock { state in
      let request = state.waiting.removeFirst()
      state.asked += 1
      state.open[request.zone] = now + .seconds(Int64(request.seconds))
    }
  }

  var asPlantsSeeIt: WaterSupply {
    WaterSupply(
      isRainDelayed: { self.condition == .rainDelay }, isStopped: { self.condition == .stopped },
      day: { Int($0 / 86_400) },
      ask: { request in
        self.state.withLock { $0.waiting.append(request) }
        self.arrival.signal()
      })
  }
}
