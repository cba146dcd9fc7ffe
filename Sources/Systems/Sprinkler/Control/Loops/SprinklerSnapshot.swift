import Buses
import Tactus

/// One zone at the end of a tick.
public struct ZoneStatus: Sendable, BitwiseCopyable {
  /// What its valve does.
  public enum Valve: Sendable, Hashable, BitwiseCopyable {
    case closed
    /// Its run's turn has come; the master valve leads.
    case leading(ZoneRun, opensAt: TickInstant)
    case open(ZoneRun, opened: TickInstant, until: TickInstant)
  }
  /// It is `nil` if there is no such zone.
  public internal(set) var settings: ZoneSettings?
  public internal(set) var valve = Valve.closed
  /// When it closed last, or `nil` if it has not closed since the start. A soak counts from here.
  public internal(set) var closedAt: TickInstant?
  /// What it has run today until `SprinklerSnapshot.at`.
  public internal(set) var ranToday = Nanoseconds.zero
  /// What its run has been open until `SprinklerSnapshot.at`, pauses not counted.
  public internal(set) var ran = Nanoseconds.zero
  /// Flow sensor pulses of its run.
  public internal(set) var pulses: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  public var isOn: Bool {
    if case .open = valve { true } else { false }
  }

  /// The run that is open or about to open.
  public var run: ZoneRun? {
    switch valve {
    case .closed: nil
    case .leading(let run, _), .open(let run, _, _): run
    }
  }

  /// Until its valve closes, or `nil` if it is not open.
  public func remaining(at now: TickInstant) -> Nanoseconds? {
    guard case .open(_, _, let until) = valve else { return nil }
    return max(.zero, until - now)
  }
}

/// A run that waits for its turn.
public struct QueuedRunStatus: Sendable, Hashable, BitwiseCopyable {
  public let run: ZoneRun
  /// For how long it will open.
  public let left: Nanoseconds
  /// What it ran before a pause.
  public let ran: Nanoseconds
  /// When it opens unless something is changed, or `nil` if that cannot be said (its zone has no line).
  public let expected: TickInstant?

  @_noLocks @_noAllocation
  init(run: ZoneRun, left: Nanoseconds, ran: Nanoseconds, expected: TickInstant?) {
    self.run = run
    self.left = left
    self.ran = ran
    self.expected = expected
  }
}

/// The valves at the end of a tick: all that other threads see of them.
public struct SprinklerSnapshot: Sendable, BitwiseCopyable {
  /// Queued runs that a snapshot shows.
  public static var shownQueue: Int {
    @_noLocks @_noAllocation get { 64 }
  }
  /// The tick that published it.
  public internal(set) var at = TickInstant.zero
  public internal(set) var state = IrrigationState.idle
  /// Whether a rain delay keeps programs' runs away.
  public internal(set) var isRaining = false
  var zones: [64 of ZoneStatus]
  /// Runs that wait, up to 256; the first `shownQueue` of them are in `queued(_:)`.
  public internal(set) var queueCount = 0
  var queue: [64 of QueuedRunStatus]
  /// It is `nil` if there is no master valve.
  public internal(set) var isMasterOpen: Bool?
  /// What the lines were told, and what was read last; bit k for line k, 1 for active. It is `nil` if they were not read yet, or cannot be read.
  public internal(set) var told: UInt64 = 0
  public internal(set) var read: UInt64?
  /// Whether they are as told; a reset needs it.
  public internal(set) var confirmation = Confirmation.pending
  /// It is `nil` if there is no flow sensor.
  public internal(set) var flow: FlowStatus?
  /// Requests by verdict, and why the last was refused.
  public internal(set) var accepted: Int64 = 0
  public internal(set) var refused: Int64 = 0
  public internal(set) var lastRefusal: IrrigationRefusal?
  /// Runs that ended, and those of them that completed.
  public internal(set) var ended: Int64 = 0
  public internal(set) var completed: Int64 = 0
  /// Settings of the lines that succeeded, that failed, and why the last one did.
  public internal(set) var writes: Int64 = 0
  public internal(set) var lineFailures: Int64 = 0
  public internal(set) var lastLineFailure: GPIOError?
  /// Read-backs that were not as told.
  public internal(set) var differences: Int64 = 0
  /// Notices that wait because their ring is full (a run's are never dropped), and the other ones that were dropped.
  public internal(set) var noticesWaiting = 0
  public internal(set) var noticesDropped: Int64 = 0
  /// Answers that found their ring full.
  public internal(set) var answersDropped: Int64 = 0

  /// Before the first tick.
  @_noLocks @_noAllocation
  public init() {
    zones = .init(repeating: ZoneStatus())
    queue = .init(
      repeating: QueuedRunStatus(
        run: ZoneRun(id: 0, zone: ZoneID(index: 0), seconds: 0, source: .manual), left: .zero, ran: .zero,
        expected: nil))
  }

  public subscript(zone: ZoneID) -> ZoneStatus { zones[zone.index] }

  /// The n-th run that waits, 0 ..< min(queueCount, shownQueue).
  public func queued(_ index: Int) -> QueuedRunStatus {
    precondition(index >= 0 && index < min(queueCount, Self.shownQueue), "no such place in the queue")
    return queue[index]
  }
}

/// What the flow sensor says.
public struct FlowStatus: Sendable, Hashable, BitwiseCopyable {
  /// Since the start.
  public internal(set) var pulses: Int64 = 0
  /// Over the last whole second at least; 0 when no water flows.
  public internal(set) var litresPerMinute = 0.0
  /// What is wrong with the flow, or was when the fault began, or `nil` if there is nothing.
  public internal(set) var alarm: FlowAlarm?
  /// Readings of the sensor's line that failed.
  public internal(set) var failures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}
