import CTactus

/// The scheduler of one lane: which loop runs next, with which tick, and what is accounted.
///
/// One and the same code in real and in simulated time; only `clock` and the way to wait differ. Loops are held in order
/// of urgency (shorter period first), so that a loop's index is its rank: among loops that are due the smallest index
/// runs first, and runs to its end (non-preemptive, rate-monotonic).
struct LaneScheduler: ~Copyable {
  let slots: UnsafeMutablePointer<LoopSlot>
  let count: Int
  /// Loops that are not due yet, by the instant at which they will be.
  private var releases: ReleaseHeap
  /// Loops that are due, by rank.
  private var ready: ReleaseHeap
  /// Non-nil in simulated time.
  let simulated: UnsafeMutablePointer<SimulatedLane>?
  /// The last wait: the lane was asleep from `sleptFrom` to `wokeAt`.
  private var sleptFrom = Int64.max
  private var wokeAt = Int64.max

  /// `slots` stay owned by the caller.
  init(slots: UnsafeMutablePointer<LoopSlot>, count: Int, simulated: UnsafeMutablePointer<SimulatedLane>?) {
    self.slots = slots
    self.count = count
    self.simulated = simulated
    releases = ReleaseHeap(capacity: count)
    ready = ReleaseHeap(capacity: count)
  }

  /// Sets every loop to its first release. Called once, before the lane runs.
  mutating func begin(epoch: Int64) {
    for loop in 0..<count {
      slots[loop].reset(epoch: epoch)
      slots[loop].record.pointee.publish(slots[loop].counters, slots[loop].extremes)
      releases.insert(loop, key: nextKey(slots + loop))
    }
  }

  /// The next instant at which a loop wants to run; past when one is due already.
  var nextInstant: Int64 {
    @_noLocks @_noAllocation @inline(__always) get { ready.count > 0 ? .min : releases.topKey }
  }

  /// Notes a wait, so that lateness can be told apart: ours, or the kernel's.
  @_noLocks @_noAllocation @inline(__always)
  mutating func slept(from: Int64, to: Int64) {
    sleptFrom = from
    wokeAt = to
  }

  /// An input of `loop` is readable since `instant`; `.max`: no longer. Changes nothing for a loop that is already due.
  @_noLocks @_noAllocation
  mutating func inputReady(_ loop: Int, at instant: Int64) {
    guard releases.contains(loop) else { return }
    (slots + loop).pointee.inputAt = instant
    releases.update(loop, key: nextKey(slots + loop))
  }

