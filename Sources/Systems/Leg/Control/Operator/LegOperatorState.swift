import Tactus

//               telemetry                     periodic on
//   ┌────────────┐ ────────▶ ┌───────────┐ ───────────────▶ ┌──────────┐
//   │ connecting │           │ connected │                  │ periodic │
//   └────────────┘ ◀──────── └───────────┘ ◀─────────────── └──────────┘
//     silence for 1 s, or the link says so    periodic off, disarm, leg no longer armed
//   Every state goes to `quitting` and, three disarms later, to `finished`; at once to `finished` if the leg is not armed.

/// The operator side's state: what it sends at a tick.
public enum LegOperatorState: Sendable, Hashable, BitwiseCopyable {
  /// No answer comes: a probe, then later and later ones. Nothing that feeds a deadman more often than it expires.
  case connecting(LegBackOff)
  /// A ping when nothing else has been sent for a while.
  case connected
  /// The pulse, at every tick.
  case periodic
  /// A disarm, so many more times; then nothing more.
  case quitting(disarmsLeft: Int)
  case finished
}

/// When to try next: 0.5, 1, 2, 4, then every 5 seconds.
public struct LegBackOff: Sendable, Hashable, BitwiseCopyable {
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

/// What the operator knows of the leg.
public enum LegTelemetryAge: Sendable, Hashable, BitwiseCopyable {
  case nothingYet
  case fresh(Nanoseconds)
  /// Three frames or more are missing.
  case stale(Nanoseconds)
}

/// The newest telemetry, and when it came.
public struct HeardTelemetry: Sendable, Hashable, BitwiseCopyable {
  public let telemetry: LegTelemetry
  public let at: TickInstant

  @_noLocks @_noAllocation
  init(_ telemetry: LegTelemetry, at: TickInstant) {
    self.telemetry = telemetry
    self.at = at
  }
}
