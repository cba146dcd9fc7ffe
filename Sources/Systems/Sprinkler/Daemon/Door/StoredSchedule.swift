import Service
import Sprinkler
import Store
import Tactus
import TactusDaemon

/// The schedule with the store behind it, a value for within the desk's lock: a step is on the disk before it is the schedule, and if
/// the disk refuses, nothing has happened. Blocks on the disk.
public struct StoredSchedule: Sendable {
  /// The schedule of what the store has. It may write to it.
  public typealias Load = @Sendable () throws(StoreError) -> SprinklerScheduler

  /// `nil` until the store could be read: nothing is known of zones, schedules, and what has run today.
  private(set) var scheduler: SprinklerScheduler?
  let store: any ScheduleStore
  private let makeScheduler: Load
  /// Why the store refused the last change, or `nil` if it took it.
  private(set) var failure: String?
  /// Another one whenever records or failure are.
  private(set) var version: UInt64 = 0
  private var hasStarted = false
  /// What the valves' loop told and the store has refused so far, oldest first.
  private var unstored: [SprinklerEvent] = []
  /// Whether the store has refused what the loop told.
  private var isBehind = false
  /// Whether the store has taken that since.
  private var hasCaughtUp = false

  /// Reads the store, if it is open; if not, `start` does as soon as it is.
  public init(_ load: @escaping Load, store: any ScheduleStore) {
    (makeScheduler, self.store) = (load, store)
    try? self.load()
  }

  /// Empty while nothing is known.
  public var records: SprinklerRecords { scheduler?.records ?? SprinklerRecords() }

  private mutating func load() throws(APIError) {
    guard scheduler == nil else { return }
    do throws(StoreError) {
      take(try makeScheduler())
    } catch {
      throw refused(error)
    }
  }

  /// The first step, which must be stored before any other, or `nil` if it has been.
  public mutating func start(_ now: WallReading) throws(APIError) -> SprinklerEffects? {
    guard !hasStarted else { return nil }
    try load()
    let effects = try step(.started, now)
    hasStarted = true
    return effects
  }

  /// Steps a copy, writes what changed, and only then makes it the schedule.
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
    take(copy)
    return effects
  }

  /// What the loop told, which must be kept: as `step`, now or as soon as the store takes it.
  public mutating func remember(_ events: [SprinklerEvent]) { unstored += events }

  /// What the store knows of how the runs ended.
  public var outcome: KeptOutcome { !hasStarted ? .unknownBefore : unstored.isEmpty ? .known : .unknown }

  /// Steps with what is remembered, oldest first, until the store refuses one.
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

  /// Returns whether the store has taken events of the loop that it had refused before, since the last call. Such events are noted with the
  /// instant at which they were taken, so the caller notes the progress of the runs at once.
  public mutating func takeCaughtUp() -> Bool {
    defer { hasCaughtUp = false }
    return hasCaughtUp
  }

  /// A backup's records in place of these: the store's tables and the schedule change in one transaction, or neither does.
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
      // What is wrong with the backup is no failure of the store.
      if case .damaged(let file, _) = error, file != store.path { throw .notABackup(error) }
      throw refused(error)
    }
    if let refusal = effects.refusal { throw refusal.error }
    take(copy)
    return effects
  }

  private mutating func take(_ copy: SprinklerScheduler) {
    scheduler = copy
    failure = nil
    version += 1
  }

  private mutating func refused(_ error: StoreError) -> APIError {
    // The same again, ten times a second, is no change.
    if failure != "\(error)" { version += 1 }
    failure = "\(error)"
    return .storeFailed(error)
  }

  private func loaded() throws(APIError) -> SprinklerScheduler {
    if let scheduler { return scheduler }
    throw .storeFailed(store.trouble ?? .failed(file: store.path, doing: "opening", reason: "not done yet"))
  }
}

extension APIError {
  /// 422: what was sent is no backup, or one that makes no sense.
  static func notABackup(_ error: StoreError) -> APIError {
    APIError(.unprocessableContent, "VALIDATION", "\(error)", field: "body")
  }
}
