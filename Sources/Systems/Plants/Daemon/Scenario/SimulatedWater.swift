import Dispatch
import Plants
import Synchronization
import Tactus
import Water

/// A sprinkler that dry plants may ask: it opens the zone at once, for as long as it is asked. Any thread.
final class SimulatedWater: Sendable {
  private struct State {
    var condition = PlantScenario.Sprinkler.ready
    /// Asked for, and not yet open.
    var waiting: [WaterRequest] = []
    /// By zone: until when it is open.
    var open: [Int: TickInstant] = [:]
    var asked = 0
  }
  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)

  var condition: PlantScenario.Sprinkler {
    get { state.withLock { $0.condition } }
    set { state.withLock { $0.condition = newValue } }
  }

  /// Requests so far.
  var asked: Int { state.withLock { $0.asked } }

  func isOpen(_ zone: Int, at now: TickInstant) -> Bool {
    state.withLock { state in state.open[zone].map { now < $0 } ?? false }
  }

  /// Blocks until a request that was announced is here, and opens its zone.
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
