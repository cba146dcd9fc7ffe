import Tactus
import Wire

extension RobotReply {
  /// Creates the reply to a datagram that got `verdict`, for the state in `robot` at `now`.
  @_noLocks @_noAllocation
  public init(echo: UInt64, verdict: Verdict, _ robot: RobotState, at now: TickInstant) {
    let state: State
    var reason: ShortText?
    switch robot {
    case .stopped(let standstill):
      state = .stopped
      reason = standstill.reason.shortText
    case .driving(let control):
      state = .driving
      if control.share < 1 { reason = ShortText("scaled") }
      if let forwardStop = control.forwardStop { reason = forwardStop.shortText }
      if case .some = control.batteryStop { reason = ShortText("battery-empty") }
    case .emergencyStopped: state = .emergencyStop
    case .fault(let fault):
      state = .fault
      reason = fault.cause.shortText
    case .shutDown:
      state = .stopped
      reason = ShortText("shut-down")
    }
    if case .ignored(let refusal) = verdict { reason = refusal.shortText }
    var age: Nanoseconds?
    if let holder = robot.holder { age = now - holder.lastCommand }
    self.init(echo: echo, state: state, speeds: robot.speeds, age: age, reason: reason)
  }

  /// Creates the reply from the loop's answer to a request and the snapshot published with that answer or later.
  public init(echo: UInt64, _ answer: Answer<IgnoreReason>, _ published: Published<RobotSnapshot>) {
    let verdict: Verdict =
      switch answer.verdict {
      case .accepted: .accepted
      case .refused(let reason): .ignored(reason)
      case .stale: .ignored(.stale)
      }
    self.init(echo: echo, verdict: verdict, published.state.state, at: published.at)
  }
}

extension StopReason {
  var shortText: ShortText {
    @_noLocks @_noAllocation get {
      switch self {
      case .start: ShortText("nothing-commanded-yet")
      case .commanded: ShortText("commanded")
      case .silence: ShortText("silence")
      case .stoppedBy: ShortText("stopped-by-another")
      case .externalStop: ShortText("stopped-from-outside")
      case .batteryEmpty: ShortText("battery-empty")
      case .reset: ShortText("reset")
      }
    }
  }
}

extension ForwardStop {
  var shortText: ShortText {
    @_noLocks @_noAllocation get {
      switch self {
      case .obstacle: ShortText("obstacle-ahead")
      case .distanceUnknown: ShortText("distance-unknown")
      }
    }
  }
}

extension RobotFault {
  var shortText: ShortText {
    @_noLocks @_noAllocation get {
      switch self {
      case .motorWrites(let failure, _): failure.kind.shortText
      case .tilted: ShortText("tilted")
      case .missedReleases: ShortText("missed-releases")
      }
    }
  }
}

extension MotorFailure.Kind {
  var shortText: ShortText {
    @_noLocks @_noAllocation get {
      switch self {
      case .noAcknowledge: ShortText("motors-do-not-answer")
      case .arbitrationLost: ShortText("bus-arbitration-lost")
      case .timedOut: ShortText("bus-stuck")
      case .serialFull: ShortText("serial-full")
      case .serialGone: ShortText("serial-gone")
      case .system: ShortText("system-error")
      }
    }
  }
}

extension IgnoreReason {
  /// A short name that stays the same from release to release, for replies, counters and logs.
  public var shortText: ShortText {
    @_noLocks @_noAllocation get {
      switch self {
      case .notController: ShortText("not-controller")
      case .older: ShortText("older")
      case .duplicate: ShortText("duplicate")
      case .ahead: ShortText("ahead")
      case .emergencyStopped: ShortText("emergency-stopped")
      case .inFault: ShortText("in-fault")
      case .stickNotAtZero: ShortText("stick-not-at-zero")
      case .stopNotConfirmed: ShortText("stop-not-confirmed")
      case .nothingToReset: ShortText("nothing-to-reset")
      case .notFinite: ShortText("not-finite")
      case .shutDown: ShortText("shut-down")
      case .outOfPlace: ShortText("out-of-place")
      case .stale: ShortText("stale")
      case .noGeometry: ShortText("no-geometry")
      case .batteryEmpty: ShortText("battery-empty")
      case .tilted: ShortText("tilted")
      case .noPanTilt: ShortText("no-pan-tilt")
      case .noLights: ShortText("no-lights")
      case .noBuzzer: ShortText("no-buzzer")
      case .noHeight: ShortText("no-height")
      case .noBalance: ShortText("no-balance")
      case .beyondLimits: ShortText("beyond-limits")
      }
    }
  }
}
