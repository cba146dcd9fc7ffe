import Sprinkler
import Store

/// The operations that a schedule needs from its store.
public protocol ScheduleStore: Sendable {
  /// The location of the store, for messages to people.
  var path: String { get }
  /// The reason why the store cannot be used, or `nil` if it can.
  var trouble: StoreError? { get }
  /// Applies the changes in order: either all of them or none. They are durable when the function returns.
  func apply(_ changes: [SprinklerChange]) throws(StoreError)
  /// Restores a backup. Returns whether it was written.
  func restore(
    _ backup: CheckedBackup, _ decide: (SprinklerRecords) -> [SprinklerChange]?
  ) throws(StoreError) -> Bool
}

extension SprinklerStore: ScheduleStore {
  public var path: String { file.path }
  public var trouble: StoreError? { file.trouble }
}
