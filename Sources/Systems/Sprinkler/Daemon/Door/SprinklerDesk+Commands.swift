@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime
import Water

// Clients' commands, answered once the store has the change and the valves' loop has accepted the orders.
extension SprinklerDesk {
  /// The result of a command.
  struct Done: Sendable {
    var runs: [UInt64]
    var programs: [Int]
    /// The rain delay to mention to the client, or `nil` if there is nothing to mention.
    var rainWarning: RainDelay?
    /// The reason why the store refused the change although the valves obeyed, or `nil` if it accepted it.
    var storeFailure: String?
  }

  /// Checks that the store has been read.
  ///
  /// - Throws: 503 if the store could not be read, because the zones' pins, their times of today and the rain delay are then unknown.
  func requireLoaded() throws(APIError) {
    let view = view
    guard !view.isLoaded else { return }
    throw .storeNotRead(store.file, view.storeFailure)
  }

  /// Refuses a command that opens valves before it is stored, if the state does not allow it. If a fault occurs afterwards, the loop refuses.
  func refuseIfStopped() throws(APIError) {
    if let refusal = newest.state.refusal { throw refusal.error() }
  }

  func emergencyStop(_ caller: Caller) async throws {
    let answer = try await orders.ask(.emergencyStop, from: caller)
    if case .refused(let refusal) = answer.verdict { throw refusal.error() }
  }

  /// Resets an emergency stop or a fault. If there is nothing to reset, that is no error.
  func reset(_ caller: Caller) async throws {
    let verdict = try await orders.ask(.reset, from: caller).verdict
    if case .refused(let refusal) = verdict, refusal != .nothingToReset { throw refusal.error() }
  }

  /// A step of the schedule, made within the desk's lock.
  private typealias Step = @Sendable (inout StoredSchedule, WallReading) throws(APIError) -> SprinklerEffects

  /// Carries out a command.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - caller: the client that gave the command.
  ///   - first: an order that closes valves, which the loop gets before anything else, or `nil` if the command closes none.
  /// - Throws: `APIError`.
  func perform(
    _ command: SprinklerCommand, _ caller: Caller, first: SprinklerOrder? = nil
  ) async throws -> Done {
    let work: Step = { schedule, reading throws(APIError) in
      try schedule.step(.command(command, caller: caller.logName), reading)
    }
    if let first { return try await perform(first: first, caller, work) }
    await stops.settled()
    return try await DiskThreads.shared.run { [self] in try await carryOut(work, caller) }
  }

  /// Ends the open runs; the next run in the queue opens.
  ///
  /// - Throws: The errors of `perform`.
  func skip(_ caller: Caller) async throws -> Done {
    // The loop has skipped by then; the schedule learns it from the loop's notices and issues no second order.
    try await perform(first: .skip, caller) { _, _ in SprinklerEffects() }
  }

  /// Ends a run that is queued or open.
  ///
  /// - Throws: 404 if the run is neither queued nor open; the errors of `perform`.
  func remove(run: UInt64, _ caller: Caller) async throws -> Done {
    let command = SprinklerCommand.remove(run: run)
    let isKnown = { @Sendable (records: SprinklerRecords) in records.pending.contains { $0.run == run } }
    guard isKnown(view.records) else { return try await perform(command, caller) }
    return try await perform(first: .cancel(run: run), caller) { schedule, reading throws(APIError) in
      // The loop may have reported the run's end by now.
      guard isKnown(schedule.records) else { return SprinklerEffects() }
      return try schedule.step(.command(command, caller: caller.logName), reading)
    }
  }

  /// Replaces zones, schedules, levels and the log by those of a backup. Open and queued runs end.
  ///
  /// - Throws: 422 if the backup does not fit the configured lines or makes no sense; the errors of `perform`. Nothing has changed then, except
  ///   that every valve may be closed.
  func restore(_ checked: CheckedBackup, _ caller: Caller) async throws {
    let done = try await perform(first: .allOff, caller, waitsForDisk: true) { schedule, reading throws(APIError) in
      try schedule.restore(checked, caller: caller.logName, reading)
    }
    if let failure = done.storeFailure {
      throw APIError(
        .serviceUnavailable, APIError.storeFailedCode, "nothing was restored, every valve is closed: \(failure)")
    }
  }

