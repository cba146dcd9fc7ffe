import Tactus

// What the pump does.
//
//            ON, button (budget left)
//   ┌─────┐ ──────────────────────────▶ ┌────┐
//   │ off │ ◀────────────────────────── │ on │
//   └─────┘        OFF, button          └────┘
//     ▲  │ too warm, sensor, output         │ run limit, too warm, sensor, output, silence, missed releases,
//     │  └────────────▶ ┌───────┐ ◀─────────┘ stop from outside
//     └──────────────── │ error │
//        OFF, button,   └───────┘
//        reset              │ e-stop, from every state
//     ▲                     ▼
//     │ reset         ┌──────────────────┐
//     └────────────── │ emergencyStopped │
//      (off confirmed)└──────────────────┘
//   Every state goes to `shutDown`, which has no way out.

/// The device side's state. Nothing but `on` drives the motor.
public enum PumpDeviceState: Sendable, Hashable, BitwiseCopyable {
  case off(Confirmation)
  case on(PumpSpeed)
  /// Until an OFF, the button or a reset.
  case error(PumpDeviceError, Confirmation)
  /// Latched until a reset.
  case emergencyStopped(Confirmation)
  case shutDown(Confirmation)

  /// Returns whether the pump must be off and its output has taken that.
  public var isSafe: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .on: return false
      case .off(let off), .error(_, let off), .emergencyStopped(let off), .shutDown(let off):
        if case .confirmed = off { return true }
        return false
      }
    }
  }

  var isOn: Bool {
    @_noLocks @_noAllocation get {
      if case .on = self { return true }
      return false
    }
  }
}

/// Why the pump stopped by itself.
public enum PumpDeviceError: Sendable, Hashable, BitwiseCopyable {
  case runLimit
  case overheat(PumpTemperature)
  /// It is `nil` if it cannot be read.
  case sensor(PumpSensor, PumpTemperature?)
  /// No command for the silence limit.
  case silence
  /// The motor's output does not take what it is told.
  case output
  case missedReleases(Int64)
  /// Somebody outside turned the motor off, such as the guard while the program hung.
  case externalStop
}

/// Everything that may happen to the pump.
public enum PumpDeviceEvent: Sendable, Hashable, BitwiseCopyable {
  case command(PumpCommand)
  /// A line that is no command.
  case invalidCommand(PumpLineError)
  /// A reading of the button's contact.
  case button(isPressed: Bool)
  /// A reading of the pot, 0…1023.
  case pot(counts: Int)
  /// Readings of the sensors; `absent`: there is none.
  case temperatures(water: PumpReading, skin: PumpReading)
  case emergencyStop
  /// Leave an emergency stop or an error.
  case reset
  /// Other settings, from now on: a limit that has been reached by then ends the run.
  case settings(PumpDeviceSettings)
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The output has taken the off that is in force.
  case offConfirmed
  case outputFailed
  case missed(releases: Int64)
  /// Somebody outside has turned the motor off.
  case externalStop
  case shutdown
}

/// What the motor must get now.
public enum PumpOutput: Sendable, Hashable, BitwiseCopyable {
  /// What it gets already.
  case none
  case off
  case run(PumpSpeed)
}

/// Up to four lines, in their order.
public struct PumpReplies: Sendable, Hashable, BitwiseCopyable {
  public private(set) var count: Int
  private var first: PumpReply
  private var second: PumpReply
  private var third: PumpReply
  private var fourth: PumpReply

  @_noLocks @_noAllocation
  init() {
    count = 0
    first = .ok
    second = .ok
    third = .ok
    fourth = .ok
  }

  /// A fifth is our bug.
  @_noLocks @_noAllocation
  mutating func append(_ reply: PumpReply) {
    precondition(count < 4, "a step answers at most four lines")
    switch count {
    case 0: first = reply
    case 1: second = reply
    case 2: third = reply
    default: fourth = reply
    }
    count &+= 1
  }

  @_noLocks @_noAllocation
  public subscript(index: Int) -> PumpReply {
    precondition(index >= 0 && index < count, "no such reply")
    switch index {
    case 0: return first
    case 1: return second
    case 2: return third
    default: return fourth
    }
  }
}

/// The machine's answer to one event.
public struct PumpDeviceAction: Sendable, Hashable, BitwiseCopyable {
  public var output: PumpOutput
  public var replies: PumpReplies
  /// It is `nil` if it is done. For what comes from inside the daemon; a line is answered by lines.
  public var refusal: PumpIgnoreReason?

  @_noLocks @_noAllocation
  init() {
    output = .none
    replies = PumpReplies()
    refusal = nil
  }
}
