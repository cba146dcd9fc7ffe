import Tactus

//            stop, or a tick that comes a second late      stick at zero, three stops sent
//   ┌─────────┐ ─────────▶ ┌─────────┐ ─────────────────┐
//   │ driving │            │ stopped │                  ▼
//   └─────────┘ ◀───────── └─────────┘              driving
//        │ e-stop              │ e-stop
//        ▼                     ▼
//   ┌──────────────────────────────┐  reset, stick at zero
//   │       emergencyStopped       │ ─────────────────────▶ driving
//   └──────────────────────────────┘
//   Every state goes to `quitting` and, three stops later, to `finished`.

/// The state of the operator side, which decides what is sent at every tick.
public enum OperatorState: Sendable, Hashable, BitwiseCopyable {
  /// The speeds of the stick are sent.
  case driving
  /// A stop is sent this many more times, then zero speeds until the stick is at zero.
  case stopped(stopsLeft: Int)
  /// The e-stop is sent at every tick until a reset.
  case emergencyStopped
  /// A stop is sent this many more times, then nothing more.
  case quitting(stopsLeft: Int)
  case finished
}

/// Whether the robot answers.
public enum Connection: Sendable, Hashable, BitwiseCopyable {
  /// No reply has come since the start: the robot is of the old kind, which never replies, or there is no robot.
  case noReplyYet
  /// The robot answers; the newest reply took this long, there and back.
  case alive(roundTrip: Nanoseconds)
  /// The robot has answered, but has been silent for a second or more.
  case lost(silence: Nanoseconds)
}

/// The newest reply and its time of arrival.
public struct HeardReply: Sendable, Equatable, BitwiseCopyable {
  public let reply: RobotReply
  public let at: TickInstant
  public let roundTrip: Nanoseconds

  @_noLocks @_noAllocation
  init(reply: RobotReply, at: TickInstant, roundTrip: Nanoseconds) {
    self.reply = reply
    self.at = at
    self.roundTrip = roundTrip
  }
}
