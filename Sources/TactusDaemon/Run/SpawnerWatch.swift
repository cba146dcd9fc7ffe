import Confinement
import Dispatch
import Logging
import Service
import Synchronization

/// Watches whether the spawners of a confined daemon are running. It reports once when one of them has ended, and once
/// when none is left.
///
/// Either spawner can take over for the other. The daemon continues without any: it keeps everything it has open, and
/// if the guard cannot be replaced every output is stopped.
final class SpawnerWatch: Sendable {
  private let logger: Logger
  /// A queue for the checks, since a check may have to wait for a process that is being started.
  private let looking = DispatchQueue(label: "tactus.spawner")
  private let isAlone = Atomic(false)
  private let isLost = Atomic(false)

  init(_ logger: Logger) { self.logger = logger }

  /// The trouble for `GET /api/health`, or `nil` if a spawner is running or none is needed.
  var trouble: ServiceTrouble? {
    guard isLost.load(ordering: .relaxed) else { return nil }
    return ServiceTrouble(
      code: "SPAWNER_LOST",
      message: "the processes that start others for this one are gone; to go on: restart "
        + "\(DaemonProgram.current.name); until then no guard and no child that ends can be started again, and no "
        + "adapter opened that was unplugged")
  }

  /// Checks the spawners after a child of this process has ended or a request was not answered. Does not block.
  func check() {
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
