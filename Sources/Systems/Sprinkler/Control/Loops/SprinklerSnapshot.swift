import Buses
import Tactus

/// The status of one zone at the end of a tick.
public struct ZoneStatus: Sendable, BitwiseCopyable {
  /// The state of the zone's valve.
  public enum Valve: Sendable, Hashable, BitwiseCopyable {
    case closed
    /// The zone's run is next, and its valve waits until the master valve has been open for its lead time.
    case leading(ZoneRun, opensAt: TickInstant)
    case open(ZoneRun, opened: TickInstant, until: TickInstant)
  }
  /// The zone's settings, or `nil` if there is no such zone.
  public internal(set) var settings: ZoneSettings?
  public internal(set) var valve = Valve.closed
  /// The instant at which the valve last closed, or `nil` if it has not closed since the daemon started. Soak times count from here.
  public internal(set) var closedAt: TickInstant?
  /// The time that the zone has run today, up to `SprinklerSnapshot.at`.
  public internal(set) var ranToday = Nanoseconds.zero
  /// The time for which the valve has been open in the current run, up to `SprinklerSnapshot.at`, pauses not counted.
  public internal(set) var ran = Nanoseconds.zero
  /// The flow sensor's pulses during the current run.
  public internal(set) var pulses: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  public var isOn: Bool {
    if case .open = valve { true } else { false }
  }

  /// The run that is open or about to open, or `nil` if the valve is closed with no run about to open.
  public var run: ZoneRun? {
    switch valve {
    case .closed: nil
    case .leading(let run, _), .open(let run, _, _): run
    }
  }

  /// Returns the time until the valve closes, or `nil` if it is not open.
  public func remaining(at now: TickInstant) -> Nanoseconds? {
    guard case .open(_, _, let until) = valve else { return nil }
    return max(.zero, until - now)
  }
}

/// The status of a run that waits in the queue.
public struct QueuedRunStatus: Sendable, Hashable, BitwiseCopyable {
  public let run: ZoneRun
  /// The time for which the run is still to be open.
  public let left: Nanoseconds
  /// The time for which the run was open before a pause.
  public let ran: Nanoseconds
  /// The instant at which the run is expected to open if nothing changes, or `nil` if that is unknown, as when its zone has no line.
  public let expected: TickInstant?

  @_noLocks @_noAllocation
  init(run: ZoneRun, left: Nanoseconds, ran: Nanoseconds, expected: TickInstant?) {
    self.run = run
    self.left = left
    self.ran = ran
    self.expected = expected
  }
}

/// The state of the valves at the end of a tick, as published to other threads.
public struct SprinklerSnapshot: Sendable, BitwiseCopyable {
  /// The greatest number of queued runs that a snapshot contains.
  public static var shownQueue: Int {
    @_noLocks @_noAllocation get { 64 }
  }
  /// The instant of the tick that published the snapshot.
  public internal(set) var at = TickInstant.zero
  public internal(set) var state = IrrigationState.idle
  /// Whether a rain delay suppresses the runs of programs.
  public internal(set) var isRaining = false
  var zones: [64 of ZoneStatus]
  /// The number of queued runs, up to 256; `queued(_:)` returns the first `shownQueue` of them.
  public internal(set) var queueCount = 0
  var queue: [64 of QueuedRunStatus]
  /// Whether the master valve is open, or `nil` if there is no master valve.
  public internal(set) var isMasterOpen: Bool?
  /// The levels last written to the lines; bit k is line k, 1 is active.
  public internal(set) var told: UInt64 = 0
  /// The levels last read back from the lines, or `nil` if they have not been read yet or the last access failed.
  public internal(set) var read: UInt64?
  /// Whether the read-back confirmed the levels written; a reset requires this.
  public internal(set) var confirmation = Confirmation.pending
  /// The flow sensor's readings, or `nil` if there is no flow sensor.
  public internal(set) var flow: FlowStatus?
  /// The last reading of the rain sensor's line, or `nil` if there is no sensor or its line has not been read yet.
  public internal(set) var rainSensor: RainSensorReading?
  /// The last readings of the comparators in the soil.
  public internal(set) var soil = SoilLineReadings()
  /// The number of requests that were accepted.
  public internal(set) var accepted: Int64 = 0
  /// The number of requests that were refused.
  public internal(set) var refused: Int64 = 0
  /// The reason for the last refusal, or `nil` if no request was refused.
  public internal(set) var lastRefusal: IrrigationRefusal?
  /// The number of runs that ended.
  public internal(set) var ended: Int64 = 0
  /// The number of runs that ended as completed.
  public internal(set) var completed: Int64 = 0
  /// The number of writes of the lines that succeeded.
  public internal(set) var writes: Int64 = 0
  /// The number of writes and reads of the lines that failed.
  public internal(set) var lineFailures: Int64 = 0
  /// The error of the last failed access to the lines, or `nil` if none has failed.
  public internal(set) var lastLineFailure: GPIOError?
  /// The number of read-backs that differed from the levels written.
  public internal(set) var differences: Int64 = 0
  /// The number of notices that wait in the machine because their ring is full.
  public internal(set) var noticesWaiting = 0
  /// The number of notices dropped for want of room; notices of a run's opening or end are never dropped.
  public internal(set) var noticesDropped: Int64 = 0

