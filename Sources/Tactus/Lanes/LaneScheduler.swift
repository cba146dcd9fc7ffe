import CTactus

/// The scheduler of one lane. It decides which loop runs next and with which tick, and keeps the accounts.
///
/// Real and simulated time use the same code; only `clock` and the way to wait differ. Loops are held in order
/// of urgency (`LoopOrder`), so that a loop's index is its rank: among loops that are due the smallest index runs first,
/// and runs to its end (non-preemptive, rate-monotonic).
struct LaneScheduler: ~Copyable {
  let slots: UnsafeMutablePointer<LoopSlot>
  let count: Int
  /// The loops that are not due yet, keyed by the instant of their next release.
  private var releases: ReleaseHeap
  /// The loops that are due, keyed by rank.
  private var ready: ReleaseHeap
  /// The simulated lane, or `nil` in real time.
  let simulated: UnsafeMutablePointer<SimulatedLane>?
  /// The tape that the lane is recorded on or replayed from, or `nil` if there is none.
  let tape: UnsafeMutablePointer<LaneTape>?
  /// The start and the end of the last sleep of the lane.
  private var sleptFrom = Int64.max
  private var wokeAt = Int64.max
  /// The tick that has begun and not ended, in simulated time.
  private var unfinished: UnfinishedTick?

  private struct UnfinishedTick: BitwiseCopyable {
    var loop: Int
    var tick: Tick
    var end: Int64
  }

  /// Creates a scheduler over `slots`, which the caller continues to own.
  init(
    slots: UnsafeMutablePointer<LoopSlot>, count: Int, simulated: UnsafeMutablePointer<SimulatedLane>?,
    tape: UnsafeMutablePointer<LaneTape>? = nil
  ) {
    self.slots = slots
    self.count = count
    self.simulated = simulated
    self.tape = tape
    releases = ReleaseHeap(capacity: count)
    ready = ReleaseHeap(capacity: count)
  }

  /// Sets every loop to its first release. The function is called once before the lane runs.
  mutating func begin(epoch: Int64) {
    for loop in 0..<count {
      slots[loop].reset(epoch: epoch)
      publish(slots + loop)
      releases.insert(loop, key: nextKey(slots + loop))
    }
    if let tape { beginSegment(tape, epoch) }
  }

  @_noLocks @_noAllocation @inline(never)
  private func beginSegment(_ tape: UnsafeMutablePointer<LaneTape>, _ now: Int64) {
    tape.pointee.beginSegment(at: now, slots, count, ready: ready, sleptFrom: sleptFrom, wokeAt: wokeAt)
  }

  /// Schedules every loop according to its slot, as after a frame of a tape was read.
  mutating func stand(ready isReady: (Int) -> Bool, sleptFrom: Int64, wokeAt: Int64) {
    (self.sleptFrom, self.wokeAt) = (sleptFrom, wokeAt)
    for loop in 0..<count {
      publish(slots + loop)
      if isReady(loop) {
        ready.insert(loop, key: Int64(truncatingIfNeeded: loop))
      } else {
        releases.insert(loop, key: nextKey(slots + loop))
      }
    }
  }

  /// Returns whether a loop's slot and state equal those of a frame.
  func stands(_ loop: Int, at there: LoopSlot.Place) -> Bool {
    var here = place(of: slots + loop, isReady: ready.contains(loop))
    var there = there
    return tactus_same(&here, &there, MemoryLayout<LoopSlot.Place>.size) != 0
  }

  /// The next instant at which a loop is due, or `.min` if one is due already.
  var nextInstant: Int64 {
    @_noLocks @_noAllocation @inline(__always) get { ready.count > 0 ? .min : releases.topKey }
  }

  /// Records a sleep, so that the loop's own lateness can be distinguished from the kernel's.
  @_noLocks @_noAllocation @inline(__always)
  mutating func slept(from: Int64, to: Int64) {
    sleptFrom = from
    wokeAt = to
  }

  /// Records that an input of `loop` is readable since `instant`, or no longer readable if `instant` is `.max`. Has no effect on a
  /// loop that is already due.
  @_noLocks @_noAllocation
  mutating func inputReady(_ loop: Int, at instant: Int64) {
    guard releases.contains(loop) else { return }
    if let tape, (slots + loop).pointee.inputAt != instant {
      tape.pointee.inputReady(loop, at: instant)
      tape.pointee.commit()
    }
    (slots + loop).pointee.inputAt = instant
    releases.update(loop, key: nextKey(slots + loop))
  }

