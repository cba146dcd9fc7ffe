import Tactus
import Wire

// What the motors are doing, and what may change it.
//
//                      drive command
//   ┌───────────┐  of the controlling source  ┌───────────┐
//   │  stopped  │ ──────────────────────────▶ │  driving  │
//   │  (reason) │ ◀────────────────────────── │ (control) │
//   └───────────┘   stop or (0, 0) of anyone, └───────────┘
//     ▲  ▲            silence ≥ failsafe         │     │
//     │  │                                       │     │
//     │  │ reset        e-stop of anyone         │     │ write timed out, n writes failed,
//     │  │ (stop confirmed,   ┌──────────────────┘     │ releases missed
//     │  │  stick at zero)    ▼                        ▼
//     │  │           ┌──────────────────┐        ┌───────────┐
//     │  └────────── │ emergencyStopped │ ◀───── │   fault   │ ──┐
//     │              └──────────────────┘ e-stop └───────────┘   │
//     │                                                          │ reset
//     └──────────────────────────────────────────────────────────┘
//   A stop from outside brings `driving`, and `stopped` once somebody has driven, to `stopped (externalStop)`, which only a
//   zero or a stop leaves.
//   `stopped` goes to `emergencyStopped` and `fault` by the same arrows as `driving`; every state goes to `shutDown`, which
//   has no way out.

/// The device side's state. Each case carries what is legal only there.
public enum RobotState: Sendable, Hashable, BitwiseCopyable {
  case stopped(Standstill)
  case driving(Control)
  /// Latched until a reset.
  case emergencyStopped(EmergencyStop)
  /// Latched until a reset.
  case fault(Fault)
  /// The daemon is going down: nothing drives any more.
  case shutDown(StopConfirmation)
}

extension RobotState {
  /// What the motors are told: zero unless driving.
  public var speeds: WheelSpeeds {
    @_noLocks @_noAllocation get {
      if case .driving(let control) = self { return control.output }
      return .zero
    }
  }

  /// What the controlling source asked for; nil unless driving.
  public var target: WheelSpeeds? {
    if case .driving(let control) = self { control.target } else { nil }
  }

  /// Who controls and since when it is silent; nil while control is free.
  public var holder: Holder? {
    @_noLocks @_noAllocation get {
      switch self {
      case .stopped(let standstill): standstill.holder
      case .driving(let control): control.holder
      case .emergencyStopped, .fault, .shutDown: nil
      }
    }
  }
}

/// Whether the board has taken the stop that is in force: a `Confirmation` that counts.
public enum StopConfirmation: Sendable, Hashable, BitwiseCopyable {
  /// Not yet, after so many failed writes in a row; the stop is written again every tick.
  case pending(failures: Int)
  case confirmed

  public var isConfirmed: Bool {
    @_noLocks @_noAllocation get { if case .confirmed = self { true } else { false } }
  }

  var failures: Int {
    @_noLocks @_noAllocation get {
      switch self {
      case .pending(let failures): failures
      case .confirmed: 0
      }
    }
  }
}

/// Why the motors stand still.
public enum StopReason: Sendable, Hashable, BitwiseCopyable {
  /// Nothing has been commanded since the start.
  case start
  /// The controlling source commanded zero.
  case commanded
  /// The controlling source was silent for the failsafe timeout.
  case silence
  /// Someone else commanded a stop: the controlling source must bring its stick to zero before it may drive on.
  case stoppedBy(ControlSource)
  /// Somebody outside stopped the motors, such as the guard while the program hung: every stick must come to zero before it drives on.
  case externalStop
  /// A reset ended an e-stop or a fault.
  case reset(by: ControlSource)
}

extension StopReason {
  var isExternalStop: Bool {
    @_noLocks @_noAllocation get {
      if case .externalStop = self { return true }
      return false
    }
  }
}

/// The source that owns control, and what it was last heard to say.
public struct Holder: Sendable, Hashable, BitwiseCopyable {
  public let source: ControlSource
  /// Its last accepted command: control lapses one failsafe timeout later.
  public internal(set) var lastCommand: TickInstant
  /// By which it stamps its commands; forgotten with its control.
  var clock = SenderClock()

  /// Its first command, with this stamp.
  @_noLocks @_noAllocation
  init(source: ControlSource, _ timestamp: SenderTimestamp?, at now: TickInstant) {
    self.source = source
    lastCommand = now
    _ = clock.hear(timestamp, at: now)
  }
}

public struct Standstill: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var reason: StopReason
  public internal(set) var confirmation: StopConfirmation
  /// Who owns control while its stick is at zero; nil when control is free.
  public internal(set) var holder: Holder?

  @_noLocks @_noAllocation
  init(
    reason: StopReason, confirmation: StopConfirmation, holder: Holder?
  ) {
    self.reason = reason
    self.confirmation = confirmation
    self.holder = holder
  }
}

/// Motion: its source, what it asked for, and what the motors get.
public struct Control: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var holder: Holder
  /// As commanded, not zero, before the speed limit.
  public internal(set) var target: WheelSpeeds
  /// What the motors get now: limited and ramped.
  public internal(set) var output: WheelSpeeds
  /// The instant that `output` belongs to.
  public internal(set) var rampedAt: TickInstant
  /// The last output of an earlier instant, and that instant: where `output` has risen from. Of several commands at one
  /// instant only the last counts, since each of them starts from here.
  var base: WheelSpeeds
  var baseAt: TickInstant
  /// Until when the motors stand before they follow the target; `nil` unless the sender's clock has just been set.
  var restsUntil: TickInstant?
  /// Motor writes that failed in a row.
  public internal(set) var failures: Int

  /// From rest at `now`, having had `credit` to rise.
  @_noLocks @_noAllocation
  init(_ holder: Holder, target: WheelSpeeds, at now: TickInstant, credit: Nanoseconds, failures: Int) {
    self.holder = holder
    self.target = target
    output = WheelSpeeds(left: Percent(0), right: Percent(0))
    rampedAt = now
    base = output
    baseAt = now - credit
    self.failures = failures
  }
}

public struct EmergencyStop: Sendable, Hashable, BitwiseCopyable {
  /// Who pulled it first.
  public let by: ControlSource
  public internal(set) var confirmation: StopConfirmation
  /// A fault that was there before, or came while latched; the same reset clears it.
  public internal(set) var fault: RobotFault?

  @_noLocks @_noAllocation
  init(
    by source: ControlSource, confirmation: StopConfirmation, fault: RobotFault?
  ) {
    self.by = source
    self.confirmation = confirmation
    self.fault = fault
  }
}

public struct Fault: Sendable, Hashable, BitwiseCopyable {
  public let cause: RobotFault
  public internal(set) var confirmation: StopConfirmation

  @_noLocks @_noAllocation
  init(
    cause: RobotFault, confirmation: StopConfirmation
  ) {
    self.cause = cause
    self.confirmation = confirmation
  }
}

/// What made the machine give up driving.
public enum RobotFault: Sendable, Hashable, BitwiseCopyable {
  /// So many motor writes in a row failed, the last one for this reason.
  case motorWrites(MotorFailure, failures: Int)
  /// The runtime gave up so many releases of the loop in a row.
  case missedReleases(Int64)
}
