import Pump
import Store

/// A store for the used part of the pump's run limit.
public protocol PumpLimitStore: Sendable {
  /// Returns the state stored last, or `nil` if none was stored.
  func limit() throws(StoreError) -> PumpLimit?
  /// Stores a state; it is durable when the call returns.
  func keep(_ limit: PumpLimit) throws(StoreError)
  /// Whether the store can be read and written.
  var isOpen: Bool { get }
}

extension PumpStore: PumpLimitStore {
  public var isOpen: Bool { file.isOpen }
}