  /// Runs the most urgent loop that is due at `now`. Returns the instant at which its tick ended, or `.min` if no loop is due.
  @_noLocks @_noAllocation
  mutating func runNext(_ now: Int64) -> Int64 {
    if let tape, !tape.pointee.isReplaying, tape.pointee.isFull { beginSegment(tape, now) }
    if ready.count == 0 {
      guard releases.topKey <= now else { return .min }
      if releases.secondKey > now {
        let loop = releases.topLoop
        let end = run(loop, now)
        releases.update(loop, key: nextKey(slots + loop))
        return end
      }
    }
    while releases.topKey <= now {
      let loop = releases.removeTop()
      ready.insert(loop, key: Int64(truncatingIfNeeded: loop))
    }
    let loop = ready.removeTop()
    let end = run(loop, now)
    releases.insert(loop, key: nextKey(slots + loop))
    return end
  }

  /// Puts every loop into its safe state, the most urgent first. If a loop has several releases due, all but the newest are given
  /// up, so that the accounts show the delay that has kept the lane until now.
  @_noLocks @_noAllocation
  mutating func stopLoops(at now: Int64) {
    if let tape { tape.pointee.stops(at: now) }
    defer { if let tape { tape.pointee.commit() } }
    for loop in 0..<count {
      if let tape { tape.pointee.use(slots + loop) }
      defer { if let tape { tape.pointee.leave() } }
      let overdue = now &- (slots + loop).pointee.nextRelease
      if overdue >= (slots + loop).pointee.period {
        (slots + loop).pointee.record.pointee.change()
        skip(slots + loop, overdue / (slots + loop).pointee.period, at: now)
      }
      var tick = Tick(
        index: (slots + loop).pointee.nextIndex, scheduled: TickInstant(nanoseconds: now),
        started: TickInstant(nanoseconds: now))
      (slots + loop).pointee.record.pointee.change()
      takeExternalStop(slots + loop, &tick)
      if Mechanism.finalSafeState.acts { enterSafeState(slots + loop, &tick, .stop, at: now) }
      (slots + loop).pointee.account.activity = .waiting
      publish(slots + loop)
    }
  }

  /// The instant at which the tick that has begun ends, in simulated time, or `.max` if no tick has begun.
  var finishesAt: Int64 {
    @_noLocks @_noAllocation @inline(__always) get {
      guard let unfinished else { return .max }
      return unfinished.end
    }
  }

  /// Ends the tick that has begun, at the instant at which it ends in simulated time.
  @_noLocks @_noAllocation
  mutating func finish() {
    guard var last = unfinished else { return }
    unfinished = nil
    if let tape {
      tape.pointee.finished()
      tape.pointee.use(slots + last.loop)
    }
    finish(slots + last.loop, &last.tick, end: last.end)
    if let tape {
      tape.pointee.leave()
      tape.pointee.commit()
    }
    if releases.contains(last.loop) { releases.update(last.loop, key: nextKey(slots + last.loop)) }
  }

  /// Changes the period of a loop at a tick boundary. The next release is one new period after the last release, or the first such
  /// instant after `now`; for a loop in an order it is the first such instant that is in phase. The number of releases that are due
  /// stays the same; the newest of them is the last such instant up to `now`.
  @_noLocks @_noAllocation
  mutating func apply(_ change: RateChange, at now: Int64) {
    if let tape {
      tape.pointee.changes(change, at: now)
      tape.pointee.commit()
    }
    let loop = change.loop
    let period = change.period
    let slot = slots + loop
    let isBeforeFirst = now < slot.pointee.firstRelease
    let isDue = slot.pointee.nextRelease <= now
    if !isDue {
      let last = slot.pointee.nextRelease &- slot.pointee.period
      let periods = later(1, (now &- last) / period &+ 1)
      slot.pointee.nextRelease = last &+ periods &* period
    } else {
      // A shorter period must not invent releases in the past: they would count as missed.
      let older = (now &- slot.pointee.nextRelease) / slot.pointee.period
      let newest = slot.pointee.nextRelease &+ older &* slot.pointee.period
      slot.pointee.nextRelease = newest &+ (now &- newest) / period &* period &- older &* period
    }
    slot.pointee.period = period
    if slot.pointee.isOrdered {
      if isBeforeFirst {
        slot.pointee.nextRelease = slot.pointee.firstRelease
      } else if isDue {
        slot.pointee.isOutOfPhase = true
      } else {
        slot.pointee.nextRelease = inPhase(slot, from: slot.pointee.nextRelease)
      }
    }
    slot.pointee.deadline = change.deadline
    slot.pointee.tolerance = change.tolerance
    publish(slot)
    if releases.contains(loop) { releases.update(loop, key: nextKey(slot)) }
  }

