import Buses
import Tactus

/// The place of a new run in the queue.
public enum RunPlacement: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// The run opens as soon as possible, as a person's ON requires: the zone's current run, and as many runs of its group as must make room, end as
  /// `replaced`, and this run goes to the head of the queue. Only the station delay and the master valve's lead can then hold it back.
  case now
  /// The run goes to the end of the queue.
  case append
  /// The run goes to the head of the queue, behind runs that are open or paused.
  case insert
  /// All open and queued runs end as `replaced`.
  case replace
}

/// The inputs of the irrigation machine.
public enum IrrigationEvent: Sendable, Hashable, BitwiseCopyable {
  case order(SprinklerOrder)
  /// A request that would have opened a valve waited too long inside the daemon.
  case stale
  /// The loop was released, by its period or at `nextDeadline`.
  case tick
  /// The lines were set as the last action required, and the read-back agreed.
  case linesConfirmed
  /// The lines were set, but the levels read back differ; bit k of `read` is the level of line k.
  case linesDiffer(read: UInt64)
  /// Writing or reading the lines failed.
  case linesFailed(GPIOError)
  /// The flow sensor's pulses counted since the daemon started.
  case flow(pulses: Int64)
  /// Replaces the limits of the flow.
  case flowLimits(FlowLimits)
  /// The runtime skipped, or finished too late, this many periodic releases in a row.
  case missed(releases: Int64)
  /// The guard, outside the daemon, turned every line off, first at this instant. No water has flowed since, and no run reopens by itself.
  case externalStop(since: TickInstant)
  /// The runtime is stopping: every run ends, and no further run is accepted.
  case shutdown
}
