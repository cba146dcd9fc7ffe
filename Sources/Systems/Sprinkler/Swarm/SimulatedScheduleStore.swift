import Sprinkler
import SprinklerDaemon
import Store
import Synchronization

/// A store in memory. It survives the simulated daemon, refuses changes while its disk is full, and can let the daemon crash during a write.
final class SimulatedScheduleStore: ScheduleStore {
  /// The moment of a crash: before or after the write takes effect.
  enum Crash { case before, after }

  private struct State {
    var records: SprinklerRecords
    var logged: Set<UInt64> = []
    /// The time that each zone ran according to the log, in seconds, by the zone's index.
    var loggedSeconds: [Int: Double] = [:]
    var writes = 0
    var isFull = false
    var crash: Crash?
    var hasDied = false
  }

  private let state: Mutex<State>

  private let forgets: Bool

  /// Creates a store with the given records.
  ///
  /// - Parameter forgets: whether the store only pretends to keep changes, for tests.
  init(_ records: SprinklerRecords, forgets: Bool = false) {
    state = Mutex(State(records: records))
    self.forgets = forgets
  }

  var records: SprinklerRecords { state.withLock { $0.records } }
  /// Returns whether the log has a line of this run.
  func hasLogged(_ run: UInt64) -> Bool { state.withLock { $0.logged.contains(run) } }
  /// Returns the time for which a zone was open according to the log, in seconds; `zone` is the zone's index from 0.
  func loggedSeconds(_ zone: Int) -> Double { state.withLock { $0.loggedSeconds[zone] ?? 0 } }
  var isFull: Bool { state.withLock { $0.isFull } }
  /// The number of writes that were attempted.
  var writes: Int { state.withLock { $0.writes } }
  /// Whether the process has died in a write.
  var hasDied: Bool { state.withLock { $0.hasDied } }

  func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }
  /// Lets the process crash in its next write.
  func crash(_ crash: Crash) { state.withLock { $0.crash = crash } }
  /// Opens the store for another process.
  func reopen() { state.withLock { ($0.hasDied, $0.crash) = (false, nil) } }

  // MARK: ScheduleStore

  var path: String { "memory" }
  var trouble: StoreError? { nil }

  func apply(_ changes: [SprinklerChange]) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      state.writes += 1
      if state.hasDied { throw .failed(file: "memory", doing: "keeping a change", reason: "the process has died") }
      if state.isFull { throw .diskFull(file: "memory", doing: "keeping a change") }
      state.hasDied = state.crash != nil
      if state.crash != .before, !forgets {
        for change in changes {
          state.records.apply(change)
          guard case .log(let record) = change else { continue }
          state.logged.insert(record.run)
          state.loggedSeconds[record.zone.index, default: 0] += record.ranSeconds
        }
      }
      if state.hasDied { throw .failed(file: "memory", doing: "keeping a change", reason: "the process has died") }
    }
  }

  func restore(
    _ backup: CheckedBackup, _ decide: (SprinklerRecords) -> [SprinklerChange]?
  ) throws(StoreError) -> Bool {
    throw .failed(file: "memory", doing: "taking a backup", reason: "not simulated")
  }
}