  @_noLocks @_noAllocation @inline(__always)
  private mutating func run(_ loop: Int, _ start: Int64) -> Int64 {
    let slot = slots + loop
    var tick = Tick(
      index: slot.pointee.nextIndex &- 1, cause: .input, scheduled: TickInstant(nanoseconds: start),
      started: TickInstant(nanoseconds: start))
    if let tape {
      tape.pointee.released(loop, start, sleptFrom: sleptFrom, wokeAt: wokeAt)
      tape.pointee.use(slot)
    }
    slot.pointee.record.pointee.change()
    slot.pointee.account.runningDeadline = .max
    takeExternalStop(slot, &tick)
    if slot.pointee.nextRelease <= start {
      takePeriodic(slot, &tick)
    } else if slot.pointee.wakeAt <= start {
      tick.cause = .deadline
      tick.scheduled = TickInstant(nanoseconds: slot.pointee.wakeAt)
      slot.pointee.account.byDeadline &+= 1
    } else {
      tick.scheduled = TickInstant(nanoseconds: later(slot.pointee.inputAt, slot.pointee.inputAllowedAt))
      slot.pointee.inputAllowedAt = start &+ slot.pointee.minimumInterval
      slot.pointee.account.byInput &+= 1
    }
    slot.pointee.inputAt = .max
    begin(slot, tick)
    if let tape { return runTaped(tape, slot, loop, &tick) }

    tactus_tick_begins()
    let wanted = callTick(slot, &tick)
    tactus_tick_ends()

    // A deadline that has already passed would release the loop again at once, for ever.
    slot.pointee.wakeAt = wanted > start ? wanted : start &+ slot.pointee.minimumInterval
    if let simulated {
      let end = simulated.pointee.end(of: loop, tick, execution: slot.pointee.simulatedExecution)
      if end > start {
        unfinished = UnfinishedTick(loop: loop, tick: tick, end: end)
      } else {
        finish(slot, &tick, end: end)
      }
      return end
    }
    let end = tactus_monotonic_now()
    finish(slot, &tick, end: end)
    return end
  }

  /// Runs and records a tick, or replays it. An unrecorded loop's tick is not run in a replay; its next deadline is on the tape.
  @_noLocks @_noAllocation @inline(never)
  private mutating func runTaped(
    _ tape: UnsafeMutablePointer<LaneTape>, _ slot: UnsafeMutablePointer<LoopSlot>, _ loop: Int, _ tick: inout Tick
  ) -> Int64 {
    let start = tick.started.nanoseconds
    tape.pointee.tick(tick)
    var wanted = Int64.max
    if slot.pointee.isRecorded || !tape.pointee.isReplaying {
      tactus_tick_begins()
      wanted = callTick(slot, &tick)
      tactus_tick_ends()
    }
    var end = start
    if tape.pointee.isReplaying {
    } else if let simulated {
      end = simulated.pointee.end(of: loop, tick, execution: slot.pointee.simulatedExecution)
    } else {
      end = tactus_monotonic_now()
    }
    let ended = tape.pointee.ended(slot, wanted: wanted, end: end, isDeferred: simulated != nil && end > start)
    slot.pointee.wakeAt = ended.wanted > start ? ended.wanted : start &+ slot.pointee.minimumInterval
    if ended.isDeferred != 0 {
      unfinished = UnfinishedTick(loop: loop, tick: tick, end: ended.end)
    } else {
      finish(slot, &tick, end: ended.end)
    }
    tape.pointee.leave()
    tape.pointee.commit()
    return ended.end
  }

