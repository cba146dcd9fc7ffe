@_spi(FromOutside) import Conversions
import Foundation
import Logging
import Service
import Sprinkler
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime
import Water

/// The desk connects the schedule, the store and the valves' loop: it handles commands of clients, the time, and the loop's notices.
///
/// One lock guards schedule and store. A decision of the schedule is on the disk before it is answered and before its orders go to the valves; if the
/// disk fails, nothing has happened (`StoredSchedule`). Commands that close valves work the other way round: they go to the loop first, and the
/// loop's notices are on the disk before the command is answered, or the answer says that they are not yet (`StopsBeingKept`). The desk may be called
/// from any thread except an event loop's and the daemon's main thread: a write waits for the disk, but never for a control loop. `hear(_:at:)` alone
/// never waits.
public final class SprinklerDesk: OrderingDesk, RuledDesk {
  struct Work {
    var schedule: StoredSchedule
    var nextProgress = TickInstant.zero
    var nextPrune = TickInstant.zero
    /// The store's knowledge of how the runs ended, once the desk has finished.
    var outcome = KeptOutcome.known
  }

  public static var beatPeriod: Nanoseconds { .milliseconds(100) }

  let store: SprinklerStore
  let orders: LoopOrders<SprinklerOrder, IrrigationRefusal>
  let stops = StopsBeingKept()
  /// The values that the last events reported.
  let lastTold = Mutex(LastTold())
  private let readNewest: @Sendable () -> Published<SprinklerSnapshot>
  let settings: Guarded<OfFile>
  /// Returns the settings that follow from new rules, or `nil` if the rules never change.
  private let renew: @Sendable (SprinklerRules) -> OfFile?
  private let weather: WeatherWatch?
  let soil: SoilWatch?
  let state: Mutex<Work>
  /// The view, under a lock apart from `state`, so that reading it never waits for the disk.
  private let published: Mutex<SprinklerView>
  /// The loop's events that the schedule has not handled yet: `hear(_:at:)` must not wait for the disk, so the next step handles them.
  private let noted = Mutex<[SprinklerEvent]>([])
  /// Whether the machine's state has changed since the last beat, as by a pause; the progress of the runs is then saved immediately.
  private let hasStateChanged = Mutex(false)
  /// The loop's answers to orders for which no client waits, to be handled by the next beat.
  private let answered = Mutex<[Outcome]>([])
  private let logger: Logger
  private let logDays: Int
  private let clock: WatchedWallClock

  private let progressPeriod: Nanoseconds
  private static let prunePeriod = Nanoseconds.seconds(3600)

  /// An order and the loop's answer to it.
  typealias Outcome = LoopOrders<SprinklerOrder, IrrigationRefusal>.Outcome

  /// Creates the desk.
  ///
  /// - Parameters:
  ///   - load: reads the store's records into a scheduler that has not been stepped; called once the store is open. Nothing runs before that.
  ///   - store: the sprinkler's store.
  ///   - orders: the way to the valves' loop, which issues the notices of an order before its answer.
  ///   - newest: returns the loop's newest snapshot. Called from any thread.
  ///   - settings: the settings from the file.
  ///   - renew: returns the settings that follow from new rules, or `nil` if the rules never change.
  ///   - weather: asks the weather provider for the expected rain, or `nil` if no provider is configured.
  ///   - soil: collects the readings of the soil, or `nil` if no rule needs them.
  ///   - logDays: the number of days for which lines of the watering log are kept.
  ///   - logger: the daemon's log.
  ///   - clock: the wall clock, together with the clock of the boot for which the schedule was made.
  init(
    _ load: @escaping @Sendable (SprinklerStore, SchedulerSettings) throws(StoreError) -> SprinklerScheduler,
    store: SprinklerStore, orders: LoopOrders<SprinklerOrder, IrrigationRefusal>,
    newest: @escaping @Sendable () -> Published<SprinklerSnapshot>, settings: OfFile,
    renew: @escaping @Sendable (SprinklerRules) -> OfFile? = { _ in nil }, weather: WeatherWatch? = nil,
    soil: SoilWatch? = nil, logDays: Int = 1095, logger: Logger, clock: WatchedWallClock
  ) {
    (self.store, self.orders, readNewest, self.renew, self.weather) = (store, orders, newest, renew, weather)
    (self.soil, self.logger, self.logDays, self.clock) = (soil, logger, logDays, clock)
    progressPeriod = .seconds(Int64(settings.scheduler.noteSeconds))
    let settings = Guarded(settings)
    self.settings = settings
    let schedule = StoredSchedule(
      { () throws(StoreError) in try load(store, settings.value.scheduler) }, store: store)
    published = Mutex(
      SprinklerView(
        isLoaded: schedule.scheduler != nil, records: schedule.records, storeFailure: schedule.failure))
    state = Mutex(Work(schedule: schedule))
  }

