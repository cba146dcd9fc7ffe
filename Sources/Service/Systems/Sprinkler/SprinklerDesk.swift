import Logging
import Sprinkler
import Store
import Synchronization
import Tactus

/// Where the schedule, the store and the valves' loop meet: commands from the door, the time, and what the loop tells.
///
/// One lock is around schedule and store. What the schedule decides is on the disk before it is answered and before the
/// valves are told; if the disk refuses, the schedule is put back and nothing has happened. What closes valves goes the other
/// way round: to the loop first. Any thread but an event loop's: a write waits for the disk, never for a control loop.
public final class SprinklerDesk: Sendable {
  private struct State {
    var scheduler: SprinklerScheduler
    var hasStarted = false
    /// What the valves' loop told and the store has refused so far.
    var unstored: [SprinklerEvent] = []
    var nextProgress = TickInstant.zero
    var nextPrune = TickInstant.zero
    var storeFailure: String?
  }

  /// What became of a command.
  struct Done: Sendable {
    var runs: [UInt64]
    var programs: [Int]
    /// A rain delay that people are to be warned of.
    var rainWarning: RainDelay?
    /// What the store refused although the valves obeyed.
    var storeFailure: String?
  }

  let store: SprinklerStore
  let mailbox: SprinklerMailbox
  let snapshot: Latest<SprinklerSnapshot>
  private let state: Mutex<State>
  /// Apart from `state`, so that a look never waits for the disk.
  private let published: Mutex<SprinklerView>
  private let outbox: SprinklerOutbox
  private let logger: Logger
  private let logDays: Int
  private let wall: @Sendable () -> WallInstant

  /// What open runs have run is noted so often, in case the power fails.
  private static let progressPeriod = Nanoseconds.seconds(10)
  private static let prunePeriod = Nanoseconds.seconds(3600)

