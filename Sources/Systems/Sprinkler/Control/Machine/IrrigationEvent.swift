import Buses
import Tactus

/// Where a run goes.
public enum RunPlacement: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// A person's ON: the zone's own run, and others of its group as far as there is no room, end as `replaced`; then this one
  /// is the first of the queue, so it opens at once unless a delay or the master valve's lead keeps it.
  case now
  /// The last of the queue.
  case append
  /// The first of the queue, after what is open.
  case insert
  /// Whatever is open or queued ends as `replaced`.
  case replace
}

/// Everything that may happen to the valves.
public enum IrrigationEvent: Sendable, Hashable, BitwiseCopyable {
  case run(ZoneRun, RunPlacement)
  /// The zone's open (or paused) run lasts so much longer, s; 1…86,400.
  case extend(ZoneID, seconds: UInt32)
  /// The zone's open or paused run ends; with `dropsQueued` the ones that wait for it, too. Nothing to end is no error.
  case off(ZoneID, dropsQueued: Bool)
  /// This run ends, wherever it is.
  case cancel(run: UInt64)
  /// Every run ends, queued ones too, and every line is off in the same tick.
  case allOff
  /// What is open ends; the next in the queue follows.
  case skip
  /// The runs that have not begun end; what is open goes on.
  case clearQueue
  /// Every line off for so long, s, 1…86,400; what is left of the open runs follows then. Again: a new end.
  case pause(seconds: UInt32)
  case resume
  /// A rain delay began, changed or ended. Runs of programs that do not ignore rain leave the queue as `rainDelay`, and
  /// with `endsRuns` the open ones do, too.
  case rain(isActive: Bool, endsRuns: Bool)
  /// The local day began: what zones have run today is counted from here.
  case dayBegan
  /// What the store knows that a zone has run today before this program started.
  case ranToday(ZoneID, Nanoseconds)
  /// A zone is there, or changed, or `nil` if it is there no more.
  case zone(ZoneID, ZoneSettings?)
  /// From inside the daemon: everything off, latched until a reset.
  case emergencyStop
  /// Leave an emergency stop or a fault.
  case reset
  /// A request that opens, and waited too long inside the daemon.
  case stale
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The lines were set as the last action said, and read back as told.
  case linesConfirmed
  /// The lines were set, and read back otherwise; bit k for line k.
  case linesDiffer(read: UInt64)
  /// The lines do not take what they are told.
  case linesFailed(GPIOError)
  /// The flow sensor's pulses since the start.
  case flow(pulses: Int64)
  /// What the flow sensor must not say from now on.
  case flowLimits(FlowLimits)
  /// The runtime gave up, or finished too late, so many periodic releases in a row.
  case missed(releases: Int64)
  /// Somebody outside has turned every line off, at this instant first: nothing has flowed since, and nothing opens again by itself.
  case externalStop(since: TickInstant)
  /// The runtime is stopping.
  case shutdown
}
