import Tactus
import Wire

/// Every event that a leg handles.
public enum LegEvent: Sendable, Hashable, BitwiseCopyable {
  /// An order, in a frame, of a link or of a client inside the daemon. Those for the loop alone, such as `play`, change nothing.
  case order(LegOrder)
  /// A position of a sequence that is played. It moves an armed leg as a pulse does and feeds no deadman.
  case steer(PulseWidth)
  /// A command or a reset that waited too long inside the daemon.
  case stale
  /// The settings are replaced. If the new deadman has already expired, the pulse ends. A pulse on its way continues from its present
  /// position.
  case settings(LegSettings)
  /// The periodic release of the loop, or its release at `nextDeadline`.
  case tick
  /// The chip has confirmed the off that is in force.
  case offConfirmed
  /// A write to the chip failed after its retries, or the chip has lost its configuration.
  case outputFailed
  /// A telemetry frame is due.
  case report
  /// The runtime skipped, or finished too late, this many periodic releases in a row.
  case missed(releases: Int64)
  /// Something outside the program has turned every pulse off; the leg gets no pulse before it is disarmed and armed again.
  case externalStop
  /// The runtime is shutting down.
  case shutdown
}

extension LegEvent {
  /// Whether the event concerns every leg of a group if it comes to one of them. A pulse does, since it feeds the group's one deadman.
  var isForGroup: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .order(.command), .order(.linked), .order(.unlinked), .order(.emergencyStop), .order(.reset), .externalStop:
        true
      case .order, .steer, .stale, .settings, .tick, .offConfirmed, .outputFailed, .report, .missed, .shutdown: false
      }
    }
  }
  /// The event that replaces this one if it has waited too long: `stale` if it moves the leg, feeds its deadman or
  /// resets it, and the event itself if it makes the leg safe.
  var late: LegEvent {
    @_noLocks @_noAllocation get {
      switch self {
      case .order(.command(.disarm)): self
      case .order(.command), .order(.linked), .order(.reset): .stale
      default: self
      }
    }
  }
}