  /// - Parameters:
  ///   - scheduler: of the store's records, not stepped yet.
  ///   - requests, answers, ring, now: as for `Mailbox`.
  ///   - logDays: older lines of the watering log are forgotten.
  ///   - wall: the time of day.
  public init(
    _ scheduler: SprinklerScheduler, store: SprinklerStore, requests: consuming RingWriter<SprinklerRequest>,
    answers: consuming RingReader<SprinklerAnswer>, requestsPerTick: Int, snapshot: Latest<SprinklerSnapshot>,
    ring: @escaping @Sendable () -> Void, logDays: Int = 1095, logger: Logger,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now },
    wall: @escaping @Sendable () -> WallInstant = { .now }
  ) {
    self.store = store
    self.snapshot = snapshot
    self.logger = logger
    self.logDays = logDays
    self.wall = wall
    mailbox = SprinklerMailbox(
      of: "sprinkler", requests: requests, answers: answers, requestsPerTick: requestsPerTick,
      newestTick: {
        var reader = snapshot.reader()
        return reader.read().at
      }, ring: ring, now: now)
    outbox = SprinklerOutbox(mailbox)
    published = Mutex(SprinklerView(records: scheduler.records))
    state = Mutex(State(scheduler: scheduler))
  }

  // MARK: looking

  /// The schedules, zones and levels as they are on the disk.
  var view: SprinklerView { published.withLock { $0 } }

  var newest: SprinklerSnapshot {
    var reader = snapshot.reader()
    return reader.read()
  }

  var now: TickInstant { mailbox.now() }
  var wallNow: WallInstant { wall() }

  /// The next starts of the schedules.
  func preview(count: Int) -> SprinklerPreview {
    // A copy: nobody waits for the computation.
    let scheduler = state.withLock { $0.scheduler }
    return scheduler.preview(after: wall(), count: count)
  }

  // MARK: commands

  /// Carries a command out. Returns when the store has it and the valves' loop has taken what follows from it.
  ///
  /// - Parameter first: what closes valves, for the loop before anything else.
  /// - Throws: `APIError`.
  func perform(
    _ command: SprinklerCommand, _ caller: Caller, first: SprinklerRequest.Order? = nil
  ) async throws -> Done {
    var firstFailure: APIError?
    if let first {
      do {
        let answer = try await mailbox.ask(first)
        if case .refused(let refusal) = answer.verdict, !refusal.isHarmless(for: first) {
          firstFailure = refusal.error()
        }
      } catch let error as APIError {
        firstFailure = error
      }
    }
    do {
      let done = try await carryOut(command, caller)
      if let firstFailure { throw firstFailure }
      return done
    } catch let error as APIError where error.code == Self.storeFailed && first != nil && firstFailure == nil {
      // What was asked of the valves is done; the runs' ends are written as soon as the store takes them.
      return Done(runs: [], programs: [], storeFailure: view.storeFailure)
    }
  }

  private func carryOut(_ command: SprinklerCommand, _ caller: Caller) async throws -> Done {
    let (step, notices) = (EffectsBox(), NoticesBox())
    let outcomes = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<[SprinklerOutbox.Outcome], any Error>) in
      do {
        let complete: @Sendable ([SprinklerOutbox.Outcome]) -> Void = { continuation.resume(returning: $0) }
        let effects = try state.withLock { state throws(APIError) in
          notices.set(try startIfNeeded(&state))
          let effects = try stepAndStore(&state, .command(command, caller: caller.logName))
          outbox.add(effects.orders, complete)
          return effects
        }
        step.set(effects)
        outbox.pump()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    settle(outcomes)
    let effects = step.effects
    tell(notices.notices + effects.notices)
    // Of an order that only closes, a refusal means that there was nothing to close.
    for outcome in outcomes where !outcome.order.isStop {
      switch outcome.result {
      case .success(let answer):
        if case .refused(let refusal) = answer.verdict, !refusal.isHarmless(for: outcome.order) {
          throw refusal.error(zone: outcome.order.zone)
        }
      case .failure(let error): throw error
      }
    }
    return Done(
      runs: effects.runs, programs: effects.programs, rainWarning: effects.rainWarning, storeFailure: nil)
  }

  /// Zones, schedules, levels and the log's lines of a backup in place of the present ones; what runs or waits ends.
  ///
  /// - Throws: 422 for a file that is no backup; what `perform` throws.
  func restore(_ backup: [UInt8], _ caller: Caller) async throws {
    let now = wall()
    let before: Snapshot
    let records: SprinklerRecords
    do {
      before = try store.file.snapshot(at: now)
      try store.file.restore(backup, at: now)
      records = try store.records()
    } catch {
      switch error {
      case .foreign, .damaged, .newer: throw APIError(.unprocessableContent, "VALIDATION", "\(error)", field: "body")
      default: throw Self.storeError(error)
      }
    }
    do {
      _ = try await perform(.restore(records), caller, first: .allOff)
    } catch {
      // The schedule cannot take it (a pin that is not there): as it was before.
      try? store.file.restore(from: before.path, at: wall())
      throw error
    }
  }

  // MARK: the time, and the loop's notices

  /// Ten times a second, on a thread that may wait for the disk: hands out answers, starts what is due, forgets old lines of the log.
  public func beat(at now: TickInstant) {
    takeAnswers(at: now)
    outbox.pump()
    var told: [SprinklerNotice] = []
    state.withLock { state in
      // A store that refuses will be asked again at the next beat.
      guard let started = try? startIfNeeded(&state) else { return }
      told += started
      told += retry(&state)
      told += tryStep(&state, .timePassed)
      if now >= state.nextProgress {
        state.nextProgress = now + Self.progressPeriod
        let progress = progress(of: state.scheduler.records.pending, at: now)
        if !progress.isEmpty { told += tryStep(&state, .progress(progress)) }
      }
      // A start that has passed is not the next one any more.
      publish(state, ifDue: true)
    }
    outbox.pump()
    tell(told)
    prune(at: now)
  }

  /// Hands the loop's answers to those who wait. To be called when the loop has rung.
  public func takeAnswers(at now: TickInstant) { mailbox.takeAnswers(at: now) }

  /// What the valves' loop has told.
  public func take(_ notice: IrrigationNotice) {
    let event: SprinklerEvent
    switch notice.subject {
    case .opened(let run): event = .opened(run: run.id)
    case .ended(let ended):
      event = .ended(run: ended.run.id, ranSeconds: ended.ran.inSeconds, outcome: ended.outcome)
    case .reopened, .extended, .state, .master, .flowAlarm, .flowNormal, .linesDiffer, .linesAgree: return
    }
    feed([event])
  }

  /// What a forecast means.
  func take(_ verdict: WeatherVerdict, report: WeatherReport) {
    published.withLock {
      $0.weather = report
      $0.version += 1
    }
    feed([.weather(verdict)])
  }

  /// A question to the weather provider that has no answer.
  func note(_ report: WeatherReport) {
    published.withLock {
      $0.weather = report
      $0.version += 1
    }
  }

  /// After the loop has ended, its last notices are in: what the store has refused so far is tried once more.
  public func finish() { state.withLock { state in _ = retry(&state) } }

  // MARK: steps

  private func feed(_ events: [SprinklerEvent]) {
    var told: [SprinklerNotice] = []
    state.withLock { state in
      state.unstored += events
      guard let started = try? startIfNeeded(&state) else { return }
      told += started
      told += retry(&state)
    }
    outbox.pump()
    tell(told)
  }

  /// The schedule's first step, which must be stored before any other.
  private func startIfNeeded(_ state: inout State) throws(APIError) -> [SprinklerNotice] {
    guard !state.hasStarted else { return [] }
    let effects = try stepAndStore(&state, .started)
    state.hasStarted = true
    outbox.add(effects.orders) { [self] in settle($0) }
    return effects.notices
  }

  /// Events that the store must have, oldest first, until it refuses one.
  private func retry(_ state: inout State) -> [SprinklerNotice] {
    var told: [SprinklerNotice] = []
    while let event = state.unstored.first {
      do throws(APIError) {
        let effects = try stepAndStore(&state, event)
        state.unstored.removeFirst()
        outbox.add(effects.orders) { [self] in settle($0) }
        told += effects.notices
      } catch { break }
    }
    return told
  }

  /// A step that may come again at the next beat.
  private func tryStep(_ state: inout State, _ event: SprinklerEvent) -> [SprinklerNotice] {
    do throws(APIError) {
      let effects = try stepAndStore(&state, event)
      outbox.add(effects.orders) { [self] in settle($0) }
      return effects.notices
    } catch {
      return []
    }
  }

  /// Steps a copy, writes what changed, and only then makes it the schedule.
  private func stepAndStore(
    _ state: inout State, _ event: SprinklerEvent
  ) throws(APIError) -> SprinklerEffects {
    var scheduler = state.scheduler
    let effects = scheduler.step(event, wall: wall(), monotonic: now)
    if let refusal = effects.refusal { throw refusal.error }
    guard !effects.changes.isEmpty else {
      state.scheduler = scheduler
      return effects
    }
    do throws(StoreError) {
      try store.apply(effects.changes)
    } catch {
      if state.storeFailure == nil {
        logger.error("the sprinkler's store refuses a change", metadata: ["reason": .string("\(error)")])
      }
      state.storeFailure = "\(error)"
      publish(state, ifDue: false)
      throw Self.storeError(error)
    }
    state.scheduler = scheduler
    state.storeFailure = nil
    publish(state, ifDue: false)
    return effects
  }

  private static let storeFailed = "STORE_FAILED"

  private static func storeError(_ error: StoreError) -> APIError {
    APIError(.serviceUnavailable, storeFailed, "nothing was changed: \(error)")
  }

  private func publish(_ state: State, ifDue: Bool) {
    let records = state.scheduler.records
    let now = wall()
    if ifDue {
      guard published.withLock({ $0.next.map { $0.at <= now } ?? false }) else { return }
    }
    let next = state.scheduler.nextStart(after: now)
    published.withLock {
      $0.records = records
      $0.next = next
      $0.storeFailure = state.storeFailure
      $0.version += 1
    }
  }

  /// Runs that the loop has not taken go back to the schedule, which ends them.
  private func settle(_ outcomes: [SprinklerOutbox.Outcome]) {
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

  private func progress(of pending: [PendingRun], at now: TickInstant) -> [RunProgress] {
    let newest = newest
    return pending.compactMap { run in
      guard let open = newest[run.zone].run, open.id == run.run, let left = newest[run.zone].remaining(at: now) else {
        return nil
      }
      return RunProgress(run: run.run, ranSeconds: max(0, Double(run.askedSeconds) - left.inSeconds))
    }
  }

  /// Without the lock: the store has its own.
  private func prune(at now: TickInstant) {
    let isDue = state.withLock { state in
      guard now >= state.nextPrune else { return false }
      state.nextPrune = now + Self.prunePeriod
      return true
    }
    guard isDue else { return }
    do throws(StoreError) {
      try store.pruneLog(before: wall() - Int64(logDays) * 86_400)
    } catch {
      logger.warning(
        "old lines of the watering log could not be removed", metadata: ["reason": .string("\(error)")])
    }
  }

  private func tell(_ notices: [SprinklerNotice]) {
    for notice in notices { notice.log(logger, description: { WallTimeText.text($0) }) }
  }
}
