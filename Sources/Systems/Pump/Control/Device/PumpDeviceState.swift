import Tactus

// The states of the pump, and the transitions between them.
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

/// The state of the device side. The motor runs only in the state `on`.
public enum PumpDeviceState: Sendable, Hashable, BitwiseCopyable {
  case off(Confirmation)
  case on(PumpSpeed)
  /// The pump has stopped by itself, until an OFF, the button or a reset ends the error.
  case error(PumpDeviceError, Confirmation)
  /// The pump is stopped until a reset.
  case emergencyStopped(Confirmation)
  case shutDown(Confirmation)

  /// Whether the pump must be off and its output has accepted the off.
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

/// The reason why the pump stopped by itself.
public enum PumpDeviceError: Sendable, Hashable, BitwiseCopyable {
  case runLimit
  case overheat(PumpTemperature)
  /// The sensor's reading is implausible; the temperature is `nil` if the sensor cannot be read.
  case sensor(PumpSensor, PumpTemperature?)
  /// No command has arrived for the duration of the silence limit.
  case silence
  /// The motor's output rejects writes.
  case output
  case missedReleases(Int64)
  /// The motor was turned off from outside the loop, for example by the guard while the program hung.
  case externalStop
}

/// An event that the device side's machine processes.
public enum PumpDeviceEvent: Sendable, Hashable, BitwiseCopyable {
  case command(PumpCommand)
  /// A line that could not be decoded as a command.
  case invalidCommand(PumpLineError)
  /// A reading of the button's contact.
  case button(isPressed: Bool)
  /// A reading of the potentiometer, 0…1023.
  case pot(counts: Int)
  /// Readings of the sensors; `absent` means that there is no such sensor.
  case temperatures(water: PumpReading, skin: PumpReading)
  /// A request to end the present run after a time.
  case runTime(Nanoseconds)
  case emergencyStop
  /// A request to leave an emergency stop or an error.
  case reset
  /// New settings, valid from now on; a limit that is already exceeded ends the run.
  case settings(PumpDeviceSettings)
  /// A periodic release, or the release at `nextDeadline`.
  case tick
  /// The output has accepted the off that is in force.
  case offConfirmed
  case outputFailed
  case missed(releases: Int64)
  /// The motor has been turned off from outside the loop.
  case externalStop
  case shutdown
}

/// The value that is to be written to the motor's output now.
public enum PumpOutput: Sendable, Hashable, BitwiseCopyable {
  /// Nothing is to be written, because the output already has the right value.
  case none
  case off
  case run(PumpSpeed)
}

/// Up to four lines, in the order in which they are sent.
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

  /// Appends a line. More than four lines are a programming error.
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

/// The machine's response to one event.
public struct PumpDeviceAction: Sendable, Hashable, BitwiseCopyable {
  public var output: PumpOutput
  public var replies: PumpReplies
  /// The reason why a request from inside the daemon was refused, or `nil` if it was accepted. Commands received as lines are answered by lines.
  public var refusal: PumpIgnoreReason?

  @_noLocks @_noAllocation
  init() {
    output = .none
    replies = PumpReplies()
    refusal = nil
  }
}
