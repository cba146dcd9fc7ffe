import Buses
import Tactus

/// The state of the pump at the end of a tick, as other threads see it.
public struct PumpDeviceSnapshot: Sendable, BitwiseCopyable {
  /// The instant of the tick that published the snapshot.
  public internal(set) var at = TickInstant.zero
  public internal(set) var state = PumpDeviceState.off(.pending)
  /// The source of the command that brought the pump into its state, or `nil` if the state has not changed since the
  /// start.
  public internal(set) var source: PumpControlSource?
  public internal(set) var water = PumpReading.absent
  public internal(set) var skin = PumpReading.absent
  /// The time for which the pump has run since its last rest.
  public internal(set) var spent = Nanoseconds.zero
  /// The time that is left of the run limit.
  public internal(set) var left = Nanoseconds.zero
  /// The duty last written to the motor, or `nil` if its output rejected the last write.
  public internal(set) var duty: PumpSpeed? = PumpSpeed(duty: 0)
  /// Whether at least one of the two links is connected.
  public internal(set) var isConnected = false
  /// Whether the first link is connected.
  public internal(set) var isFirstConnected = false
  /// The number of lines decoded as commands.
  public internal(set) var commands: Int64 = 0
  /// The number of lines rejected as malformed.
  public internal(set) var malformed: Int64 = 0
  /// The reason why the last malformed line was rejected, or `nil` if none was.
  public internal(set) var lastMalformed: PumpLineError?
  /// The number of lines sent.
  public internal(set) var sent: Int64 = 0
  /// The number of lines that a link did not accept.
  public internal(set) var sendFailures: Int64 = 0
  /// The instant at which the run is to end because it was ordered for a time, or `nil`.
  public internal(set) var runEnds: TickInstant?
  /// The instant at which the pump's rest is over, or `nil` if the pump is running or needs no rest.
  public internal(set) var restedAt: TickInstant?
  /// The governor from which the times above follow, to be stored so that it survives a restart.
  public internal(set) var governor: PumpGovernor
  public internal(set) var inputFailures: Int64 = 0
  /// The number of requests that were accepted.
  public internal(set) var accepted: Int64 = 0
  /// The number of requests that were refused.
  public internal(set) var ignored: Int64 = 0
  public internal(set) var lastIgnored: PumpIgnoreReason?
  public internal(set) var outputFailures: Int64 = 0
  public internal(set) var lastOutputFailure: PWMError?

  /// Creates the snapshot that is valid before the first tick.
  ///
  /// - Parameter governor: the run limit with the time already used.
  @_noLocks @_noAllocation
  public init(_ governor: PumpGovernor = PumpGovernor(limit: .zero, rest: .zero)) { self.governor = governor }

  @_noLocks @_noAllocation
  mutating func count(_ verdict: PumpVerdict) {
    switch verdict {
    case .accepted: accepted &+= 1
    case .refused(let reason):
      ignored &+= 1
      lastIgnored = reason
    case .stale: break
    }
  }
}
