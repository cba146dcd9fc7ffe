import Dispatch
import Service
import Synchronization

/// What `GET /api/health` says of what stops no loop: looked at again and again on a thread of its own, since a look at the token file waits
/// for its disk.
final class TroubleWatch: Sendable {
  private let service: ServiceComposition
  /// The store, or `nil` if no system keeps anything.
  private let store: DaemonStore?
  private let spawner: SpawnerWatch
  /// The broker's trouble, or `nil` if the daemon uses no broker.
  private let broker: (@Sendable () -> ServiceTrouble?)?
  private let looking = DispatchQueue(label: "tactus.troubles")
  private let isLooking = Atomic(false)

  init(
    _ service: ServiceComposition, store: DaemonStore?, spawner: SpawnerWatch,
    broker: (@Sendable () -> ServiceTrouble?)?
  ) {
    (self.service, self.store, self.spawner, self.broker) = (service, store, spawner, broker)
  }

  /// Never waits.
  func beat() {
    guard isLooking.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    looking.async { [self] in
      look()
      isLooking.store(false, ordering: .relaxed)
    }
  }

  func look() {
    let troubles = [store?.trouble, service.trouble, spawner.trouble, broker?()]
    service.service.setTroubles(troubles.compactMap(\.self))
  }
}