  /// Chooses the periodic release that runs under the late policy and gives up the releases that will not run.
  @_noLocks @_noAllocation @inline(__always)
  private func takePeriodic(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick) {
    let start = tick.started.nanoseconds
    let period = slot.pointee.period
    // The lane was asleep when the loop should have run: the kernel was late, not an earlier loop. The oldest due release is
    // examined, since the newest may be on time by chance.
    if slot.pointee.nextRelease >= sleptFrom, wokeAt &- slot.pointee.nextRelease > slot.pointee.tolerance {
      slot.pointee.account.oversleeps &+= 1
    }
    if start &- slot.pointee.nextRelease >= period {
      giveUp(slot, due: (start &- slot.pointee.nextRelease) / period &+ 1, &tick)
    }
    tick.index = slot.pointee.nextIndex
    tick.cause = .period
    tick.scheduled = TickInstant(nanoseconds: slot.pointee.nextRelease)
    tick.missed = slot.pointee.missedSinceRun
    slot.pointee.missedSinceRun = 0
    slot.pointee.nextIndex &+= 1
    slot.pointee.account.runningDeadline = slot.pointee.nextRelease &+ slot.pointee.deadline
    slot.pointee.nextRelease &+= period
    if slot.pointee.isOutOfPhase, slot.pointee.nextRelease > start {
      slot.pointee.nextRelease = inPhase(slot, from: slot.pointee.nextRelease)
      slot.pointee.isOutOfPhase = false
    }
    slot.pointee.account.ran &+= 1
  }

  /// Handles several due releases: skips those that the policy gives up, and enters the safe state if there are too many misses.
  @_noLocks @_noAllocation @inline(never)
  private func giveUp(_ slot: UnsafeMutablePointer<LoopSlot>, due: Int64, _ tick: inout Tick) {
    let skipped: Int64 =
      switch slot.pointee.late {
      case .skip: due &- 1
      case .catchUp(let limit): later(0, due &- 1 &- limit)
      case .runLate: 0
      }
    skip(slot, skipped, at: tick.started.nanoseconds)
    enterSafeStateIfDue(slot, &tick, at: tick.started.nanoseconds)
  }

  /// Gives up the oldest releases, all due by `instant`. Their lateness is recorded as if each of them had run at `instant`.
  @_noLocks @_noAllocation
  private func skip(_ slot: UnsafeMutablePointer<LoopSlot>, _ skipped: Int64, at instant: Int64) {
    guard skipped > 0 else { return }
    let period = slot.pointee.period
    let mostLate = instant &- slot.pointee.nextRelease
    slot.pointee.record.pointee.latency.record(seriesFrom: mostLate, step: period, count: skipped)
    noteLatency(slot, least: mostLate &- (skipped &- 1) &* period, most: mostLate)
    if slot.pointee.consecutiveMisses == slot.pointee.missesAtSafeState {
      slot.pointee.missesSince = slot.pointee.nextRelease
    }
    slot.pointee.nextIndex &+= skipped
    slot.pointee.nextRelease &+= skipped &* period
    slot.pointee.account.skipped &+= skipped
    slot.pointee.missedSinceRun &+= skipped
    slot.pointee.consecutiveMisses &+= skipped
  }

  @_noLocks @_noAllocation
  private func enterSafeStateIfDue(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick, at instant: Int64) {
    let limit = slot.pointee.safeStateAfter
    let misses = slot.pointee.consecutiveMisses &- slot.pointee.missesAtSafeState
    guard Mechanism.missedReleases.acts, limit > 0, misses >= limit else { return }
    var counts = true
    if case .injected(let stall) = slot.pointee.countedMisses {
      counts =
        stall?.explains(misses: limit, ofPeriod: slot.pointee.period, since: slot.pointee.missesSince) ?? false
    }
    // On the tape of every loop: what is replayed may count other misses than what was recorded.
    if let tape { counts = tape.pointee.counted(counts) }
    guard counts else { return }
    slot.pointee.missesAtSafeState = slot.pointee.consecutiveMisses
    slot.pointee.account.safeStates &+= 1
    enterSafeState(slot, &tick, .misses(slot.pointee.consecutiveMisses), at: instant)
    slot.pointee.record.pointee.change()
  }

  /// Takes an external stop into account. The function is called before everything else of the tick, while the record is being changed.
  @_noLocks @_noAllocation @inline(__always)
  private func takeExternalStop(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick) {
    let last = slot.pointee.lastStart
    var stopped = slot.pointee.externalStops.next(
      lastTick: last == .max ? tick.started : TickInstant(nanoseconds: last))
    if let tape { stopped = tape.pointee.externalStop(stopped) }
    guard let stop = stopped else { return }
    slot.pointee.account.safeStates &+= 1
    enterSafeState(slot, &tick, .externalStop(stop), at: tick.started.nanoseconds)
    slot.pointee.record.pointee.change()
  }

