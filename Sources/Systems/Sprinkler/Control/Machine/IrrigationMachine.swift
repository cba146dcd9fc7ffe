import Buses
import Tactus

/// The rules of the valves: which zone is open, from when until when, and which runs wait in the queue.
///
/// The machine only decides. The loop passes every input as an event, sets the lines as `IrrigationAction.lines` requires, and takes
/// the notices. The rules are numbered in the folder's README. The type is not copyable, as it owns the storage of its queue, and it
/// allocates only when it is created. Timing: the work of an event is bounded by 256 queued runs and 64 zones.
public struct IrrigationMachine: ~Copyable {
  /// The greatest number of runs that are queued or open.
  public static var capacity: Int {
    @_noLocks @_noAllocation get { RunQueue.capacity }
  }
  public internal(set) var settings: IrrigationSettings
  public internal(set) var state = IrrigationState.idle
  /// The levels that the lines must have, bit k for line k.
  public internal(set) var lines: UInt64 = 0
  /// Whether the read-back has confirmed the levels in `lines`. It has not at first, so that the first tick turns every
  /// line off.
  public internal(set) var confirmation = Mechanism.offFirst.acts ? Confirmation.pending : .confirmed
  /// Whether a rain delay suppresses the runs of programs.
  public internal(set) var isRaining = false
  /// The standing flow alarm, or `nil` if the flow is normal or was reset.
  public internal(set) var flowAlarm: FlowAlarm?
  /// The instant at which the master valve opened, or `nil` if it is closed.
  var masterSince: TickInstant?
  /// The instant until which the master valve's lag keeps the valve open, or `nil` if no lag is running.
  var masterLagEnd: TickInstant?
  let zones: UnsafeMutablePointer<ZoneSlot>
  /// The index after the last zone that has ever existed.
  var zoneEnd = 0
  var queue = RunQueue()
  var notices = NoticeQueue()
  /// The instant at which a valve of each group last closed, or `nil` if none has closed.
  var groupClosedAt: [16 of TickInstant?] = .init(repeating: nil)
  /// The instant at which any valve last closed, or `nil` if none has closed.
  var anyClosedAt: TickInstant?
  /// The beginning of the local day; before the first one is reported, all time counts as today.
  var day = TickInstant(nanoseconds: .min / 2)
  /// The number of consecutive read-backs that differed from the levels written.
  var differences = 0
  /// The instant before the next tick at which lines that differed are written again, or `nil` if none must be.
  var retryAt: TickInstant?
  /// The instant at which the first delay of a queued run ends (soak or station delay), or `nil` if none is running.
  var queueDeadline: TickInstant?
  var watch = FlowWatch()
  /// The instant of the last step.
  var steppedAt = TickInstant(nanoseconds: .min / 2)

  /// Creates an idle machine without zones, whose lines are not yet confirmed off; the first tick turns them off.
  public init(_ settings: IrrigationSettings) {
    self.settings = settings
    zones = .allocate(capacity: ZoneID.maximum)
    zones.initialize(repeating: ZoneSlot(), count: ZoneID.maximum)
  }

  deinit { zones.deallocate() }

  /// Handles one event at one instant, and returns the levels of the lines and the verdict. Instants never decrease. Never blocks or allocates.
  ///
  /// Whatever the event is, runs whose time is over end first, and queued runs take the freed places last. A late step ends runs late and
  /// reports so: `EndedRun.ran` is the real time, not the requested one.
  @_noLocks @_noAllocation
  public mutating func step(_ event: IrrigationEvent, at now: TickInstant) -> IrrigationAction {
    steppedAt = now
    let stateBefore = state
    let linesBefore = lines
    if case .flow(let pulses) = event { share(pulses, at: now) }
    if Mechanism.staysStopped.acts, case .externalStop(let since) = event { endOutside(since: since, at: now) }
    expire(at: now)
    let verdict = respond(to: event, at: now)
    expire(at: now)
    settle(at: now)
    note(from: stateBefore, at: now)
    let isChanged = lines != linesBefore
    if isChanged {
      confirmation = .pending
      watch.restart(at: now)
    }
    let mustTell = isChanged || event.tells || isRetryDue(event, at: now)
    if mustTell { retryAt = nil }
    return IrrigationAction(lines: mustTell ? lines : nil, verdict: verdict)
  }

  /// The oldest notice that waits to be taken, or `nil` if none waits.
  public var nextNotice: IrrigationNotice? {
    @_noLocks @_noAllocation get { notices.peek() }
  }

  /// Removes and returns the oldest notice, or returns `nil` if none waits.
  @_noLocks @_noAllocation @discardableResult
  public mutating func takeNotice() -> IrrigationNotice? { notices.pop() }

  /// The number of notices that wait to be taken.
  public var noticesWaiting: Int {
    @_noLocks @_noAllocation get { notices.count }
  }
  /// The number of notices dropped for want of room; notices of a run's opening or end are never dropped.
  public var noticesDropped: Int64 {
    @_noLocks @_noAllocation get { notices.dropped }
  }

  /// The number of runs that wait in the queue.
  public var queueCount: Int {
    @_noLocks @_noAllocation get { queue.count }
  }

