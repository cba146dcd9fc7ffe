import Tactus
import Wire

/// What the loop has seen since the start.
public struct RobotCounters: Sendable, BitwiseCopyable {
  /// Datagrams received, whatever they were.
  public internal(set) var datagrams: Int64 = 0
  /// Datagrams that were no robot datagram.
  public internal(set) var malformed: Int64 = 0
  /// CSV datagrams whose speeds turned against their direction field.
  public internal(set) var directionMismatches: Int64 = 0
  /// Commands, stops, e-stops and resets that the machine took.
  public internal(set) var accepted: Int64 = 0
  /// Replies sent.
  public internal(set) var replies: Int64 = 0
  /// Replies that the kernel's buffer or the limit of one a source and 20 ms did not let out.
  public internal(set) var repliesDropped: Int64 = 0
  /// Notices that found the ring full.
  public internal(set) var noticesDropped: Int64 = 0
  /// Answers to requests that found their ring full.
  public internal(set) var answersDropped: Int64 = 0
  /// Motor writes that the board took, and that failed after their retries.
  public internal(set) var writes: Int64 = 0
  public internal(set) var writeFailures: Int64 = 0
  private var ignoredByReason: [13 of Int64]

  @_noLocks @_noAllocation
  init() { ignoredByReason = .init(repeating: 0) }

  /// Commands, stops, e-stops and resets that did nothing, for this reason.
  @_noLocks @_noAllocation
  public func ignored(_ reason: IgnoreReason) -> Int64 { ignoredByReason[reason.index] }

  /// All reasons together.
  public var ignored: Int64 { IgnoreReason.allCases.reduce(0) { $0 + ignored($1) } }

  @_noLocks @_noAllocation
  mutating func count(_ verdict: Verdict) {
    switch verdict {
    case .accepted: accepted &+= 1
    case .ignored(let reason): ignoredByReason[reason.index] &+= 1
    }
  }
}

/// The robot at the end of a tick: all that other threads see of it.
public struct RobotSnapshot: Sendable, BitwiseCopyable {
  /// The tick that published it.
  public internal(set) var at = TickInstant(nanoseconds: 0)
  public internal(set) var state: RobotState
  public internal(set) var settings: RobotSettings
  public internal(set) var counters = RobotCounters()
  /// Why the last motor write that failed did, or `nil` if none has since the start.
  public internal(set) var lastFailure: MotorFailure?
  /// The last datagram that was none, or `nil` if none has come since the start.
  public internal(set) var lastMalformed: DatagramError?
  /// Bus transfers that succeeded only after a retry.
  public internal(set) var retries: Int64 = 0

  /// Before the first tick.
  public init(_ settings: RobotSettings) {
    let machine = RobotMachine(settings)
    state = machine.state
    self.settings = settings
  }

  /// What the motors are told: zero unless driving.
  public var speeds: WheelSpeeds { state.speeds }

  /// What the controlling source asked for; nil unless driving.
  public var target: WheelSpeeds? { state.target }

  /// Who controls and since when it is silent; nil while control is free.
  public var holder: Holder? { state.holder }

  /// Time since the controlling source's last accepted command, at `at`; nil while control is free.
  public var age: Nanoseconds? {
    guard let holder else { return nil }
    return at - holder.lastCommand
  }

  public var isEmergencyStopped: Bool {
    if case .emergencyStopped = state { true } else { false }
  }
}
