import Tactus

/// Why an event did nothing. The raw value is for programs, the description for people.
public enum IrrigationRefusal: String, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case noSuchZone
  case zoneDisabled
  /// The zone has no line at present.
  case zoneHasNoLine
  /// A duration is 1…86,400 s.
  case invalidDuration
  /// Longer than the zone's longest run.
  case longerThanMaximum
  /// The zone has run as long as it may in one day.
  case dayLimitReached
  /// A program's run during a rain delay.
  case rainDelay
  /// Resume first.
  case paused
  case notPaused
  /// 256 runs are queued or open.
  case queueFull
  /// So much has happened since anyone took the notices that a run's end might get lost.
  case noticesNotTaken
  /// Neither open nor paused.
  case zoneNotRunning
  case noSuchRun
  case nothingToSkip
  /// There is no such line.
  case noSuchLine
  /// Another zone's, or the master valve's.
  case lineTaken
  /// Groups are 0…15.
  case noSuchGroup
  /// The line and the group of a zone change only while it is closed.
  case zoneOpen
  case inFault
  case emergencyStopped
  /// The lines have not taken the off yet, so a reset would forget a valve that may still be open.
  case offNotConfirmed
  case nothingToReset
  /// It waited too long inside the daemon: it is not known whether it is still meant.
  case stale
  case shutDown
}

public enum IrrigationVerdict: Sendable, Hashable, BitwiseCopyable {
  case accepted
  case refused(IrrigationRefusal)
}

/// The machine's answer to one event.
public struct IrrigationAction: Sendable, Hashable, BitwiseCopyable {
  /// What all lines together must be now, bit k for line k, 1 for active, or `nil` to leave them as they are.
  public var lines: UInt64?
  public var verdict: IrrigationVerdict

  @_noLocks @_noAllocation
  init(lines: UInt64?, verdict: IrrigationVerdict) {
    self.lines = lines
    self.verdict = verdict
  }
}
