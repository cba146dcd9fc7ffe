import Buses
import Tactus

/// What a client inside the daemon asks of a pump that it is itself.
public struct PumpDeviceRequest: Sendable, Hashable, BitwiseCopyable {
  public enum Order: Sendable, Hashable, BitwiseCopyable {
    /// As a line.
    case command(PumpCommand)
    case emergencyStop
    /// Leave an emergency stop or an error.
    case reset
    /// Nothing but an answer.
    case query
  }
  /// The client's side's own, for the answer.
  public var number: UInt64
  /// When the request was made, by `MonotonicClock` or the simulation's clock.
  public var issued: TickInstant
  public var order: Order

  public init(number: UInt64, issued: TickInstant, _ order: Order) {
    self.number = number
    self.issued = issued
    self.order = order
  }

  /// Whether it waited too long for the loop. What makes safe is obeyed whenever it comes.
  @_noLocks @_noAllocation
  func isStale(at now: TickInstant) -> Bool {
    switch order {
    case .command(.off), .emergencyStop, .query: false
    case .command, .reset: (now - issued).count > PumpRequest.patience.count
    }
  }
}

/// The pump at the end of a tick: all that other threads see of it.
public struct PumpDeviceSnapshot: Sendable, BitwiseCopyable {
  /// The tick that published it.
  public internal(set) var at = TickInstant.zero
  public internal(set) var state = PumpDeviceState.off(.pending)
  /// Who brought it into its state, or `nil` if it has been in it since the start.
  public internal(set) var source: PumpControlSource?
  public internal(set) var water = PumpReading.absent
  public internal(set) var skin = PumpReading.absent
  /// Pumped since the last rest, and what is left of the limit.
  public internal(set) var spent = Nanoseconds.zero
  public internal(set) var left = Nanoseconds.zero
  /// What the motor was last told, or `nil` if its output does not take what it is told.
  public internal(set) var duty: PumpSpeed? = PumpSpeed(duty: 0)
  /// By either link; and by the first.
  public internal(set) var isConnected = false
  public internal(set) var isFirstConnected = false
  /// Lines that were commands, that were none, and why the last of those was none.
  public internal(set) var commands: Int64 = 0
  public internal(set) var malformed: Int64 = 0
  public internal(set) var lastMalformed: PumpLineError?
  /// Lines sent, and not taken by the link.
  public internal(set) var sent: Int64 = 0
  public internal(set) var sendFailures: Int64 = 0
  /// When it has rested, or `nil` if it pumps, or needs no rest.
  public internal(set) var restedAt: TickInstant?
  /// What these follow from, to be kept over a restart; without a meaning before the first tick.
  public internal(set) var governor = PumpGovernor(limit: .zero, rest: .zero)
  public internal(set) var inputFailures: Int64 = 0
  /// Requests that were obeyed, and that were not.
  public internal(set) var accepted: Int64 = 0
  public internal(set) var ignored: Int64 = 0
  public internal(set) var lastIgnored: PumpIgnoreReason?
  public internal(set) var outputFailures: Int64 = 0
  public internal(set) var lastOutputFailure: PWMError?
  /// Notices and answers that found their ring full.
  public internal(set) var noticesDropped: Int64 = 0
  public internal(set) var answersDropped: Int64 = 0

  /// Before the first tick.
  @_noLocks @_noAllocation
  public init() {}
}

/// Something worth a line in the log: a change, never a repetition.
public struct PumpDeviceNotice: Sendable, BitwiseCopyable {
  public enum Subject: Sendable, Hashable, BitwiseCopyable {
    /// Another state, or another cause of an error.
    case state(PumpDeviceState)
    case outputFails(PWMError)
  }
  public let at: TickInstant
  public let subject: Subject
  /// Who brought it into its state, or `nil` if only time did.
  public let source: PumpControlSource?

  @_noLocks @_noAllocation
  init(at: TickInstant, _ subject: Subject, by source: PumpControlSource?) {
    self.at = at
    self.subject = subject
    self.source = source
  }
}
