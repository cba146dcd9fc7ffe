import Buses
import Tactus

// The values exchanged between a pump's loop and other threads. They are the same for both roles, so that one declaration serves both.

/// The mailboxes of a pump's loop, in either role: operator (this program operates a pump) or device (this program is the pump).
public typealias PumpMailbox = LoopMailbox<PumpOrder, PumpIgnoreReason, PumpNotice, PumpState, PumpRules>

/// A loop's answer to a request, and a machine's answer to an event.
public typealias PumpVerdict = Verdict<PumpIgnoreReason>

/// A request of a client inside the daemon to a pump.
public enum PumpOrder: Sendable, Hashable, BitwiseCopyable {
  /// Turns the pump on. The speed is set once the pump runs; `nil` keeps the pump's initial speed.
  case turnOn(PumpSpeed?)
  /// Turns the pump on as `turnOn` does, and is accepted even if the pump is already on. The loop turns the pump off when the given time is over;
  /// `nil` leaves the end of the run as it is.
  case run(PumpSpeed?, lasting: Nanoseconds? = nil)
  case turnOff
  case setSpeed(PumpSpeed)
  /// Requests the pump's temperatures. A pump in the device role publishes them anyway.
  case readTemperatures
  /// A person is looking at the state now.
  case watched
  /// Turns the pump off and keeps it off until a reset.
  case emergencyStop
  /// Leaves an emergency stop or a fault.
  case reset
  /// Turns the pump off, after which no more commands are accepted, because the daemon is shutting down.
  case quit
  /// Requests an answer and has no other effect.
  case query

  /// Whether the order can only turn the pump off.
  public var makesSafe: Bool {
    switch self {
    case .turnOff, .emergencyStop, .quit: true
    case .turnOn, .run, .setSpeed, .readTemperatures, .watched, .reset, .query: false
    }
  }
}

/// The settings of both roles; a loop uses those of its role.
public struct PumpRules: Sendable, Hashable, BitwiseCopyable {
  public var operating: PumpOperatorSettings
  public var own: PumpDeviceSettings

  public init(operating: PumpOperatorSettings = .standard, own: PumpDeviceSettings = .standard) {
    (self.operating, self.own) = (operating, own)
  }

  public static let standard = PumpRules()

  /// Returns the stricter of two sets of rules.
  public func tighter(than other: PumpRules) -> PumpRules {
    PumpRules(operating: operating.tighter(than: other.operating), own: own.tighter(than: other.own))
  }
}

/// The snapshot that a pump's loop publishes.
public enum PumpState: Sendable, BitwiseCopyable {
  /// The snapshot of a pump that this program operates.
  case operated(PumpSnapshot)
  /// The snapshot of a pump in the device role, in which this program is the pump.
  case own(PumpDeviceSnapshot)

  /// The operator side's snapshot, or `nil` if the loop has the device role.
  public var operated: PumpSnapshot? { if case .operated(let snapshot) = self { snapshot } else { nil } }

  /// The device side's snapshot, or `nil` if the loop has the operator role.
  public var own: PumpDeviceSnapshot? { if case .own(let snapshot) = self { snapshot } else { nil } }

  /// The governor, which holds how much of the run limit is used, to be stored so that it survives a restart.
  public var governor: PumpGovernor {
    switch self {
    case .operated(let snapshot): snapshot.governor
    case .own(let snapshot): snapshot.governor
    }
  }
}

/// A change that is worth a line in the log; never a repetition.
public enum PumpNotice: Sendable, Hashable, BitwiseCopyable {
  /// The operated pump has changed its state, the cause of its fault or the confirmation of its off, with the source of the change.
  case state(PumpOperatorState, PumpControlSource?)
  /// The connection was established or lost, or the pump has fallen silent.
  case contact(PumpContact)
  case failed(PumpCommandFailure)
  /// A pump in the device role has changed its state or the cause of its error, with the source of the change, or `nil` if no source is known.
  case own(PumpDeviceState, PumpControlSource?)
  case outputFails(PWMError)
}

extension PumpMailbox {
  /// Creates the mailboxes for the loop of a pump that is operated.
  public convenience init(operating settings: PumpOperatorSettings) throws(RuntimeError) {
    let rules = PumpRules(operating: settings)
    try self.init(state: .operated(PumpSnapshot(settings.governor())), rules: rules)
  }

  /// Creates the mailboxes for the loop of a pump in the device role.
  public convenience init(own settings: PumpDeviceSettings) throws(RuntimeError) {
    let rules = PumpRules(own: settings)
    try self.init(state: .own(PumpDeviceSnapshot(settings.governor())), rules: rules)
  }
}
