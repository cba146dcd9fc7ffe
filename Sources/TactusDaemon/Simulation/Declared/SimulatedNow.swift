import Synchronization
import Tactus

/// The time of the simulation, which may be read and set on any thread.
final class SimulatedNow: Sendable {
  private let instant = Atomic<Int64>(0)

  var now: TickInstant {
    get { TickInstant(nanoseconds: instant.load(ordering: .relaxed)) }
    set { instant.store(newValue.nanoseconds, ordering: .relaxed) }
  }
}
