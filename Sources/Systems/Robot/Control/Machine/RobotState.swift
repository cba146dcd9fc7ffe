import Tactus
import Wire

// The states of the motors, and the events that change them.
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

/// The state of the device side. Each case carries the values that are valid only in that state.
public enum RobotState: Sendable, Hashable, BitwiseCopyable {
  case stopped(Standstill)
  case driving(Control)
  /// The emergency stop is in force until a reset.
  case emergencyStopped(EmergencyStop)
  /// The fault is in force until a reset.
  case fault(Fault)
  /// The daemon is shutting down, and no command drives the robot any more.
  case shutDown(StopConfirmation)
}

extension RobotState {
  /// The speeds that the motors are set to; zero unless the robot is driving.
  public var speeds: WheelSpeeds {
    @_noLocks @_noAllocation get {
      if case .driving(let control) = self { return control.output }
      return .zero
    }
  }

  /// The speeds that the controlling source asked for, or `nil` unless the robot is driving.
  public var target: WheelSpeeds? {
    if case .driving(let control) = self { control.target } else { nil }
  }

  /// The share of a motion requested in SI units that is driven, or `nil` if all of it is driven or none was requested.
  public var share: Double? {
    @_noLocks @_noAllocation get {
      if case .driving(let control) = self, control.share < 1 { return control.share }
      return nil
    }
  }

  /// The reason why the robot does not drive forward although it is asked to, or `nil` if it does or is not asked to.
  public var forwardStop: ForwardStop? {
    @_noLocks @_noAllocation get {
      if case .driving(let control) = self { return control.forwardStop }
      return nil
    }
  }

  /// The controlling source and the time of its last command, or `nil` while control is free.
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

/// Whether the board has confirmed the stop that is in force.
public enum StopConfirmation: Sendable, Hashable, BitwiseCopyable {
  /// The stop is not confirmed yet, after this many failed writes in a row. The stop is written again at every tick.
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

/// The reason why the motors stand still.
public enum StopReason: Sendable, Hashable, BitwiseCopyable {
  /// Nothing has been commanded since the start.
  case start
  /// The controlling source commanded zero.
  case commanded
  /// The controlling source was silent for the failsafe timeout.
  case silence
  /// Another source commanded a stop. The controlling source must bring its stick to zero before it may drive on.
  case stoppedBy(ControlSource)
  /// Something outside the program stopped the motors, such as the guard while the program hung. Every stick must come to zero before its
  /// source may drive on.
  case externalStop
  /// The battery was empty, at this charge. Every stick must come to zero, with a charged battery, before its source may drive on.
  case batteryEmpty(percent: Int)
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

/// The controlling source and the time of its last accepted command.
public struct Holder: Sendable, Hashable, BitwiseCopyable {
  public let source: ControlSource
  /// The instant at which the last accepted command arrived. Control lapses one failsafe timeout later.
  public internal(set) var lastCommand: TickInstant
  /// The clock of the source's timestamps; forgotten when control lapses.
  var clock = SenderClock()

  /// Creates a holder from the source's first command and its timestamp, which is `nil` if the command has none.
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
  /// The source that owns control while its stick is at zero, or `nil` while control is free.
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

/// A motion in progress: its source, the speeds asked for and the speeds of the motors.
public struct Control: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var holder: Holder
  /// The speeds as commanded, not zero, before the speed limit.
  public internal(set) var target: WheelSpeeds
  /// The share of a motion requested in SI units that `target` makes, above 0 and up to 1: less than 1 if a wheel would have to be faster
  /// than it may. The share is 1 for speeds in percent.
  public internal(set) var share: Double
  /// The speeds that the motors are set to, limited and ramped.
  public internal(set) var output: WheelSpeeds
  /// The instant that `output` belongs to.
  public internal(set) var rampedAt: TickInstant
  /// The last output of an earlier instant, from which `output` has risen. Of several commands at one instant only the last counts, since
  /// each starts from this value.
  var base: WheelSpeeds
  /// The instant at which `base` was the output.
  var baseAt: TickInstant
  /// The end of the standstill before the motors follow the target, or `nil` unless the sender's clock has just been set.
  var restsUntil: TickInstant?
  /// The reason why the forward part of `target` is not driven, or `nil` if it is driven. The value stays until the source asks for no forward
  /// motion.
  public internal(set) var forwardStop: ForwardStop?
  /// The battery's charge in percent for which the robot slows down to a standstill, or `nil` if it does not.
  public internal(set) var batteryStop: Int?
  /// The number of motor writes that failed in a row.
  public internal(set) var failures: Int

  /// Creates a motion from rest at `now`, ramped as if `credit` had already passed.
  @_noLocks @_noAllocation
  init(
    _ holder: Holder, target: WheelSpeeds, share: Double, at now: TickInstant, credit: Nanoseconds, failures: Int
  ) {
    self.holder = holder
    self.target = target
    self.share = share
    output = WheelSpeeds(left: Percent(0), right: Percent(0))
    rampedAt = now
    base = output
    baseAt = now - credit
    self.failures = failures
  }
}

public struct EmergencyStop: Sendable, Hashable, BitwiseCopyable {
  /// The source that triggered the emergency stop first.
  public let by: ControlSource
  public internal(set) var confirmation: StopConfirmation
  /// A fault that preceded the emergency stop or occurred during it, or `nil` if there was no fault. The same reset clears both.
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

/// A cause of the fault state.
public enum RobotFault: Sendable, Hashable, BitwiseCopyable {
  /// This many motor writes failed in a row; the failure is that of the last one.
  case motorWrites(MotorFailure, failures: Int)
  /// The runtime skipped, or finished too late, this many releases of the loop in a row.
  case missedReleases(Int64)
  /// The robot leaned further than it may, by this many degrees of roll or pitch.
  case tilted(degrees: Int)
}
