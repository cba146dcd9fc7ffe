import Tactus

/// The operator side at the end of a tick: all that other threads see of the pump.
public struct PumpSnapshot: Sendable, BitwiseCopyable {
  /// The tick that published it.
  public internal(set) var at = TickInstant.zero
  public internal(set) var state = PumpOperatorState.unknown
  public internal(set) var contact = PumpContact.down(PumpBackOff(from: .zero))
  /// Who brought it into its state, or `nil` if that is not known.
  public internal(set) var source: PumpControlSource?
  /// It is `nil` if that is not known, or it does not run.
  public internal(set) var speed: PumpKnownSpeed?
  /// The last STATUS, and when it came.
  public internal(set) var status: PumpStatus?
  public internal(set) var statusAt: TickInstant?
  public internal(set) var temperatures = PumpTemperatures()
  public internal(set) var temperaturesAt: TickInstant?
  /// Pumped since the last rest; what is left of the limit, or `nil` if the daemon has set none.
  public internal(set) var spent = Nanoseconds.zero
  public internal(set) var left: Nanoseconds?
  /// When it has rested, or `nil` if it pumps, or needs no rest.
  public internal(set) var restedAt: TickInstant?
  /// What these follow from, to be kept over a restart; without a meaning before the first tick.
  public internal(set) var governor = PumpGovernor(limit: .zero, rest: .zero)
  /// Connections so far.
  public internal(set) var connections: Int64 = 0
  /// Lines that were replies, that were none, that were too long to be kept; why the last was none.
  public internal(set) var lines: Int64 = 0
  public internal(set) var malformed: Int64 = 0
  public internal(set) var dropped: Int64 = 0
  public internal(set) var lastMalformed: PumpLineError?
  /// Commands sent, and not taken by the link.
  public internal(set) var sent: Int64 = 0
  public internal(set) var sendFailures: Int64 = 0
  /// Commands that came to nothing, and the last of them.
  public internal(set) var failures: Int64 = 0
  public internal(set) var lastFailure: PumpCommandFailure?
  /// Requests that were obeyed, and that were not.
  public internal(set) var accepted: Int64 = 0
  public internal(set) var ignored: Int64 = 0
  public internal(set) var lastIgnored: PumpIgnoreReason?
  /// Notices and answers that found their ring full.
  public internal(set) var noticesDropped: Int64 = 0
  public internal(set) var answersDropped: Int64 = 0

  /// Before the first tick.
  @_noLocks @_noAllocation
  public init() {}

  @_noLocks @_noAllocation
  mutating func count(_ verdict: PumpVerdict) {
    switch verdict {
    case .accepted: accepted &+= 1
    case .ignored(let reason):
      ignored &+= 1
      lastIgnored = reason
    }
  }
}

/// Something worth a line in the log: a change, never a repetition.
public struct PumpNotice: Sendable, BitwiseCopyable {
  public enum Subject: Sendable, Hashable, BitwiseCopyable {
    /// Another state, another cause of a fault, or its off confirmed; and who brought it there.
    case state(PumpOperatorState, PumpControlSource?)
    /// The connection, or that no answer comes on it.
    case contact(PumpContact)
    case failed(PumpCommandFailure)
  }
  public let at: TickInstant
  public let subject: Subject

  @_noLocks @_noAllocation
  init(at: TickInstant, _ subject: Subject) {
    self.at = at
    self.subject = subject
  }
}

extension PumpOperatorState {
  /// Whether going from here to `next` is a change that a log should show.
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
