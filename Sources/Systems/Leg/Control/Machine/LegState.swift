import Tactus
import Wire

// What a leg may do, and what changes it.
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

/// The device side's state. Each case carries what is legal only there. Nothing but `armed` drives.
public enum LegState: Sendable, Hashable, BitwiseCopyable {
  case disarmed(Confirmation)
  case armed(ArmedOutput)
  /// Until disarmed.
  case fault(LegFault, Confirmation)
  /// Latched until a reset.
  case emergencyStopped(Confirmation)
  /// The daemon is going down.
  case shutDown(Confirmation)
}

extension LegState {
  /// Returns whether the leg is not armed and the chip has confirmed that it gets no pulse.
  public var isSafe: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .armed: false
      case .disarmed(let off), .fault(_, let off), .emergencyStopped(let off), .shutDown(let off): off.isConfirmed
      }
    }
  }
}

/// What an armed leg does.
public enum ArmedOutput: Sendable, Hashable, BitwiseCopyable {
  /// Nothing has been set since it was armed: no pulse.
  case waiting(Confirmation)
  case pulse(LegMotion)
  /// It stood still for long enough: no pulse until it is sent elsewhere than here.
  case released(at: PulseWidth, Confirmation)
}

/// What made a leg give up driving.
public enum LegFault: Sendable, Hashable, BitwiseCopyable {
  /// Nothing that feeds the deadman came for its time-out.
  case silence
  case linkLost
  case lowBattery
  /// The chip does not take what is written to it, or has forgotten what it was told; or its output-enable line fails.
  case output
  /// The runtime gave up so many releases of the loop in a row.
  case missedReleases(Int64)
  /// Somebody outside turned the pulse off, such as the guard while the program hung.
  case externalStop
}
