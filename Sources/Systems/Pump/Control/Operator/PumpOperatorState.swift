import Tactus

// What the operator side knows of the pump, and what it holds it to.
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

/// The operator side's state. Nothing but `starting` sends an ON.
public enum PumpOperatorState: Sendable, Hashable, BitwiseCopyable {
  /// No connection, no report on it yet, or no answers any more; nothing is wanted of the pump.
  case unknown
  case off(Confirmation)
  /// An ON is on its way.
  case starting
  case on(since: TickInstant)
  case fault(PumpFault, Confirmation)
  /// Latched until a reset.
  case emergencyStopped(Confirmation)
  /// The daemon is going down.
  case shutDown(Confirmation)

  /// Returns whether the pump must be off and has confirmed it.
  public var isSafe: Bool {
    @_noLocks @_noAllocation get {
      if case .some(.confirmed) = off { return true }
      return false
    }
  }

  /// It is `nil` if the state is none in which the pump must be off.
  public var off: Confirmation? {
    @_noLocks @_noAllocation get {
      switch self {
      case .unknown, .starting, .on: nil
      case .off(let off), .fault(_, let off), .emergencyStopped(let off), .shutDown(let off): off
      }
    }
  }
}

/// Why the pump is held off.
public enum PumpFault: Sendable, Hashable, BitwiseCopyable {
  /// Our governor: it has pumped for as long as it may without a rest.
  case runLimit
  /// The pump's own limit.
  case safetyShutoff
  /// The skin is too warm, or `nil` if it is not known by how much.
  case overheat(PumpTemperature?)
  /// A sensor reads what cannot be, or `nil` if the pump says so, and not which.
  case sensor(PumpSensor?, PumpTemperature?)
  /// The pump did not start, being in its error state.
  case startFailed
  /// The pump says that it is in its error state, and not why.
  case pumpError
  /// The runtime gave up so many releases of the loop in a row.
  case missedReleases(Int64)
  /// Somebody outside told the pump OFF, such as the guard while the program hung.
  case externalStop
}

/// The connection, as far as it is known.
public enum PumpContact: Sendable, Hashable, BitwiseCopyable {
  /// There is none; tried again.
  case down(PumpBackOff)
  /// There is one, and no line has come on it yet.
  case waiting
  case answering
  /// Three answers in a row did not come.
  case silent

  /// There is a connection, whether or not the pump answers on it.
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

/// When to try next: 0.5, 1, 2, 4, then every 5 seconds.
public struct PumpBackOff: Sendable, Hashable, BitwiseCopyable {
  /// Attempts so far.
  public private(set) var attempts: Int
  public private(set) var next: TickInstant

  /// The first attempt is due at `now`.
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

/// Who brought the pump into the state that it is in.
public enum PumpControlSource: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// A command through us.
  case app
  /// The button at the pump.
  case manual
  /// The pump itself: its limits.
  case device
  /// A rule of ours.
  case host
}

/// What is known of the pump's speed.
public enum PumpKnownSpeed: Sendable, Hashable, BitwiseCopyable {
  /// Taken by the pump, and its percentage still is what the pump reports.
  case commanded(PumpSpeed)
  /// Only the percentage is known.
  case reported(percent: UInt8)

  /// Of a reported percentage the slowest that it can be.
  public var speed: PumpSpeed {
    @_noLocks @_noAllocation get {
      switch self {
      case .commanded(let speed): speed
      case .reported(let percent): PumpSpeed(percent: percent)
      }
    }
  }
}
