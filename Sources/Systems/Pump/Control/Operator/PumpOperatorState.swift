@_spi(FromOutside) import Conversions
import Tactus

// The states of the pump as the operator side knows them, and the transitions between them.
//
//                    turn on (budget left)            PUMP:ON
//   ┌──────────────┐ ───────────────────▶ ┌──────────┐ ─────────▶ ┌──────┐
//   │ off          │                      │ starting │            │  on  │
//   │ (un)confirmed│ ◀── not obeyed ───── └──────────┘            └──────┘
//   └──────────────┘ ◀────────────── turn off, reported off ─────────┘
//      ▲   ▲   ▲  │ reported on (button)                            ▲ │
//      │   │   │  └─────────────────────────────────────────────────┘ │
//      │   │   │ report   ┌─────────┐ connection or answers lost      │
//      │   │   └───────── │ unknown │ ◀───────────────────────────────┘
//      │   │              └─────────┘
//      │   │ reset (off confirmed, cause gone); for the run limit also the rest
//      │   └───────────── ┌───────┐ ◀── run limit, overheat, sensor, the pump's own errors, missed releases
//      │                  │ fault │
//      │ reset            └───────┘
//   ┌──────────────────┐      │ e-stop, from every state
//   │ emergencyStopped │ ◀────┘
//   └──────────────────┘
//   Every state goes to `shutDown`, which has no way out. A state that is off and not confirmed repeats OFF.

/// The state of the operator side. An ON is sent only in the state `starting`.
public enum PumpOperatorState: Sendable, Hashable, BitwiseCopyable {
  /// The pump's state is not known, and nothing is requested: there is no connection, no report has arrived on it yet, or replies have stopped.
  case unknown
  case off(Confirmation)
  /// An ON has been requested and is not confirmed yet.
  case starting
  case on(since: TickInstant)
  case fault(PumpFault, Confirmation)
  /// The pump is held off until a reset.
  case emergencyStopped(Confirmation)
  /// The daemon is shutting down.
  case shutDown(Confirmation)

  /// Whether the pump must be off and has confirmed it.
  public var isSafe: Bool {
    @_noLocks @_noAllocation get {
      if case .some(.confirmed) = off { return true }
      return false
    }
  }

  /// Whether the off is confirmed, or `nil` if the state is not one in which the pump must be off.
  public var off: Confirmation? {
    @_noLocks @_noAllocation get {
      switch self {
      case .unknown, .starting, .on: nil
      case .off(let off), .fault(_, let off), .emergencyStopped(let off), .shutDown(let off): off
      }
    }
  }
}

/// The reason why the pump is held off.
public enum PumpFault: Sendable, Hashable, BitwiseCopyable {
  /// The operator side's run limit has been reached without a rest.
  case runLimit
  /// The pump's built-in run limit has been reached.
  case safetyShutoff
  /// The skin is too warm; the temperature is `nil` if it is not known.
  case overheat(PumpTemperature?)
  /// A sensor's reading is implausible; both values are `nil` if the pump reports the fault without naming the sensor.
  case sensor(PumpSensor?, PumpTemperature?)
  /// The pump did not start because it is in its error state.
  case startFailed
  /// The pump reports its error state without a reason.
  case pumpError
  /// The number of consecutive releases of the loop that were missed.
  case missedReleases(Int64)
  /// An OFF was sent to the pump from outside the loop, for example by the guard while the program hung.
  case externalStop
}

/// The state of the connection to the pump.
public enum PumpContact: Sendable, Hashable, BitwiseCopyable {
  /// There is no connection; the next attempt is scheduled.
  case down(PumpBackOff)
  /// There is a connection, and no line has arrived on it yet.
  case waiting
  case answering
  /// Three consecutive replies failed to arrive.
  case silent

  /// Whether there is a connection, regardless of whether the pump answers on it.
  public var isUp: Bool {
    @_noLocks @_noAllocation get {
      if case .down = self { return false }
      return true
    }
  }

  public var isAnswering: Bool {
    @_noLocks @_noAllocation get {
      if case .answering = self { return true }
      return false
    }
  }
}

/// The schedule of the attempts to connect: after 0.5, 1, 2 and 4 seconds, then every 5 seconds.
public struct PumpBackOff: Sendable, Hashable, BitwiseCopyable {
  /// The number of attempts so far.
  public private(set) var attempts: Int
  public private(set) var next: TickInstant

  /// Creates a schedule whose first attempt is due at `now`.
  @_noLocks @_noAllocation
  init(from now: TickInstant) {
    attempts = 0
    next = now
  }

  @_noLocks @_noAllocation
  mutating func tried(at now: TickInstant) {
    let milliseconds: Int64 = attempts >= 4 ? 5_000 : 500 << Int64(attempts)
    attempts &+= 1
    next = now + Nanoseconds(milliseconds * 1_000_000)
  }
}

/// The cause of the pump's present state.
public enum PumpControlSource: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// The pump's state follows from a command that was sent through this program.
  case app
  /// The pump's state follows from the button at the pump.
  case manual
  /// The pump's state follows from a limit of the pump itself.
  case device
  /// The pump's state follows from a rule of the operator side, which this program applied.
  case host
}

/// The knowledge of the pump's speed.
public enum PumpKnownSpeed: Sendable, Hashable, BitwiseCopyable {
  /// The pump has accepted this speed, and the percentage it reports still matches.
  case commanded(PumpSpeed)
  /// The pump has reported this percentage, and the exact speed is unknown.
  case reported(percent: UInt8)

  /// The speed; for a reported percentage the slowest speed that has it.
  public var speed: PumpSpeed {
    @_noLocks @_noAllocation get {
      switch self {
      case .commanded(let speed): speed
      case .reported(let percent): PumpSpeed(percent: percent)
      }
    }
  }
}
