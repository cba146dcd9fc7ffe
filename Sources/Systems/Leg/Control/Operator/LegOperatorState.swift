@_spi(FromOutside) import Conversions
import Tactus

//               telemetry                     periodic on
//   ┌────────────┐ ────────▶ ┌───────────┐ ───────────────▶ ┌──────────┐
//   │ connecting │           │ connected │                  │ periodic │
//   └────────────┘ ◀──────── └───────────┘ ◀─────────────── └──────────┘
//     silence for 1 s, or the link says so    periodic off, disarm, leg no longer armed
//   Every state goes to `quitting` and, three disarms later, to `finished`; at once to `finished` if the leg is not armed.

/// The state of the operator side, which decides what is sent at a tick.
public enum LegOperatorState: Sendable, Hashable, BitwiseCopyable {
  /// The leg does not answer. Probes are sent at growing intervals, too seldom to keep a deadman alive.
  case connecting(LegBackOff)
  /// The leg answers. A ping is sent when nothing else has been sent for a while.
  case connected
  /// The pulse is sent at every tick.
  case periodic
  /// A disarm is sent this many more times, then nothing more.
  case quitting(disarmsLeft: Int)
  case finished
}

/// The schedule of attempts to connect: after 0.5, 1, 2 and 4 seconds, then every 5 seconds.
public struct LegBackOff: Sendable, Hashable, BitwiseCopyable {
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

/// The age of the operator's knowledge of the leg.
public enum LegTelemetryAge: Sendable, Hashable, BitwiseCopyable {
  case nothingYet
  case fresh(Nanoseconds)
  /// The last telemetry has this age; three or more frames are missing.
  case stale(Nanoseconds)
}

/// The newest telemetry and its time of arrival.
public struct HeardTelemetry: Sendable, Hashable, BitwiseCopyable {
  public let telemetry: LegTelemetry
  public let at: TickInstant

  @_noLocks @_noAllocation
  init(_ telemetry: LegTelemetry, at: TickInstant) {
    self.telemetry = telemetry
    self.at = at
  }
}
