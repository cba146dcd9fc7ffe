import Logging
import Service
import Sprinkler
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime

/// Where the schedule, the store and the valves' loop meet: commands from the door, the time, and what the loop tells.
///
/// One lock is around schedule and store. What the schedule decides is on the disk before it is answered and before the
/// valves are told; if the disk refuses, nothing has happened (`StoredSchedule`). What closes valves goes the other
/// way round: to the loop first, and what the loop then tells is on the disk before the command is answered, or it is said that it is not
/// there yet (`StopsBeingKept`). Any thread but an event loop's and the daemon's main one: a write waits for the disk, never for a control loop. `take` alone never waits.
final class SprinklerDesk: Sendable {
  private struct State {
    var schedule: StoredSchedule
    var nextProgress = TickInstant.zero
    var nextPrune = TickInstant.zero
  }

  let store: SprinklerStore
  let mailbox: SprinklerMailbox
  let snapshot: Latest<SprinklerSnapshot>
  let outbox: SprinklerOutbox
  let stops = StopsBeingKept()
  private let state: Mutex<State>
  /// Apart from `state`, so that a look never waits for the disk.
  private let published: Mutex<SprinklerView>
  private let notices: Mutex<RingReader<IrrigationNotice>>
  /// What the loop has told and the schedule has not been stepped with: `take` must not wait for the disk, so the next step does it.
  private let noted = Mutex<[SprinklerEvent]>([])
  /// Whether a pause, or something else that closes valves, has begun or ended since the last beat: what ran until then is noted at once.
  private let hasStateChanged = Mutex(false)
  /// What the loop has said of orders that no client waits for, for the next beat.
  private let answered = Mutex<[SprinklerOutbox.Outcome]>([])
  private let logger: Logger
  private let logDays: Int
  private let clock: WatchedWallClock

  private let progressPeriod: Nanoseconds
  private static let prunePeriod = Nanoseconds.seconds(3600)

