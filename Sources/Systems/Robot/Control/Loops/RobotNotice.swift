import Tactus

/// A change worth logging; repetitions are never reported.
public enum RobotNotice: Sendable, Hashable, BitwiseCopyable {
  /// The state, the reason for standing still, or the controlling source has changed.
  case state(RobotState)
  /// A motor write failed and the previous one had succeeded.
  case motorsFail(MotorFailure)
  /// The battery's charge, in percent, has fallen to the limit of `motors.battery_low_percent` or below.
  case batteryLow(percent: Int)
  /// A motor write succeeded and the previous one had failed.
  case motorsAnswer
}

extension RobotState {
  /// Returns whether the transition to `next` is a change that belongs in the log. A new speed or a confirmation is not one.
  @_noLocks @_noAllocation
  func isEdge(to next: RobotState) -> Bool {
    switch (self, next) {
    case (.stopped(let old), .stopped(let new)): !old.reason.isSame(as: new.reason)
    case (.driving(let old), .driving(let new)):
      !old.holder.source.isSame(as: new.holder.source) || !old.isStopped(as: new)
    case (.emergencyStopped(let old), .emergencyStopped(let new)): old.hasFault != new.hasFault
    case (.fault, .fault), (.shutDown, .shutDown): false
    default: true
    }
  }
}

extension Control {
  @_noLocks @_noAllocation
  fileprivate func isStopped(as other: Control) -> Bool {
    switch (batteryStop, other.batteryStop) {
    case (nil, nil), (.some, .some): break
    default: return false
    }
    return switch (forwardStop, other.forwardStop) {
    case (nil, nil): true
    case (let one?, let two?): one.isSameKind(as: two)
    default: false
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
    case (.start, .start), (.commanded, .commanded), (.silence, .silence), (.externalStop, .externalStop),
      (.batteryEmpty, .batteryEmpty):
      true
    case (.stoppedBy(let one), .stoppedBy(let two)), (.reset(let one), .reset(let two)): one.isSame(as: two)
    default: false
    }
  }
}
