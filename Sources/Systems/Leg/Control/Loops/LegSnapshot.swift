import Buses
import Tactus
import Wire

/// The status of one leg at the end of a tick.
public struct LegStatus: Sendable, BitwiseCopyable {
  public internal(set) var state = LegState.disarmed(.pending)
  /// The last telemetry frame, whether there was a listener or not.
  public internal(set) var telemetry = LegTelemetry(
    state: .disarmed, error: .none, lastCommandAgeMilliseconds: 0, battery: Millivolts(0))
  /// The instant at which the last command that fed the deadman arrived since the leg was armed, or `nil` while disarmed.
  public internal(set) var lastCommand: TickInstant?
  /// The battery's voltage, or `nil` if there is no sensor or the sensor is silent.
  public internal(set) var battery: Millivolts?
  /// The number of datagrams received, valid or not.
  public internal(set) var datagrams: Int64 = 0
  /// The number of datagrams that could not be decoded as a command.
  public internal(set) var malformed: Int64 = 0
  /// The reason why the last malformed datagram was rejected, or `nil` if none has been.
  public internal(set) var lastMalformed: LegFrameError?
  /// The number of commands and requests that the machine accepted.
  public internal(set) var accepted: Int64 = 0
  /// The number of commands and requests that the machine ignored.
  public internal(set) var ignored: Int64 = 0
  /// The reason why the last ignored command or request was ignored, or `nil` if none has been.
  public internal(set) var lastIgnored: LegIgnoreReason?
  /// The number of pulses that were beyond the soft limits and were clamped to them.
  public internal(set) var clamped: Int64 = 0
  /// The sender of the last datagram, or `nil` if none has come.
  public internal(set) var lastSender: Endpoint?
  /// The link by which the last datagram came, or `nil` if none has come.
  public internal(set) var lastLink: LegLinkKind?
  /// The instant at which the last datagram came, or `nil` if none has come.
  public internal(set) var heardAt: TickInstant?
  /// The client inside the daemon whose request fed the leg last, or `nil` if no client has fed the leg since it was last stopped.
  public internal(set) var holder: LegHolder?
  /// The number of telemetry frames sent.
  public internal(set) var reports: Int64 = 0
  /// The number of telemetry frames that the kernel did not accept.
  public internal(set) var reportFailures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  /// The pulse that the servo is driven with, before the wiring of its channel is applied, or `nil` if the servo gets no pulse.
  public var pulse: PulseWidth? {
    if case .armed(.pulse(let motion)) = state { motion.output } else { nil }
  }

  @_noLocks @_noAllocation
  mutating func count(_ pulse: PulseWidth, within settings: LegSettings) {
    if !pulse.isSame(as: pulse.clamped(from: settings.lowest, to: settings.highest)) { clamped &+= 1 }
  }

  @_noLocks @_noAllocation
  mutating func count(_ verdict: LegVerdict) {
    switch verdict {
    case .accepted: accepted &+= 1
    case .ignored(let reason):
      ignored &+= 1
      lastIgnored = reason
    }
  }
}

/// The client inside the daemon that holds a leg because its request fed the leg last.
public struct LegHolder: Sendable, Hashable, BitwiseCopyable {
  /// The client's number, or 0 if the client has none.
  public let client: UInt32
  /// The instant of the tick that handled the request.
  public let at: TickInstant

  @_noLocks @_noAllocation
  init(client: UInt32, at: TickInstant) {
    self.client = client
    self.at = at
  }
}

/// The status of all legs and their chips at the end of a tick, as published to other threads.
public struct LegSnapshot: Sendable, BitwiseCopyable {
  /// The number of legs, 1…32.
  public let count: Int
  private var legs: [32 of LegStatus]
  /// The number of links: a UDP socket for each leg, in order, then further links.
  public let linkCount: Int
  private var links: [36 of LegLinkStatus]
  public internal(set) var servos = ServoBankStatus()
  public internal(set) var battery = LegBatteryStatus()
  /// The sequence that is played, or was played last.
  public internal(set) var sequence = LegSequenceStatus()

  /// Creates the snapshot that holds before the first tick.
  @_noLocks @_noAllocation
  public init(legs count: Int, links linkCount: Int = 0) {
    self.count = count
    legs = .init(repeating: LegStatus())
    self.linkCount = linkCount
    links = .init(repeating: LegLinkStatus())
  }

  /// Returns the status of the link with this index, 0..<linkCount.
  public func link(_ index: Int) -> LegLinkStatus { links[index] }

  @_noLocks @_noAllocation
  mutating func setLink(_ index: Int, _ status: LegLinkStatus) { links[index] = status }

  /// The status of the leg with this index, 0..<count.
  @_noLocks @_noAllocation
  public internal(set) subscript(leg: Int) -> LegStatus {
    get { legs[leg] }
    set { legs[leg] = newValue }
  }
}

/// A change worth logging; repetitions are never reported.
public enum LegNotice: Sendable, Hashable, BitwiseCopyable {
  /// The state or the cause of a fault has changed.
  case state(leg: Int, LegState)
  /// A write to a chip failed after one that succeeded, or a chip has lost its configuration.
  case chipFails(ServoBankFailure)
  /// The chips are configured again, or for the first time.
  case chipAnswers
  /// The battery's sensor has failed three times in a row.
  case batterySilent(LegBatteryFailure)
  /// The battery's sensor gives voltages again.
  case batteryAnswers
  /// The sequence with this number has begun, or has ended for this reason.
  case sequence(number: UInt64, LegSequenceEnd?)
}

extension LegState {
  /// Returns whether the transition to `next` is a change that belongs in the log. A new pulse or a confirmation is not one.
  @_noLocks @_noAllocation
  func isEdge(to next: LegState) -> Bool {
    switch (self, next) {
    case (.disarmed, .disarmed), (.fault, .fault), (.emergencyStopped, .emergencyStopped), (.shutDown, .shutDown): false
    case (.armed(let old), .armed(let new)):
      switch (old, new) {
      case (.waiting, .waiting), (.pulse, .pulse), (.released, .released): false
      default: true
      }
    default: true
    }
  }
}
