import Pump
import Store
import Synchronization

/// Where it is kept how much of its limit the pump has used.
protocol PumpLimitStore: Sendable {
  /// What was kept last; `nil` if nothing was.
  func limit() throws(StoreError) -> PumpLimit?
  /// Keeps it, for good when this returns.
  func keep(_ limit: PumpLimit) throws(StoreError)
  /// Whether it can be read and written.
  var isOpen: Bool { get }
}

extension PumpStore: PumpLimitStore {
  var isOpen: Bool { file.isOpen }
}

/// A store in memory, which survives the simulated daemon.
final class SimulatedPumpLimit: PumpLimitStore {
  private let kept = Mutex<PumpLimit?>(nil)

  func limit() throws(StoreError) -> PumpLimit? { kept.withLock { $0 } }
  func keep(_ limit: PumpLimit) throws(StoreError) { kept.withLock { $0 = limit } }
  var isOpen: Bool { true }
}