  public var isMasterOpen: Bool {
    @_noLocks @_noAllocation get {
      if case .some = masterSince { return true }
      return false
    }
  }

  /// The instant at which the machine must be stepped if no event comes before, always after the last step; `nil` if there is none.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      var first = retryAt
      if case .paused(let until) = state, until.isBefore(first) { first = until }
      guard state.opens else { return first }
      if let queueDeadline, queueDeadline.isBefore(first) { first = queueDeadline }
      if let masterLagEnd, masterLagEnd.isBefore(first) { first = masterLagEnd }
      for index in 0..<zoneEnd {
        if let deadline = deadline(index), deadline.isBefore(first) { first = deadline }
      }
      return first
    }
  }

  @_noLocks @_noAllocation
  mutating func reach(_ zone: ZoneID) {
    if zoneEnd <= zone.index { zoneEnd = zone.index + 1 }
  }

  /// Returns whether this event is a release that must write unconfirmed lines again.
  @_noLocks @_noAllocation
  private func isRetryDue(_ event: IrrigationEvent, at now: TickInstant) -> Bool {
    guard !confirmation.isConfirmed, Mechanism.offUntilConfirmed.acts else { return false }
    if case .tick = event { return true }
    guard let retryAt else { return false }
    return retryAt.isReached(at: now)
  }

  @_noLocks @_noAllocation
  private mutating func respond(to event: IrrigationEvent, at now: TickInstant) -> IrrigationVerdict {
    switch event {
    case .order(let order): return carryOut(order, at: now)
    case .stale: return .refused(.stale)
    case .tick: return .accepted
    case .flow:
      judgeFlow(at: now)
      return .accepted
    case .flowLimits(let limits):
      apply(limits, at: now)
      return .accepted
    case .linesConfirmed: return confirm(at: now)
    case .linesDiffer(let read): return differ(read, at: now)
    case .linesFailed(let error): return linesFailed(error, at: now)
    case .externalStop: return .accepted
    case .missed(let releases): return fail(.missedReleases(releases), at: now)
    case .shutdown:
      endAll(.shutdown, at: now)
      if Mechanism.shutdownFinal.acts { state = .shutDown }
      return .accepted
    }
  }

  @_noLocks @_noAllocation
  private mutating func carryOut(_ order: SprinklerOrder, at now: TickInstant) -> IrrigationVerdict {
    switch order {
    case .run(let run, let placement): return accept(run, placement, at: now)
    case .extend(let zone, let seconds): return extend(zone, seconds: seconds, at: now)
    case .off(let zone, let dropsQueued): return turnOff(zone, dropsQueued: dropsQueued, at: now)
    case .cancel(let run): return cancel(run, at: now)
    case .allOff:
      endAll(.stopped, at: now)
      return .accepted
    case .skip: return skip(at: now)
    case .clearQueue:
      endQueued(.stopped, at: now, isBegunToo: false)
      return .accepted
    case .pause(let seconds): return pause(seconds: seconds, at: now)
    case .resume:
      guard case .paused = state else { return .refused(.notPaused) }
      state = .idle
      return .accepted
    case .rain(let isActive, let endsRuns):
      rain(isActive: isActive, endsRuns: endsRuns, at: now)
      return .accepted
    case .dayBegan:
      for index in 0..<zoneEnd { zones[index].ranBefore = .zero }
      day = now
      return .accepted
    case .ranToday(let zone, let time):
      zones[zone.index].ranBefore = zones[zone.index].ranBefore + time
      reach(zone)
      return .accepted
    case .zone(let zone, let settings): return set(zone, settings, at: now)
    case .emergencyStop: return emergencyStop(at: now)
    case .reset: return reset()
    case .query: return .accepted
    }
  }

  /// Issues a notice of a change of state. Changes between idle and watering are left to the notices of the runs.
  @_noLocks @_noAllocation
  private mutating func note(from before: IrrigationState, at now: TickInstant) {
    let isChange: Bool
    switch (before, state) {
    case (.idle, .idle), (.idle, .watering), (.watering, .idle), (.watering, .watering): isChange = false
    case (.paused(let old), .paused(let new)): isChange = old.nanoseconds != new.nanoseconds
    case (.fault, .fault), (.emergencyStopped, .emergencyStopped), (.shutDown, .shutDown): isChange = false
    default: isChange = true
    }
    if isChange { notices.push(IrrigationNotice(at: now, .state(state))) }
  }
}

extension IrrigationState {
  /// Whether valves may open in this state.
  var opens: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .idle, .watering: return true
      case .paused, .fault, .emergencyStopped, .shutDown: return false
      }
    }
  }

  /// The reason why runs are refused in this state, or `nil` if they are accepted.
  public var refusal: IrrigationRefusal? {
    @_noLocks @_noAllocation get {
      switch self {
      case .idle, .watering, .paused: return nil
      case .fault: return .inFault
      case .emergencyStopped: return .emergencyStopped
      case .shutDown: return .shutDown
      }
    }
  }
}

extension IrrigationEvent {
  /// Whether the event writes the lines even if they should have these levels already, as a stop must never be assumed to have worked.
  var tells: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .order(.allOff), .order(.emergencyStop), .missed, .externalStop, .shutdown: return true
      default: return false
      }
    }
  }
}
