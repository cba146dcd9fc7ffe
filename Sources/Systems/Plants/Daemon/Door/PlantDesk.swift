import Dispatch
import Plants
import Service
import Store
import Synchronization
import Tactus
import Water
import Wire

/// Combines the plants, their probes, the app's messages and the store: handles commands from all interfaces, the loop's readings, and the passing of
/// time.
///
/// One lock protects book, monitor and store. A change of the book is on the disk before it is answered; if the disk rejects it, the book is restored
/// and the answer contains the error. It may be used on any thread except that of an event loop, because a write waits for the disk.
public final class PlantDesk: Sendable {
  struct State {
    var host: PlantHost
    var monitor: PlantMonitor
    var history: PlantHistory
    var links: [PlantWateringLink]
    /// Rows of the history that the store has not accepted yet.
    var rows: [PlantHistoryRow] = []
    var lines: [PlantLogLine] = []
    var news: [PlantNews] = []
    var storeFailure: String?
    /// Whether the failure of the store has been reported.
    var isFailureTold = false
    var lost: Int64 = 0
    /// Dry plants that have been reported as waiting for a confirmation.
    var waiting: Set<PlantID> = []
    /// The store's restore count when the book was last read from it, or `nil` if the store could not be read yet and no plant is known.
    var restores: Int?
    var nextReview = TickInstant.zero
    /// The earliest instant at which the next client error may be reported.
    var nextReport = TickInstant.zero
    var nextSave = TickInstant.zero
    var nextFlush: TickInstant
    var nextPrune = TickInstant.zero
  }

  /// The largest number of rows or lines that wait while the store rejects writes.
  static let longestWait = 20_000
  static let savePeriod = Nanoseconds.seconds(60)
  /// The period at which open rows are stored: a crash loses no more of a long span.
  static let flushPeriod = Nanoseconds.seconds(600)
  static let prunePeriod = Nanoseconds.seconds(3_600)
  /// The largest number of client changes that wait for the disk.
  private static let mostWaiting = 1_024

  let sensors: [PlantMonitor.Sensor]
  let rules: PlantBookRules
  /// The time without a reading after which a sensor is silent.
  let staleAfter: Nanoseconds
  private let readNewest: @Sendable () -> PlantSensorSnapshot
  let store: any PlantDeskStore
  private let links: Mutex<[PlantID: PlantWateringSettings]>
  private let findWater: @Sendable () -> WaterSupply?
  let state: Mutex<State>
  /// The published view, separate from `state`, so that reading it never waits for the disk.
  private let published: Mutex<PlantView>
  /// The queue on which clients' changes wait for the disk, in their order.
  private let changes = DispatchQueue(label: "tactus.plants")
  private let onDisk: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  private let waiting = Atomic<Int>(0)
  private let busy = Atomic<Int64>(0)
  private let old = Atomic<Int64>(0)
  let now: @Sendable () -> TickInstant
  let clock: WatchedWallClock

