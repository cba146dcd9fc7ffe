import Tactus

//               stop                            stick at zero, three stops sent
//   ┌─────────┐ ─────────▶ ┌─────────┐ ─────────────────┐
//   │ driving │            │ stopped │                  ▼
//   └─────────┘ ◀───────── └─────────┘              driving
//        │ e-stop              │ e-stop
//        ▼                     ▼
//   ┌──────────────────────────────┐  reset, stick at zero
//   │       emergencyStopped       │ ─────────────────────▶ driving
//   └──────────────────────────────┘
//   Every state goes to `quitting` and, three stops later, to `finished`.

/// The operator side's state: what it sends at every tick.
public enum OperatorState: Sendable, Hashable, BitwiseCopyable {
  /// The stick's speeds.
  case driving
  /// A stop, so many more times; then zero speeds until the stick is at zero.
  case stopped(stopsLeft: Int)
  /// The e-stop, again and again until a reset.
  case emergencyStopped
  /// A stop, so many more times; then nothing more.
  case quitting(stopsLeft: Int)
  case finished
}

/// Whether somebody answers.
public enum Connection: Sendable, Hashable, BitwiseCopyable {
  /// Not one reply since the start: a robot of the old kind, which never replies, or none at all.
  case noReplyYet
  /// The newest reply took so long, there and back.
  case alive(roundTrip: Nanoseconds)
  /// There were replies, and then none for a second or more.
  case lost(silence: Nanoseconds)
}

/// The newest reply, and when it came.
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