  /// - Parameters:
  ///   - load: the schedule of the store's records, not stepped yet; called once the store is open. Until then nothing is run.
  ///   - channel: of the valves' loop, which tells what it does of a request before it answers.
  ///   - ring, now: as for `Mailbox`.
  ///   - progressPeriod: what open runs have run is noted so often, in case the power fails.
  ///   - logDays: older lines of the watering log are forgotten.
  ///   - clock: the time of day, with the clock of the boot that the schedule was made with.
  init(
    _ load: @escaping @Sendable (SprinklerStore) throws(StoreError) -> SprinklerScheduler, store: SprinklerStore,
    channel: SprinklerLoop.Channel, ring: @escaping @Sendable () -> Void, progressPeriod: Nanoseconds = .seconds(10),
    logDays: Int = 1095,
    logger: Logger,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now },
    clock: WatchedWallClock
  ) {
    self.store = store
    snapshot = channel.state
    self.logger = logger
    self.logDays = logDays
    self.clock = clock
    mailbox = SprinklerMailbox(
      of: "sprinkler", channel, newestTick: { channel.state.newest.at }, ring: ring, now: now)
    outbox = SprinklerOutbox(mailbox)
    notices = Mutex(channel.noticeReader())
    self.progressPeriod = progressPeriod
    let schedule = StoredSchedule({ () throws(StoreError) in try load(store) }, store: store)
    published = Mutex(
      SprinklerView(
        isLoaded: schedule.scheduler != nil, records: schedule.records, storeFailure: schedule.failure))
    state = Mutex(State(schedule: schedule))
  }

  // MARK: looking

  /// The schedules, zones and levels as they are on the disk.
  var view: SprinklerView { published.withLock { $0 } }

  var newest: SprinklerSnapshot { snapshot.newest }

  var now: TickInstant { mailbox.now() }
  /// The time of day, and how far it can be believed.
  var reading: WallReading { clock.now }
  var wallNow: WallInstant { WallInstant(reading) }

  /// The next starts of the schedules.
  func preview(count: Int) throws(APIError) -> SprinklerPreview {
    // A copy: no other thread waits for the computation.
    guard let scheduler = state.withLock({ $0.schedule.scheduler }) else {
      throw .storeNotRead(store.file, view.storeFailure)
    }
    return scheduler.preview(after: wallNow, count: count)
  }

  // MARK: the time, and the loop's notices

  /// Ten times a second, on a thread that may wait for the disk: keeps what the loop has told, starts what is due, forgets old
  /// lines of the log.
  func beat(at now: TickInstant) {
    settleAnswered()
    outbox.sendWaiting()
    var told: [SprinklerNotice] = []
    state.withLock { state in
      // A store that refuses will be asked again at the next beat.
      let hasStarted = scheduled(&state) { schedule, reading throws(APIError) in told += try start(&schedule, reading) }
      guard hasStarted else { return }
      scheduled(&state) { schedule, reading in told += catchUp(&schedule, reading) }
      scheduled(&state) { schedule, reading throws(APIError) in
        told += order(try schedule.step(.timePassed, reading))
      }
      if state.schedule.takeCaughtUp() || takeStateChange() { state.nextProgress = now }
      if now >= state.nextProgress {
        let progress = newest.progress(of: state.schedule.records.pending, at: now)
        let isNoted = scheduled(&state) { schedule, reading throws(APIError) in
          if !progress.isEmpty { told += order(try schedule.step(.progress(progress), reading)) }
        }
        state.nextProgress = isNoted ? now + progressPeriod : now
      }
      // A start that has passed is not the next one any more.
      let wall = wallNow
      if published.withLock({ $0.nextRuns.values.contains { $0 <= wall } }) { publish(state.schedule) }
    }
    outbox.sendWaiting()
    tell(told)
    prune(at: now)
  }

  /// Hands the loop's answers to those who wait, once what it told before them is noted. To be called when the loop has rung. Never
  /// waits for the disk.
  ///
  /// - Returns: What the loop has told since the last call. `keepNoted` is to follow where a disk may be waited for.
  func take(at now: TickInstant) -> [IrrigationNotice] {
    var told: [IrrigationNotice] = []
    mailbox.takeAnswers(at: now) {
      notices.withLock { notices in
        while let notice = notices.pop() { told.append(notice) }
      }
      if told.contains(where: \.isOfState) { hasStateChanged.withLock { $0 = true } }
      let events = told.compactMap(\.event)
      if !events.isEmpty { noted.withLock { $0 += events } }
    }
    stops.answerOverdue(at: now)
    return told
  }

  /// Steps the schedule with what the loop has told.
  func keepNoted() { feed([]) }

  /// What a forecast means.
  func take(_ verdict: WeatherVerdict, report: WeatherReport) {
    note(report)
    feed([.weather(verdict)])
  }

  /// Rules of a reloaded file, as soon as the schedule of the store is there.
  func take(_ settings: SchedulerSettings) { feed([.settings(settings)]) }

  /// A question to the weather provider: what it answered, or why it has no answer.
  func note(_ report: WeatherReport) {
    published.withLock {
      $0.weather = report
      $0.version += 1
    }
  }

  /// After the loop has ended, its last notices are in: what the store has refused so far is tried once more.
  ///
  /// - Returns: What the store knows of how the runs ended.
  func finish() -> KeptOutcome {
    settleAnswered()
    return state.withLock { state in
      var outcome = KeptOutcome.unknownBefore
      _ = scheduled(&state) { schedule, reading in
        _ = catchUp(&schedule, reading)
        outcome = schedule.outcome
      }
      return outcome
    }
  }

  // MARK: steps

  /// A step of the schedule, its orders put behind those that wait, `complete` called when the loop has answered them; before it,
  /// what must have been first. To be followed by `outbox.sendWaiting`.
  ///
  /// - Returns: What came of it, with all that is to be told.
  func step(
    then complete: @escaping @Sendable ([SprinklerOutbox.Outcome]) -> Void,
    _ work: (inout StoredSchedule, WallReading) throws(APIError) -> SprinklerEffects
  ) throws(APIError) -> (effects: SprinklerEffects, told: [SprinklerNotice]) {
    try state.withLock { state throws(APIError) in
      var told: [SprinklerNotice] = []
      var effects = SprinklerEffects()
      try attempt(&state) { schedule, reading throws(APIError) in
        told += try start(&schedule, reading)
        effects = try work(&schedule, reading)
        outbox.add(effects.orders, complete)
        told += effects.notices
      }
      return (effects, told)
    }
  }

  func feed(_ events: [SprinklerEvent]) {
    var told: [SprinklerNotice] = []
    state.withLock { state in
      state.schedule.remember(events)
      scheduled(&state) { schedule, reading throws(APIError) in
        told += try start(&schedule, reading)
        told += catchUp(&schedule, reading)
      }
    }
    outbox.sendWaiting()
    tell(told)
  }

  /// Runs that the loop has not taken go back to the schedule, which ends them.
  func settle(_ outcomes: [SprinklerOutbox.Outcome]) {
    let refused: [SprinklerEvent] = outcomes.compactMap { outcome in
      guard let run = outcome.order.run else { return nil }
      switch outcome.result {
      case .success(let answer):
        guard case .refused(let refusal) = answer.verdict else { return nil }
        return .refused(run: run, refusal)
      case .failure: return .refused(run: run, .stale)
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

  func tell(_ notices: [SprinklerNotice]) {
    for notice in notices { notice.log(logger, description: { WallTimeText.text($0) }) }
  }

  /// The schedule's first step, if it has not been made.
  private func start(
    _ schedule: inout StoredSchedule, _ reading: WallReading
  ) throws(APIError) -> [SprinklerNotice] {
    try schedule.start(reading).map { order($0) } ?? []
  }

  private func takeStateChange() -> Bool {
    hasStateChanged.withLock { hasChanged in
      defer { hasChanged = false }
      return hasChanged
    }
  }

  /// What the loop has told, and what the store has refused of it so far.
  private func catchUp(_ schedule: inout StoredSchedule, _ reading: WallReading) -> [SprinklerNotice] {
    schedule.remember(
      noted.withLock { noted in
        defer { noted = [] }
        return noted
      })
    return schedule.catchUp(reading).flatMap { order($0) }
  }

  /// Puts a step's orders behind those that wait; what is to be told of it.
  private func order(_ effects: SprinklerEffects) -> [SprinklerNotice] {
    outbox.add(effects.orders) { [self] outcomes in answered.withLock { $0 += outcomes } }
    return effects.notices
  }

  /// Work on the schedule that may come again at the next beat. Whether it was done.
  @discardableResult
  private func scheduled(
    _ state: inout State, _ work: (inout StoredSchedule, WallReading) throws(APIError) -> Void
  ) -> Bool {
    do throws(APIError) {
      try attempt(&state, work)
      return true
    } catch {
      return false
    }
  }

  /// What changes is published; a store that begins to refuse is logged.
  private func attempt(
    _ state: inout State, _ work: (inout StoredSchedule, WallReading) throws(APIError) -> Void
  ) throws(APIError) {
    let (version, failure) = (state.schedule.version, state.schedule.failure)
    defer {
      if state.schedule.version != version { publish(state.schedule) }
      // That it is not open has been said by who opens it.
      if failure == nil, store.file.isOpen, let reason = state.schedule.failure {
        logger.error("the sprinkler's store refuses a change", metadata: ["reason": .string(reason)])
      }
    }
    try work(&state.schedule, reading)
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

  /// Without the lock: the store has its own. By age only if the clock is sure; by number whatever it says, so that the disk never fills.
  private func prune(at now: TickInstant) {
    let reading = reading
    let isDue = state.withLock { state in
      guard now >= state.nextPrune, store.file.isOpen else { return false }
      // Until the clock is sure it is looked at again soon.
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

extension IrrigationNotice {
  /// Whether the machine is in another state.
  public var isOfState: Bool {
    if case .state = subject { return true }
    return false
  }

  /// What the schedule is to know of it.
  public var event: SprinklerEvent? {
    switch subject {
    case .opened(let run), .reopened(let run, _): .opened(run: run.id)
    case .ended(let ended): .ended(run: ended.run.id, ranSeconds: ended.ran.inSeconds, outcome: ended.outcome)
    case .extended, .state, .master, .flowAlarm, .flowNormal, .linesDiffer, .linesAgree: nil
    }
  }
}