  /// Creates a desk and reads its store. A store that cannot be read yet is read as soon as possible: until then every
  /// command is refused, and no plant requests water.
  ///
  /// - Parameters:
  ///   - newest: returns the last snapshot of the sensor loop; called on any thread.
  ///   - water: returns the water supply, or `nil` if there is no sprinkler, in which case links do nothing; called on any thread.
  ///   - now: the sensor loop's clock; called on any thread.
  ///   - clock: the wall clock.
  ///   - onDisk: runs work that may wait for the disk, one after the other in order; `nil` uses a thread of this desk.
  public init(
    _ parts: Parts, store: any PlantDeskStore, newest: @escaping @Sendable () -> PlantSensorSnapshot,
    water: @escaping @Sendable () -> WaterSupply? = { nil },
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now },
    clock: WatchedWallClock,
    onDisk: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
  ) {
    self.store = store
    (readNewest, findWater) = (newest, water)
    self.now = now
    self.clock = clock
    self.onDisk = onDisk
    sensors = parts.sensors
    rules = parts.rules
    staleAfter = parts.host.staleAfter
    links = Mutex(parts.links)
    let book = PlantBook(sensors: Set(parts.sensors.map(\.id)), records: PlantRecords(), rules: parts.rules)
    let began = now()
    let monitor = PlantMonitor(
      sensors: parts.sensors, staleAfter: parts.host.staleAfter, detector: parts.detector, at: began)
    published = Mutex(PlantView(records: book.records, isLoaded: false))
    state = Mutex(
      State(
        host: PlantHost(parts.host, book: book), monitor: monitor, history: PlantHistory(tiers: parts.tiers),
        links: [], nextFlush: began + Self.flushPeriod))
    state.withLock { state in
      reload(&state)
      publish(state)
    }
  }

  // MARK: rules

  /// The settings of the link of each linked plant.
  var linkSettings: [PlantID: PlantWateringSettings] { links.withLock { $0 } }

  /// Applies the rules of a reloaded configuration: the limits of the app's messages and of the links' requests. The links themselves do not change.
  func apply(_ host: PlantHostSettings, _ new: [PlantID: PlantWateringSettings]) {
    links.withLock { $0 = new }
    state.withLock { state in
      state.host.settings.legacyQuiet = host.legacyQuiet
      state.host.settings.spamLimit = host.spamLimit
      state.host.settings.spamWindow = host.spamWindow
      for index in state.links.indices {
        if let settings = new[state.links[index].plant] { state.links[index].apply(settings) }
      }
      publish(state)
    }
  }

  // MARK: published state

  /// The last published view, which corresponds to the data on the disk.
  public var view: PlantView { published.withLock { $0 } }

  var newest: PlantSensorSnapshot { readNewest() }

  /// The water supply, or `nil` if no system offers water.
  var water: WaterSupply? { findWater() }

  /// The number of messages refused because too many changes waited for the disk.
  var busyCount: Int64 { busy.load(ordering: .relaxed) }

  /// The number of messages that a broker had retained and that were not carried out, because their senders no longer wait.
  var oldCount: Int64 { old.load(ordering: .relaxed) }

  // MARK: commands

  /// Carries out a command and returns the changes made, which are on the disk by then.
  ///
  /// - Throws: `APIError`: that of the refusal, or 503 if the store rejects the changes.
  @discardableResult
  public func perform(_ command: PlantCommand, for user: PlantUser) throws(APIError) -> [PlantChange] {
    let isWatered = if case .watered = command { true } else { false }
    return try change { (book) throws(PlantRefusal) in
      try book.apply(command, for: user)
    } news: { changes, before in
      Self.news(changes, before: before, isWatered: isWatered)
    }
  }

  func calibrate(_ sensor: PlantSensorID, _ calibration: PlantCalibration?) throws(APIError) {
    _ = try change { (book) throws(PlantRefusal) in
      try book.calibrate(sensor, calibration)
    } news: { changes, before in
      let plants = before.records.plants.filter { $0.sensors.contains(sensor) }
      return changes.isEmpty ? [] : [.calibrated(sensor, points: calibration, plants: plants)]
    }
  }

  /// Confirms for a person that a plant may be watered although it has never been seen not dry.
  public func confirmWatering(of plant: Plant) throws(APIError) {
    _ = try change { [sensors] (book) throws(PlantRefusal) in
      book.prove(plant.id, by: sensors.calibrations(of: plant, in: book.records))
    } news: { changes, _ in
      changes.isEmpty ? [] : [.confirmed(plant)]
    }
  }

  /// Adds the plants of an original host's user file: all of them or none.
  func add(_ file: PlantUserFile, for user: PlantUser) throws(APIError) {
    _ = try change { (book) throws(PlantRefusal) in
      try book.add(file, for: user)
    } news: { changes, before in
      Self.news(changes, before: before, isWatered: false)
    }
  }

  private func change(
    _ body: (inout PlantBook) throws(PlantRefusal) -> [PlantChange],
    news: ([PlantChange], PlantBook) -> [PlantNews]
  ) throws(APIError) -> [PlantChange] {
    try state.withLock { state throws(APIError) in
      if state.restores == nil { throw store.notRead(state.storeFailure) }
      followRestore(&state)
      let before = state.host.book
      let changes: [PlantChange]
      do throws(PlantRefusal) {
        changes = try state.host.withBook(body)
      } catch {
        throw error.apiError
      }
      do throws(StoreError) {
        try keep(changes, &state)
      } catch {
        state.host.replaceBook(before)
        publish(state)
        throw .storeFailed(error)
      }
      note(news(changes, before), &state)
      review(&state, .review)
      return changes
    }
  }

  private static func news(_ changes: [PlantChange], before: PlantBook, isWatered: Bool) -> [PlantNews] {
    changes.compactMap { change in
      switch change {
      case .plant(let plant):
        before[plant.id] == nil ? .added(plant) : isWatered ? .watered(plant, isByHand: true) : .changed(plant)
      case .plantRemoved(let id): .removed(id)
      case .nextPlant, .calibration, .watering, .fileCalibrations, .everything: nil
      }
    }
  }

  // MARK: the app's messages

  /// Handles one message from the clients' topic. `publish` is called with the replies: immediately, or on another thread if something must be on the
  /// disk first, and always in the order of the messages. Never waits for the disk.
  ///
  /// - Parameter isOld: whether the broker had retained the message and sends it to each new subscriber; such a message is only counted.
  func receive(_ message: [UInt8], isOld: Bool = false, publish: @escaping @Sendable ([PlantMessage]) -> Void) {
    if isOld {
      old.add(1, ordering: .relaxed)
      return
    }
    // A request that changes nothing is answered on this thread, unless it would overtake a change or wait for one.
    if waiting.load(ordering: .acquiring) == 0, !Self.isChange(message),
      let replies = state.withLockIfAvailable({ answer(message, &$0) })
    {
      publish(replies)
      return
    }
    guard waiting.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue <= Self.mostWaiting else {
      waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing)
      busy.wrappingAdd(1, ordering: .relaxed)
      return
    }
    let work: @Sendable () -> Void = { [self] in
      let replies = state.withLock { state in
        followRestore(&state)
        return answer(message, &state)
      }
      publish(replies)
      waiting.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }
    if let onDisk { onDisk(work) } else { changes.async(execute: work) }
  }

  private static func isChange(_ message: [UInt8]) -> Bool {
    message.withUnsafeBytes { bytes in
      guard let parsed = try? PlantMessage.parse(bytes) else { return false }
      return PlantRequestTag(operation: parsed.operation)?.isChange ?? false
    }
  }

  private func answer(_ message: [UInt8], _ state: inout State) -> [PlantMessage] {
    message.withUnsafeBytes { bytes in
      let before = state.host.book
      let action = state.host.step(bytes, at: now(), readings: state.monitor.measured)
      if case .peerError(let operation, let payload) = action.outcome { report(operation, payload, &state) }
      if action.changes.isEmpty { return action.replies }
      do throws(StoreError) {
        try keep(action.changes, &state)
      } catch {
        let refusal = state.host.undo(action, of: bytes, before: before, reason: "\(error)")
        publish(state)
        return refusal.replies
      }
      note(Self.news(action.changes, before: before, isWatered: false), &state)
      review(&state, .review)
      return action.replies
    }
  }

  /// Reports a client's error at most once a second, because a client can publish any number of messages.
  private func report(_ operation: String, _ payload: String, _ state: inout State) {
    let now = now()
    guard now >= state.nextReport else { return }
    state.nextReport = now + .seconds(1)
    state.news.append(.clientError(operation: String(operation.prefix(64)), payload: String(payload.prefix(200))))
  }

  // MARK: the loop's readings, and the time

  /// Handles a reading of the sensor loop.
  public func receive(_ reading: PlantProbeReading) {
    state.withLock { state in
      followRestore(&state)
      review(&state, .reading(reading))
    }
  }

  /// Detects silent sensors, requests water and stores the history. The function is to be called ten times a second, on a thread that may wait for
  /// the disk.
  func beat(at now: TickInstant) {
    for request in review(at: now) { ask(request) }
  }

  /// Does the work of `beat` without making the requests. Returns the present requests of dry plants, which are stored on the disk.
  public func review(at now: TickInstant) -> [PlantWateringRequest] {
    state.withLock { state in
      guard now >= state.nextReview else { return [] }
      state.nextReview = now + .seconds(1)
      if state.restores != store.restoreCount { reload(&state) }
      review(&state, .review)
      save(&state, at: now)
      return thirst(&state, at: now)
    }
  }

  /// Returns the news since the last call.
  func takeNews() -> [PlantNews] {
    state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }

  /// Stores the open rows after the loop has ended.
  public func finish() {
    changes.sync {}
    state.withLock { state in
      state.rows += state.history.takeOpenRows()
      store(&state)
    }
  }

  /// Returns a plant as it is stored, for a client that is about to change it; may wait for the disk.
  func stored(_ number: UInt64) -> Plant? {
    state.withLock { state in
      followRestore(&state)
      return state.host.book.records.plants.first { $0.id.number == number }
    }
  }

  // MARK: parts

  func review(_ state: inout State, _ event: PlantMonitor.Event) {
    var book = state.host.book
    let wall = wall()
    let action = state.monitor.step(event, book: &book, at: now(), wall: wall)
    for sample in action.samples { state.rows += state.history.add(sample) }
    // If the store rejects a watering that was detected, the book stays as it was, and the next rise is detected anew.
    if !action.changes.isEmpty, (try? keep(action.changes, &state)) != nil { state.host.replaceBook(book) }
    let news: [PlantNews] = action.events.compactMap { event in
      switch event {
      case .raised(let id, let alert):
        book[id].map { .raised($0, alert, moisturePercent: state.monitor.conditions[id]?.moisturePercent) }
      case .cleared(let id, let alert):
        book[id].map { .cleared($0, alert, moisturePercent: state.monitor.conditions[id]?.moisturePercent) }
      case .watered(let id): book[id].map { .watered($0, isByHand: false) }
      }
    }
    note(news, &state)
    publish(state)
  }

  func note(_ news: [PlantNews], _ state: inout State) {
    if news.isEmpty { return }
    let wall = wall()
    state.lines += news.flatMap { $0.lines(at: wall) }
    state.news += news
    // While nobody takes the news, only the newest are kept.
    if state.news.count > Self.longestWait { state.news.removeFirst(state.news.count - Self.longestWait) }
  }

  func keep(_ changes: [PlantChange], _ state: inout State) throws(StoreError) {
    if changes.isEmpty { return }
    do throws(StoreError) {
      // Before the book has been read there is nothing that a change could be based on.
      guard let restores = state.restores else {
        throw .failed(file: "store", doing: "keeping a plant", reason: "it has not been read yet")
      }
      try store.apply(changes, after: restores)
      wentWell(&state)
    } catch {
      if case .restored = error { throw error }
      failed(error, &state)
      throw error
    }
  }

  func failed(_ error: StoreError, _ state: inout State) {
    // The code that opens the store has already reported that it is not open.
    if state.storeFailure == nil, store.isOpen {
      state.news.append(.store(failure: "\(error)"))
      state.isFailureTold = true
    }
    state.storeFailure = "\(error)"
    if state.restores == nil { state.host.unavailable = state.storeFailure }
  }

  func wentWell(_ state: inout State) {
    if state.isFailureTold { state.news.append(.store(failure: nil)) }
    state.isFailureTold = false
    state.storeFailure = nil
  }

  func publish(_ state: State) {
    published.withLock { view in
      view.version += 1
      view.at = now()
      view.records = state.host.book.records
      view.isLoaded = state.restores != nil
      view.conditions = state.monitor.conditions
      view.readings = state.monitor.readings
      view.impossible = state.monitor.impossible
      view.outcomes = state.host.outcomes
      view.replies = state.host.repliesMade
      view.storeFailure = state.storeFailure
      view.lost = state.lost
    }
  }
}
