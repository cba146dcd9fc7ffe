import Tactus

/// The reason why an event was refused. The raw value is for programs, the description for people.
public enum IrrigationRefusal: String, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case noSuchZone
  case zoneDisabled
  /// The zone has no line at present.
  case zoneHasNoLine
  /// The duration is not 1…86,400 s.
  case invalidDuration
  /// The water is not above 0 and up to 100,000 l.
  case invalidAmount
  /// The duration exceeds the zone's longest run.
  case longerThanMaximum
  /// The zone has reached its daily limit.
  case dayLimitReached
  /// A program's run was requested during a rain delay.
  case rainDelay
  /// The valves are paused and must be resumed first.
  case paused
  case notPaused
  /// 256 runs are queued or open already.
  case queueFull
  /// Too many notices wait to be taken, so that the notice of the run's end might find no room.
  case noticesNotTaken
  /// The zone has no run that is open or paused.
  case zoneNotRunning
  case noSuchRun
  case nothingToSkip
  /// The line does not exist.
  case noSuchLine
  /// The line belongs to another zone or to the master valve.
  case lineTaken
  /// The group is not 0…15.
  case noSuchGroup
  /// The zone is open; its line and group change only while it is closed.
  case zoneOpen
  case inFault
  case emergencyStopped
  /// The lines are not yet confirmed off, so a reset would forget a valve that may still be open.
  case offNotConfirmed
  case nothingToReset
  /// The request waited too long inside the daemon, so the client may no longer want the effect.
  case stale
  case shutDown
}

public enum IrrigationVerdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case refused(IrrigationRefusal)
}

/// The response of the irrigation machine to one event.
public struct IrrigationAction: Sendable, Hashable, BitwiseCopyable {
  /// The levels to write to all lines, bit k for line k, 1 for active, or `nil` to leave the lines as they are.
  public var lines: UInt64?
  public var verdict: IrrigationVerdict

  @_noLocks @_noAllocation
  init(lines: UInt64?, verdict: IrrigationVerdict) {
    self.lines = lines
    self.verdict = verdict
  }
}