  /// Runs the most urgent loop that is due at `now` and returns when its tick ended; `.min` when none is due.
  @_noLocks @_noAllocation
  mutating func runNext(_ now: Int64) -> Int64 {
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

  /// Puts every loop into its safe state, most urgent first.
  @_noLocks @_noAllocation
  mutating func stopLoops(at now: Int64) {
    for loop in 0..<count {
      var tick = Tick(
        index: (slots + loop).pointee.nextIndex, scheduled: TickInstant(nanoseconds: now),
        started: TickInstant(nanoseconds: now))
      callSafeState(slots + loop, &tick, .stop)
    }
  }

  /// Gives a loop a new period, at a tick boundary. The next release is one new period after the last one, or the first
  /// such instant after `now`. As many releases are due as before; the newest is the last such instant up to `now`.
  @_noLocks @_noAllocation
  mutating func take(_ change: RateChange, at now: Int64) {
    let loop = change.loop
    let period = change.period
    let slot = slots + loop
    if slot.pointee.nextRelease > now {
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
    slot.pointee.deadline = change.deadline
    slot.pointee.tolerance = change.tolerance
    if releases.contains(loop) { releases.update(loop, key: nextKey(slot)) }
  }

  @_noLocks @_noAllocation @inline(__always)
  private func run(_ loop: Int, _ start: Int64) -> Int64 {
    let slot = slots + loop
    var tick = Tick(
      index: slot.pointee.nextIndex &- 1, cause: .input, scheduled: TickInstant(nanoseconds: start),
      started: TickInstant(nanoseconds: start))
    if slot.pointee.nextRelease <= start {
      takePeriodic(slot, &tick)
    } else if slot.pointee.wakeAt <= start {
      tick.cause = .deadline
      tick.scheduled = TickInstant(nanoseconds: slot.pointee.wakeAt)
      slot.pointee.counters.byDeadline &+= 1
    } else {
      tick.scheduled = TickInstant(nanoseconds: later(slot.pointee.inputAt, slot.pointee.inputAllowedAt))
      slot.pointee.inputAllowedAt = start &+ slot.pointee.minimumInterval
      slot.pointee.counters.byInput &+= 1
    }
    slot.pointee.inputAt = .max

    tactus_tick_begins()
    let wanted = callTick(slot, &tick)
    tactus_tick_ends()

    let end: Int64
    if let simulated {
      end = simulated.pointee.end(of: loop, tick, execution: slot.pointee.simulatedExecution)
    } else {
      end = tactus_monotonic_now()
    }
    // A deadline that has already passed would release the loop again at once, for ever.
    slot.pointee.wakeAt = wanted > start ? wanted : start &+ slot.pointee.minimumInterval
    account(slot, &tick, start: start, end: end)
    return end
  }

  /// Chooses the periodic release to run under the late policy and gives up those that will not.
  @_noLocks @_noAllocation @inline(__always)
  private func takePeriodic(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick) {
    let start = tick.started.nanoseconds
    let period = slot.pointee.period
    // Asleep when it should have run: the kernel's lateness, not that of a loop before it. Asked of the oldest release
    // that is due, since the newest may be on time by chance.
    if slot.pointee.nextRelease >= sleptFrom, wokeAt &- slot.pointee.nextRelease > slot.pointee.tolerance {
      slot.pointee.counters.oversleeps &+= 1
    }
    var due: Int64 = 1
    if start &- slot.pointee.nextRelease >= period {
      due = (start &- slot.pointee.nextRelease) / period &+ 1
      due &-= giveUp(slot, due: due, &tick)
    }
    slot.pointee.releasedIndex = later(slot.pointee.releasedIndex, slot.pointee.nextIndex &+ due)
    tick.index = slot.pointee.nextIndex
    tick.cause = .period
    tick.scheduled = TickInstant(nanoseconds: slot.pointee.nextRelease)
    tick.missed = slot.pointee.missedSinceRun
    slot.pointee.missedSinceRun = 0
    slot.pointee.nextIndex &+= 1
    slot.pointee.nextRelease &+= period
    slot.pointee.counters.ran &+= 1
  }

  /// Several releases are due: skips those that the policy gives up, and enters the safe state when they are too many.
  /// Returns how many were skipped.
  @_noLocks @_noAllocation @inline(never)
  private func giveUp(_ slot: UnsafeMutablePointer<LoopSlot>, due: Int64, _ tick: inout Tick) -> Int64 {
    let skipped: Int64 =
      switch slot.pointee.late {
      case .skip: due &- 1
      case .catchUp(let limit): later(0, due &- 1 &- limit)
      case .runLate: 0
      }
    skip(slot, skipped)
    enterSafeStateIfDue(slot, &tick)
    return skipped
  }

  @_noLocks @_noAllocation
  private func skip(_ slot: UnsafeMutablePointer<LoopSlot>, _ skipped: Int64) {
    if slot.pointee.consecutiveMisses == 0 { slot.pointee.missesSince = slot.pointee.nextRelease }
    slot.pointee.nextIndex &+= skipped
    slot.pointee.nextRelease &+= skipped &* slot.pointee.period
    slot.pointee.releasedIndex = later(slot.pointee.releasedIndex, slot.pointee.nextIndex)
    slot.pointee.counters.skipped &+= skipped
    slot.pointee.missedSinceRun &+= skipped
    slot.pointee.consecutiveMisses &+= skipped
  }

  @_noLocks @_noAllocation
  private func enterSafeStateIfDue(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick) {
    let limit = slot.pointee.safeStateAfter
    guard limit > 0, slot.pointee.consecutiveMisses >= limit, !slot.pointee.isInSafeState else { return }
    if case .injected(let stall) = slot.pointee.countedMisses {
      guard let stall, stall.explains(misses: limit, ofPeriod: slot.pointee.period, since: slot.pointee.missesSince)
      else { return }
    }
    slot.pointee.isInSafeState = true
    slot.pointee.counters.safeStates &+= 1
    callSafeState(slot, &tick, .misses(slot.pointee.consecutiveMisses))
  }

  @_noLocks @_noAllocation @inline(__always)
  private func account(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: inout Tick, start: Int64, end: Int64) {
    let latency = start &- tick.scheduled.nanoseconds
    let execution = end &- start
    if execution > slot.pointee.period { slot.pointee.counters.overruns &+= 1 }
    if case .period = tick.cause {
      if end &- tick.scheduled.nanoseconds > slot.pointee.deadline {
        slot.pointee.counters.deadlineMisses &+= 1
        if slot.pointee.consecutiveMisses == 0 { slot.pointee.missesSince = tick.scheduled.nanoseconds }
        slot.pointee.consecutiveMisses &+= 1
        enterSafeStateIfDue(slot, &tick)
      } else if tick.missed == 0 {
        slot.pointee.consecutiveMisses = 0
        slot.pointee.isInSafeState = false
      }
      if case .runLate = slot.pointee.late, latency > slot.pointee.tolerance, slot.pointee.nextRelease <= end {
        skip(slot, (end &- slot.pointee.nextRelease) / slot.pointee.period &+ 1)
        enterSafeStateIfDue(slot, &tick)
      }
    }
    slot.pointee.counters.released = slot.pointee.releasedIndex
    slot.pointee.counters.pending = slot.pointee.releasedIndex &- slot.pointee.nextIndex

    let record = slot.pointee.record
    record.pointee.latency.record(latency)
    record.pointee.execution.record(execution)
    if latency < slot.pointee.extremes.leastLatency { slot.pointee.extremes.leastLatency = latency }
    if latency > slot.pointee.extremes.mostLatency { slot.pointee.extremes.mostLatency = latency }
    if execution < slot.pointee.extremes.leastExecution { slot.pointee.extremes.leastExecution = execution }
    if execution > slot.pointee.extremes.mostExecution { slot.pointee.extremes.mostExecution = execution }
    record.pointee.publish(slot.pointee.counters, slot.pointee.extremes)
  }
}
