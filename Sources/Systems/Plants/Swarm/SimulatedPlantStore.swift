import Plants
import PlantsDaemon
import Service
import Store
import Synchronization

/// A store in memory, which survives the simulated daemon, rejects writes when its disk is full, and dies with the daemon in the middle of a write.
final class SimulatedPlantStore: PlantDeskStore {
  /// The point of a write at which the process dies.
  enum Crash { case before, after }

  private struct Key: Hashable {
    var sensor: PlantSensorID
    var spanSeconds: Int64
    var start: PlantInstant
  }

  private struct State {
    var records = PlantRecords()
    var rows: [Key: PlantHistoryRow] = [:]
    var version: UInt64 = 0
    var waterings = 0
    var isFull = false
    var crash: Crash?
    var hasDied = false
  }

  private let state = Mutex(State())
  private let forgets: Bool

  /// Creates an empty store.
  ///
  /// - Parameter forgets: whether the store only claims to have stored changes, for tests.
  init(forgets: Bool = false) { self.forgets = forgets }

  /// The content of the store, for checks from outside the daemon.
  var kept: PlantRecords { state.withLock { $0.records } }
  /// A number that changes with every write.
  var version: UInt64 { state.withLock { $0.version } }
  /// The number of changes that altered only a plant's last watering.
  var waterings: Int { state.withLock { $0.waterings } }
  /// Whether the disk is full, so that the store rejects every change.
  var isFull: Bool { state.withLock { $0.isFull } }
  /// Returns all rows of a span.
  func rows(spanSeconds: Int64) -> [PlantHistoryRow] {
    state.withLock { state in state.rows.values.filter { $0.spanSeconds == spanSeconds } }
  }
  /// Whether the process has died in a write.
  var hasDied: Bool { state.withLock { $0.hasDied } }

  func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }
  /// Makes the process die in its next write.
  func crash(_ crash: Crash) { state.withLock { $0.crash = crash } }
  /// Reopens the store in a new process.
  func reopen() { state.withLock { ($0.hasDied, $0.crash) = (false, nil) } }

  private func write(_ doing: String, _ body: (inout State) -> Void) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      if state.hasDied { throw .failed(file: "memory", doing: doing, reason: "the process has died") }
      if state.isFull { throw .diskFull(file: "memory", doing: doing) }
      state.hasDied = state.crash != nil
      if state.crash != .before, !forgets { body(&state) }
      state.version += 1
      if state.hasDied { throw .failed(file: "memory", doing: doing, reason: "the process has died") }
    }
  }

  // MARK: PlantDeskStore

  var isOpen: Bool { true }
  var restoreCount: Int { 0 }
  func notRead(_ failure: String?) -> APIError { preconditionFailure("a store in memory can be read") }
  func records() -> PlantRecords { kept }

  func apply(_ changes: [PlantChange], after restores: Int?) throws(StoreError) {
    if changes.isEmpty { return }
    try write("keeping a plant") { state in
      for change in changes {
        if case .plant(let plant) = change, Self.isWatering(plant, state.records) { state.waterings += 1 }
        Self.make(change, &state.records)
      }
    }
  }

  private static func isWatering(_ new: Plant, _ records: PlantRecords) -> Bool {
    guard var old = records.plants.first(where: { $0.id == new.id }), old != new else { return false }
    old.lastWatered = new.lastWatered
    return old == new
  }

  private static func make(_ change: PlantChange, _ records: inout PlantRecords) {
    switch change {
    case .plant(let plant):
      if let index = records.plants.firstIndex(where: { $0.id == plant.id }) {
        records.plants[index] = plant
      } else {
        records.plants.append(plant)
      }
    case .plantRemoved(let id):
      records.plants.removeAll { $0.id == id }
      records.waterings[id] = nil
    case .nextPlant(let next): records.nextPlant = next
    case .calibration(let sensor, let calibration): records.calibrations[sensor] = calibration
    case .watering(let id, let record): records.waterings[id] = record
    case .fileCalibrations(let all): records.fileCalibrations = all
    case .everything(let all): records = all
    }
  }

  func add(_ rows: [PlantHistoryRow]) throws(StoreError) {
    if rows.isEmpty { return }
    try write("keeping readings") { state in
      for row in rows {
        let key = Key(sensor: row.sensor, spanSeconds: row.spanSeconds, start: row.start)
        if state.rows[key] == nil { state.rows[key] = row } else { state.rows[key]!.add(row) }
      }
    }
  }

  func add(_ lines: [PlantLogLine]) throws(StoreError) {
    if !lines.isEmpty { try write("keeping a plant's events") { _ in } }
  }

  func pruneReadings(_ expiries: [(spanSeconds: Int64, before: PlantInstant)]) throws(StoreError) -> Int {
    try write("pruning readings") { state in
      for (span, before) in expiries {
        state.rows = state.rows.filter { $0.key.spanSeconds != span || $0.key.start >= before }
      }
    }
    return 0
  }

  func pruneEvents(before: PlantInstant) throws(StoreError) -> Int { 0 }
  func pruneBeyond(readings: [(spanSeconds: Int64, most: Int)], events: Int) throws(StoreError) {}

  func readings(
    of sensor: PlantSensorID, spanSeconds: Int64, from: PlantInstant, until: PlantInstant, limit: Int
  ) -> [PlantHistoryRow] {
    state.withLock { state in
      state.rows.values.filter {
        $0.sensor == sensor && $0.spanSeconds == spanSeconds && from <= $0.start && $0.start < until
      }.sorted { $0.start < $1.start }
    }
  }

  func events(of plant: PlantID?, limit: Int) -> [PlantLogLine] { [] }
}