  // MARK: published state

  /// The schedules, zones and levels as they are on the disk, for documents.
  var view: SprinklerView { published.withLock { $0 } }

  var newest: SprinklerSnapshot { readNewest().state }

  /// The sprinkler's description in the file, for documents.
  var description: SprinklerDescription { settings.value.description }

  /// The valves' lines, each with the part that is connected to it.
  var lines: NamedLines { NamedLines(description: description, zones: view.records.zones) }

  /// Returns the values for documents and metrics.
  func seen(_ newest: Published<SprinklerSnapshot>? = nil, at now: TickInstant? = nil) -> SprinklerSeen {
    SprinklerSeen(newest ?? readNewest(), view, description, at: now ?? self.now, reading)
  }

  var now: TickInstant { orders.now }
  /// The reading of the wall clock, with the trust in the clock.
  var reading: WallReading { clock.now }
  var wallNow: WallInstant { WallInstant(reading) }

  /// Returns the next starts of the schedules.
  func preview(count: Int) async throws -> SprinklerPreview {
    try await copyOfScheduler().preview(after: wallNow, count: count)
  }

  /// Returns the next starts as they would be with a draft of a schedule, of which nothing is saved. See `SprinklerScheduler`.
  ///
  /// - Throws: The error with which the command to save the draft would be answered.
  func preview(draft: Program, count: Int, isAlone: Bool) async throws -> DraftPreview {
    let scheduler = try await copyOfScheduler()
    do throws(SprinklerRefusal) {
      return try scheduler.preview(draft: draft, at: reading, count: count, isAlone: isAlone)
    } catch {
      throw error.error
    }
  }

  /// Returns a copy for a look ahead. Only the copying uses a thread that may wait for the disk. What is computed from the copy runs on the
  /// caller's task, and no other thread waits for it.
  private func copyOfScheduler() async throws -> SprinklerScheduler {
    guard let scheduler = try await DiskThreads.looks.run({ [self] in state.withLock { $0.schedule.scheduler } }) else {
      throw APIError.storeNotRead(store.file, view.storeFailure)
    }
    return scheduler
  }

  // MARK: the time, and the loop's notices

  /// Does the periodic work. The desk's thread may have been busy with earlier work, so the work uses the present instant.
  public func beat(_ newest: Published<SprinklerSnapshot>) {
    beat(at: now)
    weather?.turn(self, at: now)
  }

