import Buses
import Tactus

/// The valves' rules: which zone is open, since when and until when, and what waits for its turn.
///
/// Decides and does nothing else; the loop hands it every input as an event, sets the lines as `IrrigationAction.lines` says,
/// and takes its notices. The rules are numbered in the folder's README. Not copyable, as it owns the storage of its queue;
/// allocates only when it is made. Timing: an event is bounded by 256 queued runs and 64 zones.
public struct IrrigationMachine: ~Copyable {
  /// Runs that are queued or open, at most.
  public static var capacity: Int {
    @_noLocks @_noAllocation get { RunQueue.capacity }
  }
  public internal(set) var settings: IrrigationSettings
  public internal(set) var state = IrrigationState.idle
  /// What all lines together must be, bit k for line k.
  public internal(set) var lines: UInt64 = 0
  /// Whether they are. At first not: the first tick turns every line off.
  public internal(set) var confirmation = Mechanism.offFirst.acts ? Confirmation.pending : .confirmed
  /// Whether a rain delay keeps programs' runs away.
  public internal(set) var isRaining = false
  /// The last flow alarm, or `nil` if the flow is as it should be, or was reset.
  public internal(set) var flowAlarm: FlowAlarm?
  /// Since when the master valve is open.
  var masterSince: TickInstant?
  /// The master valve stays open until then.
  var masterLagEnd: TickInstant?
  let zones: UnsafeMutablePointer<ZoneSlot>
  /// After the last zone that there ever was.
  var zoneEnd = 0
  var queue = RunQueue()
  var notices = NoticeQueue()
  /// When a valve of the group closed last.
  var groupClosedAt: [16 of TickInstant?] = .init(repeating: nil)
  /// When any did.
  var anyClosedAt: TickInstant?
  /// The local day's beginning; before the first one everything is today.
  var day = TickInstant(nanoseconds: .min / 2)
  /// Read-backs in a row that were not as told.
  var differences = 0
  /// When lines that are not as told are told again, before the next tick.
  var retryAt: TickInstant?
  /// When a queued run's own waiting ends: its soak, the station delay.
  var queueDeadline: TickInstant?
  var watch = FlowWatch()
  /// The last step.
  var steppedAt = TickInstant(nanoseconds: .min / 2)

  /// Idle, without zones, the off not yet confirmed: the first tick sets it.
  public init(_ settings: IrrigationSettings) {
    self.settings = settings
    zones = .allocate(capacity: ZoneID.maximum)
    zones.initialize(repeating: ZoneSlot(), count: ZoneID.maximum)
  }

  deinit { zones.deallocate() }

  /// One event at one instant. Instants never decrease. Never blocks, never allocates.
  ///
  /// Whatever the event, runs whose time is over end first; what they leave free is taken by queued runs last. A late step
  /// ends them late and says so: `EndedRun.ran` is what was, not what was asked.
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

  /// The oldest notice that waits to be taken, or `nil` if none does.
  public var nextNotice: IrrigationNotice? {
    @_noLocks @_noAllocation get { notices.peek() }
  }

  /// Hands it out and forgets it.
  @_noLocks @_noAllocation @discardableResult
  public mutating func takeNotice() -> IrrigationNotice? { notices.pop() }

  /// Notices that wait to be taken, and those other than a run's that found no place.
  public var noticesWaiting: Int {
    @_noLocks @_noAllocation get { notices.count }
  }
  public var noticesDropped: Int64 {
    @_noLocks @_noAllocation get { notices.dropped }
  }

  /// Runs that wait for their turn.
  public var queueCount: Int {
    @_noLocks @_noAllocation get { queue.count }
  }

  public var isMasterOpen: Bool {
    @_noLocks @_noAllocation get {
      if case .some = masterSince { return true }
      return false
    }
  }

  /// When it must be stepped again if nothing comes until then; always after the last step. Nil: never.
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

  /// A release that tells lines again which are not as told.
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
    case .run(let run, let placement): return take(run, placement, at: now)
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
    case .stale: return .refused(.stale)
    case .tick: return .accepted
    case .flow:
      judgeFlow(at: now)
      return .accepted
    case .flowLimits(let limits):
      take(limits, at: now)
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

  /// Changes of the state that a log should show; that water flows or not is in the runs' own notices.
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
  /// Whether valves may open.
  var opens: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .idle, .watering: return true
      case .paused, .fault, .emergencyStopped, .shutDown: return false
      }
    }
  }

  /// Why runs are refused, or `nil` if they are not.
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
  /// Whether the lines are told again even if they should be so already: a stop is never taken for granted.
  var tells: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .allOff, .emergencyStop, .missed, .externalStop, .shutdown: return true
      default: return false
      }
    }
  }
}