  /// Creates the snapshot that stands before the first tick.
  @_noLocks @_noAllocation
  public init() {
    zones = .init(repeating: ZoneStatus())
    queue = .init(
      repeating: QueuedRunStatus(
        run: ZoneRun(id: 0, zone: ZoneID(index: 0), seconds: 0, source: .manual), left: .zero, ran: .zero,
        expected: nil))
  }

  public subscript(zone: ZoneID) -> ZoneStatus { zones[zone.index] }

  /// Returns a run that waits in the queue.
  ///
  /// - Parameter index: the place of the run in the queue, 0 ..< min(queueCount, shownQueue); any other value is a programming error.
  public func queued(_ index: Int) -> QueuedRunStatus {
    precondition(index >= 0 && index < min(queueCount, Self.shownQueue), "no such place in the queue")
    return queue[index]
  }
}

/// The readings of the flow sensor.
public struct FlowStatus: Sendable, Hashable, BitwiseCopyable {
  /// The number of pulses counted since the daemon started.
  public internal(set) var pulses: Int64 = 0
  /// The flow averaged over the last whole second or longer, in l/min; 0 if no water flows.
  public internal(set) var litresPerMinute = 0.0
  /// The current flow alarm, or the one that caused the present fault; `nil` if the flow is normal.
  public internal(set) var alarm: FlowAlarm?
  /// The number of reads of the flow sensor's line that failed.
  public internal(set) var failures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}

extension IrrigationMachine {
  /// Writes the machine's state into the snapshot. `expected` is scratch space for `SprinklerSnapshot.shownQueue` instants.
  @_noLocks @_noAllocation
  func show(
    in snapshot: UnsafeMutablePointer<SprinklerSnapshot>, expected: UnsafeMutablePointer<TickInstant?>,
    at now: TickInstant
  ) {
    snapshot.pointee.state = state
    snapshot.pointee.isRaining = isRaining
    snapshot.pointee.told = lines
    snapshot.pointee.confirmation = confirmation
    if case .some = settings.master { snapshot.pointee.isMasterOpen = isMasterOpen }
    if case .some = snapshot.pointee.flow {
      snapshot.pointee.flow?.pulses = flowPulses
      snapshot.pointee.flow?.litresPerMinute = litresPerMinute
      snapshot.pointee.flow?.alarm = flowAlarm
    }
    snapshot.pointee.noticesWaiting = noticesWaiting
    snapshot.pointee.noticesDropped = noticesDropped
    for index in 0..<ZoneID.maximum { snapshot.pointee.zones[index] = status(index, at: now) }
    snapshot.pointee.queueCount = queue.count
    let shown = forecast(into: expected, capacity: SprinklerSnapshot.shownQueue, at: now)
    for place in 0..<shown {
      let run = queue[place]
      snapshot.pointee.queue[place] = QueuedRunStatus(
        run: run.run, left: run.left, ran: run.ran, expected: expected[place])
    }
  }

  @_noLocks @_noAllocation
  private func status(_ index: Int, at now: TickInstant) -> ZoneStatus {
    let slot = zones[index]
    var status = ZoneStatus()
    status.settings = slot.settings
    status.closedAt = slot.closedAt
    status.ranToday = slot.ranToday(day: day, at: now)
    switch slot.valve {
    case .closed: break
    case .leading(let run, let opensAt): status.valve = .leading(run.run, opensAt: opensAt)
    case .open(let run, let since):
      status.valve = .open(run.run, opened: run.opened ?? since, until: slot.end(day: day)?.0 ?? now)
      status.ran = run.ran + (now - since)
      status.pulses = run.pulses
    }
    return status
  }
}