  /// Saves the loop's events, starts due programs and removes old lines of the log. The function is to be called ten times a second, on a thread that
  /// may wait for the disk.
  func beat(at now: TickInstant) {
    settleAnswered()
    orders.sendQueued()
    var told: [SprinklerNotice] = []
    let readings = soil?.readings(of: settings.value.scheduler.moisture, newest, at: now)
    let rain = newest.rainSensor
    state.withLock { state in
      // If the store refuses, the next beat tries again.
      let started: Void? = try? attempt(&state) { schedule, reading in told += catchUp(&schedule, reading) }
      guard started != nil else { return }
      try? attempt(&state) { schedule, reading throws(APIError) in
        let decided = self.now
        if let readings {
          told += order(try schedule.step(.moisture(readings), reading), decided: decided)
          publish(schedule.scheduler?.soilStatus ?? [], as: \.soil)
        }
        if let rain, rain != schedule.scheduler?.rainSensorReading {
          told += order(try schedule.step(.rainSensor(rain), reading), decided: decided)
        }
        told += order(try schedule.step(.timePassed, reading), decided: decided)
        publish(schedule.scheduler?.rainSensorStatus, as: \.rainSensor)
        publish(schedule.scheduler?.deficitStatus ?? [], as: \.deficits)
        publish(schedule.scheduler?.flowStatus ?? [], as: \.flows)
      }
      if state.schedule.takeCaughtUp() || takeStateChange() { state.nextProgress = now }
      if now >= state.nextProgress {
        let progress = newest.progress(of: state.schedule.records.pending, at: now)
        let noted: Void? = try? attempt(&state) { schedule, reading throws(APIError) in
          let decided = self.now
          if !progress.isEmpty { told += order(try schedule.step(.progress(progress), reading), decided: decided) }
        }
        state.nextProgress = noted == nil ? now : now + progressPeriod
      }
      // A start that has passed is no longer the next one, so the view is published anew.
      let wall = wallNow
      if published.withLock({ $0.nextRuns.values.contains { $0 <= wall } }) { publish(state.schedule) }
    }
    orders.sendQueued()
    log(told)
    prune(at: now)
  }

  /// Collects the loop's notices before the answers that follow them. Never waits for the disk: `feed` does.
  public func hear(_ notices: [Told<IrrigationNotice>], at now: TickInstant) {
    if notices.contains(where: \.notice.isOfState) { hasStateChanged.withLock { $0 = true } }
    let events = notices.compactMap(\.notice.event)
    if !events.isEmpty { noted.withLock { $0 += events } }
    stops.answerOverdue(at: now)
  }

  public func told(_ notice: Told<IrrigationNotice>) { feed() }

  /// Applies a forecast to the schedule, and publishes the report.
  ///
  /// - Parameter past: the weather of the last days, or `nil` if it was not asked for.
  func apply(_ verdict: WeatherVerdict, _ past: PastWeather? = nil, report: WeatherReport) {
    note(report)
    feed([.weather(verdict)] + (past.map { [.pastWeather($0)] } ?? []))
  }

  /// Passes the rules of a reloaded file to the schedule, as soon as the store has been read.
  public func apply(_ rules: SprinklerRules, done: @escaping @Sendable () -> Void) {
    if let new = renew(rules) {
      settings.value = new
      feed([.settings(new.scheduler)])
      if let settings = new.weather { weather?.apply(settings) }
    }
    done()
  }

  /// Publishes the result of a question to the weather provider.
  func note(_ report: WeatherReport) {
    published.withLock {
      $0.weather = report
      $0.version += 1
    }
  }

  /// Saves the last events after the loop has ended, and retries those that the store has refused so far.
  public func finish(_ last: Published<SprinklerSnapshot>) {
    settleAnswered()
    state.withLock { state in
      // A first step that has not been made is left to the next start.
      if state.schedule.outcome != .unknownBefore {
        try? attempt(&state) { schedule, reading in _ = catchUp(&schedule, reading) }
      }
      state.outcome = state.schedule.outcome
    }
    weather?.stop()
  }

  public var outcome: KeptOutcome { state.withLock { $0.outcome } }

  // MARK: steps

  /// Passes events, and the collected ones of the loop, to the schedule, which saves them.
  func feed(_ events: [SprinklerEvent] = []) {
    var told: [SprinklerNotice] = []
    state.withLock { state in
      state.schedule.remember(events)
      try? attempt(&state) { schedule, reading in told += catchUp(&schedule, reading) }
    }
    orders.sendQueued()
    log(told)
  }

  /// Reports runs that the loop refused, and runs that a stop made void, to the schedule, which ends them.
  func settle(_ outcomes: [Outcome]) {
    let refused: [SprinklerEvent] = outcomes.compactMap { outcome in
      guard let run = outcome.order.run else { return nil }
      switch outcome.result {
      case .success(let answer):
        guard case .refused(let refusal) = answer.verdict else { return nil }
        return .refused(run: run, refusal)
      case .failure(let error):
        return error.isOvertaken ? .ended(run: run, ranSeconds: 0, outcome: .stopped) : .refused(run: run, .stale)
      }
    }
    if !refused.isEmpty { feed(refused) }
  }

