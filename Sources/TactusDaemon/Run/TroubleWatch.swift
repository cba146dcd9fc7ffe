import Dispatch
import Service
import Synchronization

/// Collects the troubles for `GET /api/health` that do not stop a loop. They are checked repeatedly on a thread of
/// their own, since a check of the token file waits for the disk.
final class TroubleWatch: Sendable {
  private let service: ServiceComposition
  /// The store, or `nil` if no system keeps anything.
  private let store: DaemonStore?
  private let spawner: SpawnerWatch
  /// Returns the broker's trouble; the property is `nil` if the daemon uses no broker.
  private let broker: (@Sendable () -> ServiceTrouble?)?
  private let log: ProgramLog
  private let looking = DispatchQueue(label: "tactus.troubles")
  private let isLooking = Atomic(false)

  init(
    _ service: ServiceComposition, store: DaemonStore?, spawner: SpawnerWatch,
    broker: (@Sendable () -> ServiceTrouble?)?, log: ProgramLog
  ) {
    (self.service, self.store, self.spawner, self.broker, self.log) = (service, store, spawner, broker, log)
  }

  /// Starts a check on the other thread unless one is in progress. Does not block.
  func beat() {
    guard isLooking.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    looking.async { [self] in
      check()
      isLooking.store(false, ordering: .relaxed)
    }
  }

  func check() {
    let troubles = [store?.trouble, service.trouble, spawner.trouble, broker?(), log.trouble]
    service.service.setTroubles(troubles.compactMap(\.self))
  }
}
