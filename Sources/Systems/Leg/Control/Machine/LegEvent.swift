import Tactus

/// Everything that may happen to a leg.
public enum LegEvent: Sendable, Hashable, BitwiseCopyable {
  /// A frame from the operator.
  case command(LegCommand)
  /// A frame that is not understood.
  case invalidFrame
  /// A command or a reset that waited too long inside the daemon.
  case stale
  /// A link that knows connections has one, or has lost it. A datagram link says neither.
  case linked
  case unlinked
  /// From inside the daemon: off, latched until a reset.
  case emergencyStop
  /// Leave an emergency stop or a fault.
  case reset
  /// The battery's voltage, or `nil` if the sensor is silent.
  case battery(Millivolts?)
  /// Other settings, from now on: a deadman that has run out by then cuts the pulse. A pulse on its way goes on from where it is.
  case settings(LegSettings)
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The chip has taken the off that is in force.
  case offConfirmed
  /// A write to the chip failed after its retries, or the chip has lost its configuration.
  case outputFailed
  /// A telemetry frame is due.
  case report
  /// The runtime gave up, or finished too late, so many periodic releases in a row.
  case missed(releases: Int64)
  /// Somebody outside has turned every pulse off: no pulse before the leg is disarmed and armed again.
  case externalStop
  /// The runtime is stopping.
  case shutdown
}