  private func settleAnswered() {
    settle(
      answered.withLock { answered in
        defer { answered = [] }
        return answered
      })
  }

  func log(_ notices: [SprinklerNotice]) {
    for notice in notices { notice.log(logger, description: { WallTimeText.text($0) }) }
  }

  private func takeStateChange() -> Bool {
    hasStateChanged.withLock { hasChanged in
      defer { hasChanged = false }
      return hasChanged
    }
  }

  /// Steps the schedule with the loop's events, including those that the store has refused so far, and returns the notices.
  private func catchUp(_ schedule: inout StoredSchedule, _ reading: WallReading) -> [SprinklerNotice] {
    let decided = now
    schedule.remember(
      noted.withLock { noted in
        defer { noted = [] }
        return noted
      })
    return schedule.catchUp(reading).flatMap { order($0, decided: decided) }
  }

  /// Queues the orders of a step, and returns its notices.
  ///
  /// - Parameter decided: an instant before the step, which may have waited for the disk. A stop that a client has asked for
  ///   since then makes the runs of the step void.
  private func order(_ effects: SprinklerEffects, decided: TickInstant) -> [SprinklerNotice] {
    orders.queue(effects.orders, decided: decided) { [self] outcomes in answered.withLock { $0 += outcomes } }
    return effects.notices
  }

  /// Does work on the schedule, after its first step if that has not been made. Publishes the changes, and logs an error when the store begins to
  /// refuse changes.
  func attempt(
    _ state: inout Work, _ work: (inout StoredSchedule, WallReading) throws(APIError) -> Void
  ) throws(APIError) {
    let (version, reading, decided) = (state.schedule.version, reading, now)
    var failure = state.schedule.failure
    var told: [SprinklerNotice] = []
    defer {
      if state.schedule.version != version { publish(state.schedule) }
      // The code that opens the store has already reported that it is not open.
      if failure == nil, store.file.isOpen, let reason = state.schedule.failure {
        logger.error("the sprinkler's store refuses a change", metadata: ["reason": .string(reason)])
      }
      log(told)
    }
    if let first = try state.schedule.start(reading) {
      failure = nil
      told = order(first, decided: decided)
    }
    try work(&state.schedule, reading)
  }

  private func publish<Value: Equatable & Sendable>(
    _ value: Value, as path: WritableKeyPath<SprinklerView, Value> & Sendable
  ) {
    published.withLock {
      guard $0[keyPath: path] != value else { return }
      $0[keyPath: path] = value
      $0.version += 1
    }
  }

  private func publish(_ schedule: StoredSchedule) {
    let (records, wall) = (schedule.records, wallNow)
    let (next, nextRuns) = (schedule.scheduler?.nextStart(after: wall), schedule.scheduler?.nextRuns(after: wall))
    published.withLock {
      $0.isLoaded = schedule.scheduler != nil
      $0.records = records
      $0.next = next
      $0.nextRuns = nextRuns ?? [:]
      $0.storeFailure = schedule.failure
      $0.version += 1
    }
  }

  /// Removes old lines of the watering log, outside the desk's lock, since the store has its own. Lines are removed by
  /// age only while the wall clock is trusted. Lines beyond the greatest number are removed in any case, so that the
  /// disk never fills.
  private func prune(at now: TickInstant) {
    let reading = reading
    let isDue = state.withLock { state in
      guard now >= state.nextPrune, store.file.isOpen else { return false }
      // While the wall clock is not trusted, the next attempt follows soon.
      state.nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
      return true
    }
    guard isDue else { return }
    do throws(StoreError) {
      if reading.mayDelete { try store.pruneLog(before: WallInstant(reading) - Int64(logDays) * 86_400) }
      try store.pruneLog(beyond: SprinklerStore.mostLines)
    } catch {
      logger.warning(
        "old lines of the watering log could not be removed", metadata: ["reason": .string("\(error)")])
    }
  }
}