  /// Calls the loop's `safeState`. The call is published before it begins, so that a safe state that hangs is visible as well.
  @_noLocks @_noAllocation
  private func enterSafeState(
    _ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick, _ cause: SafeStateCause, at instant: Int64
  ) {
    slot.pointee.account.activity = .safeState
    slot.pointee.account.activitySince = instant
    publish(slot)
    if let tape {
      tape.pointee.safeState(slot - slots, cause, at: instant)
      if tape.pointee.isReplaying, !slot.pointee.isRecorded { return }
    }
    callSafeState(slot, &tick, cause)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func publish(_ slot: UnsafeMutablePointer<LoopSlot>) {
    slot.pointee.account.nextRelease = slot.pointee.nextRelease
    slot.pointee.account.period = slot.pointee.period
    slot.pointee.account.deadline = slot.pointee.deadline
    slot.pointee.record.pointee.publish(&slot.pointee.account)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func noteLatency(_ slot: UnsafeMutablePointer<LoopSlot>, least: Int64, most: Int64) {
    if least < slot.pointee.account.leastLatency { slot.pointee.account.leastLatency = least }
    if most > slot.pointee.account.mostLatency { slot.pointee.account.mostLatency = most }
  }

  /// Publishes that a tick begins, and its lateness, so that a tick that never ends is in the account as well.
  @_noLocks @_noAllocation @inline(__always)
  private func begin(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: Tick) {
    let start = tick.started.nanoseconds
    let latency = start &- tick.scheduled.nanoseconds
    slot.pointee.record.pointee.latency.record(latency)
    noteLatency(slot, least: latency, most: latency)
    let gap = start &- slot.pointee.lastStart  // below 0 before the first tick
    if gap > slot.pointee.account.longestGap {
      slot.pointee.account.longestGap = gap
      slot.pointee.account.longestGapFrom = slot.pointee.lastStart
    }
    slot.pointee.lastStart = start
    slot.pointee.account.activity = .tick
    slot.pointee.account.activitySince = start
    publish(slot)
  }

  @_noLocks @_noAllocation @inline(never)
  private func noteAges(_ slot: UnsafeMutablePointer<LoopSlot>, end: Int64) {
    var next = slot.pointee.ages
    while let age = next {
      age.pointee.tickEnded(at: end)
      next = age.pointee.next
    }
  }

  @_noLocks @_noAllocation @inline(__always)
  private func finish(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick, end: Int64) {
    let start = tick.started.nanoseconds
    let execution = end &- start
    let record = slot.pointee.record
    record.pointee.change()
    if execution > slot.pointee.period { slot.pointee.account.overruns &+= 1 }
    if case .period = tick.cause {
      if end &- tick.scheduled.nanoseconds > slot.pointee.deadline {
        slot.pointee.account.deadlineMisses &+= 1
        if slot.pointee.consecutiveMisses == slot.pointee.missesAtSafeState {
          slot.pointee.missesSince = tick.scheduled.nanoseconds
        }
        slot.pointee.consecutiveMisses &+= 1
        enterSafeStateIfDue(slot, &tick, at: end)
      } else if tick.missed == 0 {
        slot.pointee.consecutiveMisses = 0
        slot.pointee.missesAtSafeState = 0
      }
      if case .runLate = slot.pointee.late, start &- tick.scheduled.nanoseconds > slot.pointee.tolerance,
        slot.pointee.nextRelease <= end
      {
        skip(slot, (end &- slot.pointee.nextRelease) / slot.pointee.period &+ 1, at: end)
        enterSafeStateIfDue(slot, &tick, at: end)
      }
    }
    record.pointee.execution.record(execution)
    if execution < slot.pointee.account.leastExecution { slot.pointee.account.leastExecution = execution }
    if execution > slot.pointee.account.mostExecution { slot.pointee.account.mostExecution = execution }
    if slot.pointee.ages != nil { noteAges(slot, end: end) }
    slot.pointee.account.activity = .waiting
    slot.pointee.account.activitySince = end
    publish(slot)
  }
}
