import Service
import Sprinkler
import Store
import Tactus

// What people ask: answered when the store has it and the valves' loop has taken what follows from it.
extension SprinklerDesk {
  /// What became of a command.
  struct Done: Sendable {
    var runs: [UInt64]
    var programs: [Int]
    /// A rain delay that people are to be warned of.
    var rainWarning: RainDelay?
    /// What the store refused although the valves obeyed.
    var storeFailure: String?
  }

  /// - Throws: 503 while nothing is known of zones and schedules, since the store could not be read: which pin a zone has, what it has run
  ///   today and whether there is a rain delay are in it.
  func requireLoaded() throws(APIError) {
    let view = view
    guard !view.isLoaded else { return }
    throw .storeNotRead(store.file, view.storeFailure)
  }

  /// A step of the schedule, within the lock.
  private typealias Step = @Sendable (inout StoredSchedule, WallReading) throws(APIError) -> SprinklerEffects

  /// Carries a command out.
  ///
  /// - Parameter first: what closes valves, for the loop before anything else.
  /// - Throws: `APIError`.
  func perform(
    _ command: SprinklerCommand, _ caller: Caller, first: SprinklerRequest.Order? = nil
  ) async throws -> Done {
    try await perform(first: first) { schedule, reading throws(APIError) in
      try schedule.step(.command(command, caller: caller.logName), reading)
    }
  }

  /// What is open ends; the next in the queue opens.
  ///
  /// - Throws: What `perform` throws.
  func skip() async throws -> Done {
    // The loop has done it by then: the schedule learns of it from what the loop tells, and orders no second one.
    try await perform(first: .skip) { _, _ in SprinklerEffects() }
  }

  /// A run that is queued or open ends.
  ///
  /// - Throws: 404 for a run that is neither; what `perform` throws.
  func remove(run: UInt64, _ caller: Caller) async throws -> Done {
    let command = SprinklerCommand.remove(run: run)
    let isKnown = { @Sendable (records: SprinklerRecords) in records.pending.contains { $0.run == run } }
    guard isKnown(view.records) else { return try await perform(command, caller) }
    return try await perform(first: .cancel(run: run)) { schedule, reading throws(APIError) in
      // The loop may have told of its end by now.
      guard isKnown(schedule.records) else { return SprinklerEffects() }
      return try schedule.step(.command(command, caller: caller.logName), reading)
    }
  }

  /// Zones, schedules, levels and the log's lines of a backup in place of the present ones; what runs or waits ends.
  ///
  /// - Throws: 422 for a file that is no backup, or one that does not fit these lines; what `perform` throws. Nothing has been
  ///   changed then, but that every valve may be closed.
  func restore(_ backup: [UInt8], _ caller: Caller) async throws {
    let checked: CheckedBackup
    do throws(StoreError) {
      checked = try store.file.check(backup, at: wallNow)
    } catch {
      switch error {
      case .foreign, .damaged, .newer: throw APIError.notABackup(error)
      default: throw APIError.storeFailed(error)
      }
    }
    let done = try await perform(first: .allOff, waitsForDisk: true) { schedule, reading throws(APIError) in
      try schedule.restore(checked, caller: caller.logName, reading)
    }
    if let failure = done.storeFailure {
      throw APIError(
        .serviceUnavailable, APIError.storeFailedCode, "nothing was restored, every valve is closed: \(failure)")
    }
  }

  /// - Parameter waitsForDisk: what closes valves is only the beginning of it.
  private func perform(
    first: SprinklerRequest.Order?, waitsForDisk: Bool = false, _ work: @escaping Step
  ) async throws -> Done {
    guard let first else {
      await stops.settled()
      return try await withTaskExecutorPreference(DiskThreads.shared) { try await carryOut(work) }
    }
    var failure: APIError?
    do {
      let answer = try await mailbox.ask(first)
      if case .refused(let refusal) = answer.verdict, !refusal.isHarmless(for: first) { failure = refusal.error() }
    } catch let error as APIError {
      failure = error
    }
    let done = try await withCheckedThrowingContinuation { continuation in
      stops.keep(until: waitsForDisk ? nil : now + StopsBeingKept.patience) { [self, failure] in
        do {
          return try await withTaskExecutorPreference(DiskThreads.shared) { try await carryOut(work, noting: true) }
        } catch let error as APIError where error.code == APIError.storeFailedCode && failure == nil {
          // What was asked of the valves is done; the runs' ends are written as soon as the store takes them. Its reason comes from the
          // error: the view may tell of a later change by now, which it has taken.
          return Done(runs: [], programs: [], storeFailure: error.storeReason)
        }
      } _: {
        continuation.resume(with: $0)
      }
    }
    if let failure { throw failure }
    return done
  }

  /// Waits for the disk.
  ///
  /// - Parameter isNoting: whether the loop has told something before that is to be kept, too.
  private func carryOut(_ work: @escaping Step, noting isNoting: Bool = false) async throws -> Done {
    let (made, notices) = (EffectsBox(), NoticesBox())
    let outcomes = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<[SprinklerOutbox.Outcome], any Error>) in
      do throws(APIError) {
        let (effects, told) = try step(then: { continuation.resume(returning: $0) }, work)
        made.set(effects)
        notices.set(told)
        outbox.sendWaiting()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    settle(outcomes)
    // What it closed, the loop has told before it answered.
    if isNoting || outcomes.contains(where: \.order.isStop) { keepNoted() }
    tell(notices.notices)
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
    let effects = made.effects
    return Done(
      runs: effects.runs, programs: effects.programs, rainWarning: effects.rainWarning, storeFailure: nil)
  }
}
