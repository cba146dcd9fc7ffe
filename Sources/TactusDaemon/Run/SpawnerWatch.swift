import Confinement
import Dispatch
import Logging
import Service
import Synchronization

/// Whether the spawners of a confined daemon are still there. Reports once when one is not, and once when none is.
///
/// One takes over for the other. A daemon without any goes on: nothing that it has is lost, and a guard that cannot be replaced stops every output.
final class SpawnerWatch: Sendable {
  private let logger: Logger
  /// A look may have to wait for a process that is being started.
  private let looking = DispatchQueue(label: "tactus.spawner")
  private let isAlone = Atomic(false)
  private let isLost = Atomic(false)

  init(_ logger: Logger) { self.logger = logger }

  /// What `GET /api/health` says, or `nil` if all is well, or there is no spawner.
  var trouble: ServiceTrouble? {
    guard isLost.load(ordering: .relaxed) else { return nil }
    return ServiceTrouble(
      code: "SPAWNER_LOST",
      message: "the processes that start others for this one are gone; to go on: restart "
        + "\(DaemonProgram.current.name); until then no guard and no child that ends can be started again, and no "
        + "adapter opened that was unplugged")
  }

  /// A child of this process has ended, or a request was not answered. Never waits.
  func look() {
    looking.async { [self] in
      if Spawner.isAlone, !isAlone.exchange(true, ordering: .relaxed) {
        logger.warning("a spawner is gone: the other does its work, and none stands by for that one until a restart")
      }
      guard Spawner.isLost, !isLost.exchange(true, ordering: .relaxed) else { return }
      logger.critical(
        "the spawners are gone: restart the program",
        metadata: ["lost": "no guard and no child can be started again, no adapter opened again"])
    }
  }
}
