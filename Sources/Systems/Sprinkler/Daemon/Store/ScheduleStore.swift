import Sprinkler
import Store

/// What a schedule needs of its store.
public protocol ScheduleStore: Sendable {
  /// Where it is, for people.
  var path: String { get }
  /// Why it cannot be used, or `nil` if it can.
  var trouble: StoreError? { get }
  /// Makes changes, in their order: all or none, for good when this returns.
  func apply(_ changes: [SprinklerChange]) throws(StoreError)
  /// Takes a backup. Returns whether it was written.
  func restore(
    _ backup: CheckedBackup, _ decide: (SprinklerRecords) -> [SprinklerChange]?
  ) throws(StoreError) -> Bool
}

extension SprinklerStore: ScheduleStore {
  public var path: String { file.path }
  public var trouble: StoreError? { file.trouble }
}
