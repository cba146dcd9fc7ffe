import Buses
import Tactus

/// One link to one leg at the end of a tick: its listener, and the frames that it has carried since the start.
public struct LegLinkStatus: Sendable, BitwiseCopyable {
  public internal(set) var kind = LegLinkKind.datagrams
  public internal(set) var leg = 0
  /// The destination of telemetry, or `nil` if no listener is known.
  public internal(set) var listener: Endpoint?
  /// Frames received, valid or not.
  public internal(set) var received: Int64 = 0
  /// Frames that could not be decoded as a command.
  public internal(set) var malformed: Int64 = 0
  /// Telemetry frames sent.
  public internal(set) var sent: Int64 = 0
  /// Telemetry frames that the kernel or the radio did not accept.
  public internal(set) var sendFailures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}
