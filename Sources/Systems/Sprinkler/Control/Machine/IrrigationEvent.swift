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
  case run(ZoneRun, RunPlacement)
  /// Lengthens the zone's open or paused run by `seconds`, 1…86,400 s.
  case extend(ZoneID, seconds: UInt32)
  /// Ends the zone's open or paused run and, with `dropsQueued`, its queued runs. Accepted even if there is no run to end.
  case off(ZoneID, dropsQueued: Bool)
  /// Ends the run with this number, whether it is open or queued.
  case cancel(run: UInt64)
  /// Ends every run, queued runs included, and turns every line off in the same tick.
  case allOff
  /// Ends the open runs; the next run in the queue follows.
  case skip
  /// Ends the queued runs that have not begun; open runs go on.
  case clearQueue
  /// Turns every line off for `seconds`, 1…86,400 s; the open runs then continue for their remaining time.
  /// A second pause replaces the end of the first.
  case pause(seconds: UInt32)
  case resume
  /// Reports that a rain delay began, changed or ended. Programs' runs that do not ignore rain leave the queue as `rainDelay`, and with
  /// `endsRuns` the open ones end, too.
  case rain(isActive: Bool, endsRuns: Bool)
  /// Reports that the local day began: the zones' daily totals start again from zero.
  case dayBegan
  /// Adds the time that the zone ran today before the daemon started, as the store recorded it.
  case ranToday(ZoneID, Nanoseconds)
  /// Adds or changes a zone, or removes the zone if the settings are `nil`.
  case zone(ZoneID, ZoneSettings?)
  /// Turns everything off, requested from inside the daemon and latched until a reset.
  case emergencyStop
  /// Leaves an emergency stop or a fault.
  case reset
  /// A request that would have opened a valve waited too long inside the daemon.
  case stale
  /// The loop was released, by its period or at `nextDeadline`.
  case tick
  /// The lines were set as the last action required, and the read-back agreed.
  case linesConfirmed
  /// The lines were set, but the read-back differed; bit k is line k.
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
