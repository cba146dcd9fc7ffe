import Service
import Sprinkler
import Store
import Tactus
import TactusDaemon

/// A schedule with its store, as a value used within the desk's lock. A step is on the disk before it takes effect; if the disk fails,
/// nothing has happened. Blocks on the disk.
public struct StoredSchedule: Sendable {
  /// Makes the scheduler from the store's records; the function may write to the store.
  public typealias Load = @Sendable () throws(StoreError) -> SprinklerScheduler

  /// The scheduler, or `nil` until the store could be read, as zones, schedules and the times of today are unknown before that.
  private(set) var scheduler: SprinklerScheduler?
  let store: any ScheduleStore
  private let makeScheduler: Load
  /// The reason why the store refused the last change, or `nil` if it accepted it.
  private(set) var failure: String?
  /// A number that changes with every change of the records or of `failure`.
  private(set) var version: UInt64 = 0
  private var hasStarted = false
  /// The loop's events that are not in the store yet, oldest first.
  private var unstored: [SprinklerEvent] = []
  /// Whether the store has refused events of the loop that are still not stored.
  private var isBehind = false
  /// Whether the store has accepted events that it had refused before, since the last call of `takeCaughtUp()`.
  private var hasCaughtUp = false

  /// Reads the store if it is open; otherwise `start` reads it as soon as it is.
  public init(_ load: @escaping Load, store: any ScheduleStore) {
    (makeScheduler, self.store) = (load, store)
    try? self.load()
  }

  /// The records, empty until the store could be read.
  public var records: SprinklerRecords { scheduler?.records ?? SprinklerRecords() }

  private mutating func load() throws(APIError) {
    guard scheduler == nil else { return }
    do throws(StoreError) {
      adopt(try makeScheduler())
    } catch {
      throw refused(error)
    }
  }

  /// Makes the first step, which must be stored before any other, and returns its effects; `nil` if that was done before.
  public mutating func start(_ now: WallReading) throws(APIError) -> SprinklerEffects? {
    guard !hasStarted else { return nil }
    try load()
    let effects = try step(.started, now)
    hasStarted = true
    return effects
  }

  /// Steps a copy of the schedule, writes the changes to the store, and only then replaces the schedule by the copy.
  public mutating func step(_ event: SprinklerEvent, _ now: WallReading) throws(APIError) -> SprinklerEffects {
    var copy = try loaded()
    let effects = copy.step(event, at: now)
    if let refusal = effects.refusal { throw refusal.error }
    if effects.changes.isEmpty {
      scheduler = copy
      return effects
    }
    do throws(StoreError) {
      try store.apply(effects.changes)
    } catch {
      if Mechanism.storeFirst.acts { throw refused(error) }
    }
    adopt(copy)
    return effects
  }

  /// Adds events of the loop that must be stored; `catchUp` steps the schedule with them as soon as the store accepts that.
  public mutating func remember(_ events: [SprinklerEvent]) { unstored += events }

  /// The store's knowledge of how the runs ended.
  public var outcome: KeptOutcome { !hasStarted ? .unknownBefore : unstored.isEmpty ? .known : .unknown }

  /// Steps the schedule with the events to be stored, oldest first, until the store refuses one. Returns the effects.
  public mutating func catchUp(_ now: WallReading) -> [SprinklerEffects] {
    var done: [SprinklerEffects] = []
    while let event = unstored.first {
      guard let effects = try? step(event, now) else {
        isBehind = true
        return done
      }
      unstored.removeFirst()
      done.append(effects)
    }
    if isBehind { (isBehind, hasCaughtUp) = (false, true) }
    return done
  }

  /// Returns whether the store has accepted events of the loop that it had refused before, since the last call. Such events are stored with the
  /// instant at which they were accepted, so the caller saves the progress of the runs immediately.
  public mutating func takeCaughtUp() -> Bool {
    defer { hasCaughtUp = false }
    return hasCaughtUp
  }

  /// Replaces the records by those of a backup. The store's tables and the schedule change in one transaction, or neither does.
  mutating func restore(
    _ backup: CheckedBackup, caller: String?, _ now: WallReading
  ) throws(APIError) -> SprinklerEffects {
    var copy = try loaded()
    var effects = SprinklerEffects()
    do throws(StoreError) {
      _ = try store.restore(backup) { records in
        effects = copy.step(.command(.restore(records), caller: caller), at: now)
        return effects.refusal == nil ? effects.changes : nil
      }
    } catch {
      // Damage in the backup is not a failure of the store.
      if case .damaged(let file, _) = error, file != store.path { throw .notABackup(error) }
      throw refused(error)
    }
    if let refusal = effects.refusal { throw refusal.error }
    adopt(copy)
    return effects
  }

  private mutating func adopt(_ copy: SprinklerScheduler) {
    scheduler = copy
    failure = nil
    version += 1
  }

  private mutating func refused(_ error: StoreError) -> APIError {
    // A failing store reports the same error ten times a second, which is no change.
    if failure != "\(error)" { version += 1 }
    failure = "\(error)"
    return .storeFailed(error)
  }

  private func loaded() throws(APIError) -> SprinklerScheduler {
    if let scheduler { return scheduler }
    throw .storeFailed(store.trouble ?? .failed(file: store.path, doing: "opening", reason: "not done yet"))
  }
}
