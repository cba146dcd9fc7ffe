import PumpDaemon
import Store
import Synchronization

/// A store in memory, which survives the simulated daemon.
final class SimulatedPumpLimit: PumpLimitStore {
  private let kept = Mutex<PumpLimit?>(nil)

  func limit() throws(StoreError) -> PumpLimit? { kept.withLock { $0 } }
  func keep(_ limit: PumpLimit) throws(StoreError) { kept.withLock { $0 = limit } }
  var isOpen: Bool { true }
}
