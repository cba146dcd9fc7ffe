import Buses
import Tactus
import Wire

/// One leg at the end of a tick.
public struct LegStatus: Sendable, BitwiseCopyable {
  public internal(set) var state = LegState.disarmed(.pending)
  /// The last telemetry frame, sent to somebody or not.
  public internal(set) var telemetry = LegTelemetry(
    state: .disarmed, error: .none, lastCommandAgeMilliseconds: 0, battery: Millivolts(0))
  /// The last command that fed the deadman since the leg was armed; nil while disarmed.
  public internal(set) var lastCommand: TickInstant?
  /// It is `nil` if there is no sensor.
  public internal(set) var battery: Millivolts?
  /// Datagrams received, whatever they were, and those that were no command.
  public internal(set) var datagrams: Int64 = 0
  public internal(set) var malformed: Int64 = 0
  /// Why the last of those was none.
  public internal(set) var lastMalformed: LegFrameError?
  /// Commands and requests that the machine took, and that it ignored.
  public internal(set) var accepted: Int64 = 0
  public internal(set) var ignored: Int64 = 0
  /// Why the last of those was ignored.
  public internal(set) var lastIgnored: LegIgnoreReason?
  /// Pulses that were beyond the soft limits, and obeyed within them.
  public internal(set) var clamped: Int64 = 0
  /// Who sent the last datagram, and when, or `nil` if there was none.
  public internal(set) var lastSender: Endpoint?
  /// What it came by.
  public internal(set) var lastLink: LegLinkKind?
  public internal(set) var heardAt: TickInstant?
  /// Telemetry frames sent, and not taken by the kernel.
  public internal(set) var reports: Int64 = 0
  public internal(set) var reportFailures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  /// The pulse as commanded, or `nil` if there is none.
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

/// The legs of one chip at the end of a tick: all that other threads see of them.
public struct LegSnapshot: Sendable, BitwiseCopyable {
  /// The tick that published it.
  public internal(set) var at = TickInstant(nanoseconds: 0)
  /// Legs that there are, 1…16.
  public let count: Int
  private var legs: [16 of LegStatus]
  /// Ways to them that there are: a UDP socket each, in the order of the legs, then links beside them.
  public let linkCount: Int
  private var links: [20 of LegLinkStatus]
  public internal(set) var servos = ServoBankStatus()
  public internal(set) var battery = LegBatteryStatus()
  /// Notices and answers that found their ring full.
  public internal(set) var noticesDropped: Int64 = 0
  public internal(set) var answersDropped: Int64 = 0

  /// Before the first tick.
  @_noLocks @_noAllocation
  public init(legs count: Int, links linkCount: Int = 0) {
    self.count = count
    legs = .init(repeating: LegStatus())
    self.linkCount = linkCount
    links = .init(repeating: LegLinkStatus())
  }

  /// Link 0..<linkCount.
  public func link(_ index: Int) -> LegLinkStatus { links[index] }

  @_noLocks @_noAllocation
  mutating func setLink(_ index: Int, _ status: LegLinkStatus) { links[index] = status }

  /// Leg 0..<count.
  @_noLocks @_noAllocation
  public internal(set) subscript(leg: Int) -> LegStatus {
    get { legs[leg] }
    set { legs[leg] = newValue }
  }
}

/// Something worth a line in the log: a change, never a repetition.
public struct LegNotice: Sendable, BitwiseCopyable {
  public enum Subject: Sendable, Hashable, BitwiseCopyable {
    /// Another state, or another cause of a fault.
    case state(leg: Int, LegState)
    /// A write to the chip failed after one that did not, or the chip has lost its configuration.
    case chipFails(ServoBankFailure)
    /// The chip is configured after it was not.
    case chipAnswers
    /// The battery's sensor has failed three times in a row, and it gives voltages again.
    case batterySilent(LegBatteryFailure)
    case batteryAnswers
  }
  public let at: TickInstant
  public let subject: Subject

  @_noLocks @_noAllocation
  init(at: TickInstant, _ subject: Subject) {
    self.at = at
    self.subject = subject
  }
}

extension LegState {
  /// Whether going from here to `next` is a change that a log should show: not a new pulse, not a confirmation.
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
