import Tactus
import Wire

// The states of a leg, and the events that change them.
//
//              arm (battery not empty)
//   ┌──────────┐ ───────────────────▶ ┌─────────────────────────────┐
//   │ disarmed │                      │ armed: waiting              │
//   │          │ ◀─────────────────── │   │ set      ┌─ stands still│
//   └──────────┘        disarm        │   ▼          │  set elsewhere
//     ▲    ▲                          │ pulse ◀─────▶ released      │
//     │    │                          └─────────────────────────────┘
//     │    │ disarm, reset (off confirmed)     │ silence, link lost, write failed,
//     │    └───────────────────── ┌───────┐ ◀──┘ battery empty, releases missed, stop from outside
//     │                           │ fault │
//     │ reset (off confirmed)     └───────┘
//     │                               │ e-stop, from every state
//   ┌──────────────────┐ ◀────────────┘
//   │ emergencyStopped │
//   └──────────────────┘
//   `disarmed` goes to `fault` by a lost link, a failed write and missed releases; every state goes to `shutDown`, which
//   has no way out. A new connection brings every state but the last two to `disarmed`.

/// The state of the device side. Each case carries the values that are valid only in that state. A servo is driven only in `armed`.
public enum LegState: Sendable, Hashable, BitwiseCopyable {
  case disarmed(Confirmation)
  case armed(ArmedOutput)
  /// The leg is in fault until it is disarmed.
  case fault(LegFault, Confirmation)
  /// The emergency stop is in force until a reset.
  case emergencyStopped(Confirmation)
  /// The daemon is shutting down.
  case shutDown(Confirmation)
}

extension LegState {
  /// Whether the leg is not armed and the chip has confirmed that it gets no pulse.
  public var isSafe: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .armed: false
      case .disarmed(let off), .fault(_, let off), .emergencyStopped(let off), .shutDown(let off): off.isConfirmed
      }
    }
  }
}

/// The output of an armed leg.
public enum ArmedOutput: Sendable, Hashable, BitwiseCopyable {
  /// No pulse has been set since the leg was armed, so there is none.
  case waiting(Confirmation)
  case pulse(LegMotion)
  /// The servo stood still for long enough and was released: it gets no pulse until another position is commanded.
  case released(at: PulseWidth, Confirmation)
}

/// A cause of the fault state.
public enum LegFault: Sendable, Hashable, BitwiseCopyable {
  /// No command that feeds the deadman came within its timeout.
  case silence
  case linkLost
  case lowBattery
  /// The chip does not accept writes or has lost its configuration, or its output-enable line fails.
  case output
  /// The runtime skipped, or finished too late, this many releases of the loop in a row.
  case missedReleases(Int64)
  /// Something outside the program turned the pulse off, such as the guard while the program hung.
  case externalStop
}
