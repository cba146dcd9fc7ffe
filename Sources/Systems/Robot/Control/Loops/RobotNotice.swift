import Tactus

/// Something worth a line in the log: a change, never a repetition.
public struct RobotNotice: Sendable, BitwiseCopyable {
  public enum Subject: Sendable, Hashable, BitwiseCopyable {
    /// Another state, another reason to stand still, another controlling source.
    case state(RobotState)
    /// A motor write failed after one that did not.
    case motorsFail(MotorFailure)
    /// A motor write succeeded after one that did not.
    case motorsAnswer
  }
  public let at: TickInstant
  public let subject: Subject

  @_noLocks @_noAllocation
  init(at: TickInstant, _ subject: Subject) {
    self.at = at
    self.subject = subject
  }
}

extension RobotState {
  /// Whether going from here to `next` is a change that a log should show: not a new speed, not a confirmation.
  @_noLocks @_noAllocation
  func isEdge(to next: RobotState) -> Bool {
    switch (self, next) {
    case (.stopped(let old), .stopped(let new)): !old.reason.isSame(as: new.reason)
    case (.driving(let old), .driving(let new)): !old.holder.source.isSame(as: new.holder.source)
    case (.emergencyStopped(let old), .emergencyStopped(let new)): old.hasFault != new.hasFault
    case (.fault, .fault), (.shutDown, .shutDown): false
    default: true
    }
  }
}

extension EmergencyStop {
  fileprivate var hasFault: Bool {
    @_noLocks @_noAllocation get {
      if case .some = fault { return true }
      return false
    }
  }
}

extension StopReason {
  @_noLocks @_noAllocation
  fileprivate func isSame(as other: StopReason) -> Bool {
    switch (self, other) {
    case (.start, .start), (.commanded, .commanded), (.silence, .silence), (.externalStop, .externalStop): true
    case (.stoppedBy(let one), .stoppedBy(let two)), (.reset(let one), .reset(let two)): one.isSame(as: two)
    default: false
    }
  }
}
