import Buses
import Tactus

/// One way to one leg at the end of a tick: who is at its other end, and what has gone over it since the start.
public struct LegLinkStatus: Sendable, BitwiseCopyable {
  public internal(set) var kind = LegLinkKind.datagrams
  public internal(set) var leg = 0
  /// Where telemetry goes, or `nil` if it goes nowhere.
  public internal(set) var listener: Endpoint?
  /// Frames received, whatever they were, and those that were no command.
  public internal(set) var received: Int64 = 0
  public internal(set) var malformed: Int64 = 0
  /// Telemetry frames sent, and not taken by the kernel or the radio.
  public internal(set) var sent: Int64 = 0
  public internal(set) var sendFailures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}