  /// Carries out a step of the schedule, after an order that closes valves.
  ///
  /// - Parameters:
  ///   - first: the order that the loop gets first.
  ///   - caller: the client that gave the command.
  ///   - waitsForDisk: whether the answer always waits for the disk, because closing valves is only a part of the command.
  ///   - work: the step of the schedule.
  private func perform(
    first: SprinklerOrder, _ caller: Caller, waitsForDisk: Bool = false, _ work: @escaping Step
  ) async throws -> Done {
    var failure: APIError?
    do {
      let answer = try await orders.ask(first, from: caller)
      if case .refused(let refusal) = answer.verdict, !refusal.isHarmless(for: first) { failure = refusal.error() }
    } catch let error as APIError {
      failure = error
    }
    let done = try await withCheckedThrowingContinuation { continuation in
      stops.keep(until: waitsForDisk ? nil : now + StopsBeingKept.patience) { [self, failure] in
        do {
          return try await withTaskExecutorPreference(DiskThreads.shared) {
            try await carryOut(work, caller, noting: true)
          }
        } catch let error as APIError where error.code == APIError.storeFailedCode && failure == nil {
          // The valves have obeyed, and the ends of runs are stored as soon as the store accepts them. The reason is taken from the error, because
          // the view may already show a later change that was stored.
          return Done(runs: [], programs: [], storeFailure: error.storeReason)
        }
      } _: {
        continuation.resume(with: $0)
      }
    }
    if let failure { throw failure }
    return done
  }

  /// Makes the step and waits until the loop has answered its orders. Waits for the disk.
  ///
  /// - Parameters:
  ///   - work: the step of the schedule.
  ///   - caller: the client that gave the command.
  ///   - isNoting: whether the loop has issued notices before that must be saved, too.
  private func carryOut(_ work: @escaping Step, _ caller: Caller, noting isNoting: Bool = false) async throws -> Done {
    let made = Guarded(SprinklerEffects())
    let outcomes = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<[Outcome], any Error>) in
      do throws(APIError) {
        try state.withLock { state throws(APIError) in
          try attempt(&state) { schedule, reading throws(APIError) in
            let effects = try work(&schedule, reading)
            made.value = effects
            orders.queue(effects.orders, from: caller) { continuation.resume(returning: $0) }
          }
        }
        orders.sendQueued()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    settle(outcomes)
    // The loop has sent the notices of closed valves before its answer.
    if isNoting || outcomes.contains(where: \.order.isStop) { feed() }
    let effects = made.value
    log(effects.notices)
    // The refusal of an order that only closes means that there was nothing to close.
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
}

extension SprinklerDesk {
  /// The water supply for other systems. Their requests become runs at the end of the queue, like a person's.
  var water: WaterSupply {
    WaterSupply(
      isRainDelayed: { [self] in view.records.rainDelay != nil },
      isStopped: { [self] in
        // Before the store is read, the zones and their daily totals are unknown.
        !view.isLoaded || newest.state.refusal != nil
      },
      isOpen: { [self] number in ZoneID(number).map { newest[$0].isOn } ?? false },
      day: { [timeZone = description.timeZone] seconds in
        let wall = WallInstant(secondsSince1970: seconds)
        let local = seconds + Int64(timeZone.offsetSeconds(at: wall))
        return Int(saturating: (Double(local) / 86_400).rounded(.down))
      },
      ask: { [self] request in
        let arrived = now
        try requireLoaded()
        guard let zone = ZoneID(request.zone), view.records.zones.contains(where: { $0.id == zone }) else {
          throw APIError.notFound("no zone \(request.zone); GET /api/zones lists them")
        }
        try refuseIfStopped()
        let caller = Caller(
          scope: .control, tokenID: request.system, address: request.part, client: 0, arrived: arrived)
        _ = try await perform(.runOnce([.init(zone: zone, seconds: request.seconds)]), caller)
      })
  }
}
