import Tactus

/// The state of the operator side at the end of a tick, as other threads see it.
public struct PumpSnapshot: Sendable, BitwiseCopyable {
  /// The instant of the tick that published the snapshot.
  public internal(set) var at = TickInstant.zero
  public internal(set) var state = PumpOperatorState.unknown
  public internal(set) var contact = PumpContact.down(PumpBackOff(from: .zero))
  /// The source of the command that brought the pump into its state, or `nil` if the source is not known.
  public internal(set) var source: PumpControlSource?
  /// The pump's speed, or `nil` if it is unknown or the pump does not run.
  public internal(set) var speed: PumpKnownSpeed?
  /// The last STATUS line, or `nil` before the first.
  public internal(set) var status: PumpStatus?
  /// The instant at which the last STATUS line arrived, or `nil` before the first.
  public internal(set) var statusAt: TickInstant?
  public internal(set) var temperatures = PumpTemperatures()
  public internal(set) var temperaturesAt: TickInstant?
  /// The time for which the pump has run since its last rest.
  public internal(set) var spent = Nanoseconds.zero
  /// The time that is left of the run limit, or `nil` if the daemon sets no limit.
  public internal(set) var left: Nanoseconds?
  /// The instant at which the run is to end because it was ordered for a time, or `nil`.
  public internal(set) var runEnds: TickInstant?
  /// The instant at which the pump's rest is over, or `nil` if the pump is running or needs no rest.
  public internal(set) var restedAt: TickInstant?
  /// The governor from which the times above follow, to be stored so that it survives a restart.
  public internal(set) var governor: PumpGovernor
  /// The number of connections so far.
  public internal(set) var connections: Int64 = 0
  /// The number of lines decoded as replies.
  public internal(set) var lines: Int64 = 0
  /// The number of lines rejected as malformed.
  public internal(set) var malformed: Int64 = 0
  /// The number of lines dropped because they were too long.
  public internal(set) var dropped: Int64 = 0
  public internal(set) var lastMalformed: PumpLineError?
  /// The number of commands sent.
  public internal(set) var sent: Int64 = 0
  /// The number of commands that the link did not accept.
  public internal(set) var sendFailures: Int64 = 0
  /// The number of commands that failed after they had been accepted.
  public internal(set) var failures: Int64 = 0
  /// The last command that failed, or `nil` if none has.
  public internal(set) var lastFailure: PumpCommandFailure?
  /// The number of requests that were accepted.
  public internal(set) var accepted: Int64 = 0
  /// The number of requests that were refused.
  public internal(set) var ignored: Int64 = 0
  public internal(set) var lastIgnored: PumpIgnoreReason?

  /// Creates the snapshot that is valid before the first tick.
  ///
  /// - Parameter governor: the run limit with the time already used.
  @_noLocks @_noAllocation
  public init(_ governor: PumpGovernor = PumpGovernor(limit: .zero, rest: .zero)) { self.governor = governor }

  @_noLocks @_noAllocation
  mutating func count(_ verdict: PumpVerdict) {
    switch verdict {
    case .accepted: accepted &+= 1
    case .refused(let reason):
      ignored &+= 1
      lastIgnored = reason
    case .stale: break
    }
  }
}

extension PumpOperatorState {
  /// Returns whether the change to `next` should be logged.
  @_noLocks @_noAllocation
  func isEdge(to next: PumpOperatorState) -> Bool {
    switch (self, next) {
    case (.unknown, .unknown), (.starting, .starting), (.on, .on): false
    case (.off(let old), .off(let new)), (.fault(_, let old), .fault(_, let new)),
      (.emergencyStopped(let old), .emergencyStopped(let new)), (.shutDown(let old), .shutDown(let new)):
      old.isConfirmed != new.isConfirmed
    default: true
    }
  }
}

extension PumpContact {
  @_noLocks @_noAllocation
  func isEdge(to next: PumpContact) -> Bool {
    switch (self, next) {
    case (.down, .down), (.waiting, .waiting), (.answering, .answering), (.silent, .silent): false
    default: true
    }
  }
}
