import Pump
import Store

/// Where it is kept how much of its limit the pump has used.
public protocol PumpLimitStore: Sendable {
  /// What was kept last, or `nil` if nothing was.
  func limit() throws(StoreError) -> PumpLimit?
  /// Keeps it, for good when this returns.
  func keep(_ limit: PumpLimit) throws(StoreError)
  /// Whether it can be read and written.
  var isOpen: Bool { get }
}

extension PumpStore: PumpLimitStore {
  public var isOpen: Bool { file.isOpen }
}
