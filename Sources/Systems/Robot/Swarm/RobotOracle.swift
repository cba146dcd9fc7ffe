import Robot
import Tactus
import TactusSwarm

/// The checks of a robot's motors: derives from the commands sent what the board may do, and applies the rules of the README
/// independently of the machine.
///
/// The oracle never allows less than the machine: where a rule is subtle (a clock that was set), it allows more.
struct RobotOracle: SwarmLoopOracle {
  enum Command: Hashable {
    /// A command to drive; `stamp` is the timestamp by the sender's clock in milliseconds, or `nil` if the command has none.
    case drive(Int, stamp: Int64?, isZero: Bool)
    case stop(Int)
    case emergencyStop
    case reset
  }

  /// The names of the checks: those of the motors, then those of an operator.
  static let names = own + RobotOperatorOracle.names
  static let own = [
    "the motors stand the failsafe's time-out (1 s until a reload) and a tick after the last valid command",
    "what the guard has stopped drives only after a stick at zero, a stop or a reset",
  ]
  private static let tick = Nanoseconds.milliseconds(50)
  /// The longest time for which a request to drive may wait for the loop before it must be ignored.
  private static let patience = Nanoseconds.milliseconds(250)

  var output = SwarmOutput(names, tick: tick)
  private var failsafe = SwarmLimit(RobotSettings.standard.failsafeTimeout, tick: tick)
  private var waiting: [(command: Command, issued: TickInstant?)] = []
  /// The instant at which the last command that may drive was taken, and its sender, or `nil` as the sender if it is not known who holds control and
  /// any sender may drive.
  private var fed: (at: TickInstant, by: Int?)?
  /// The instant at which the controlling source last sent a command that certainly counted.
  private var heard = TickInstant.zero
  /// The instant at which a sender last commanded a stop.
  private var stoppedAt = TickInstant.zero
  private var stamps = RobotStamps()
  private(set) var truth = RobotTruth()
  /// The instant at which the guard stopped motors that were running, or `nil` if a stick has been released since.
  private var cutAt: TickInstant?
  /// Whether the robot may be waiting for a stick to be released, because the guard has written a stop, whether the motors ran or stood
  /// still.
  private var mayBeCut = false
  /// The instant at which each sender last moved its stick away from zero.
  private var pushed: [Int: TickInstant] = [:]

  // MARK: Inputs

  mutating func started(at now: TickInstant, _ cover: SwarmCover, _ settings: RobotSettings) {
    failsafe = SwarmLimit(settings.failsafeTimeout, tick: Self.tick)
    pushed = [:]
    // The motors of a daemon that died have been stopped from outside.
    (cutAt, mayBeCut, fed, waiting) = (cover.endedWithoutStop ? now : nil, cover.endedWithoutStop, nil, [])
    output.started(at: now, cover)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waiting = []
    output.killed(at: now, safeBy: safeBy)
  }

  /// Takes the settings of a reload.
  mutating func changed(to settings: RobotSettings) { failsafe.changed(to: settings.failsafeTimeout) }

  /// Records that the guard has written a stop to the motors.
  mutating func cut(wasMoving: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    mayBeCut = true
    if wasMoving { cutAt = now }
  }

  mutating func hear(_ command: Command, issued: TickInstant?) { waiting.append((command, issued)) }

  // MARK: Ticks

  /// Records that a tick began at `now`, which has taken all waiting commands.
  mutating func ticked(at now: TickInstant) {
    failsafe.ticked(at: now)
    // Requests are taken before datagrams.
    let taken = waiting.filter { $0.issued != nil } + waiting.filter { $0.issued == nil }
    waiting = []
    for (command, issued) in taken {
      switch command {
      case .emergencyStop: output.took(isStop: true, at: now)
      case .reset:
        output.took(isStop: false, at: now)
        // A robot that was stopped from outside and is not in a fault ignores a reset.
        cutAt = nil
        // Control may be free.
        if let last = fed { fed = (last.at, nil) }
      case .stop(let sender):
        letGo(sender, at: now)
        // A stop counts as a heartbeat of the source that holds control.
        if let last = fed { (fed, stoppedAt) = ((last.at, nil), now) }
      case .drive(let sender, let stamp, let isZero):
        let wasCut = mayBeCut
        if isZero { letGo(sender, at: now) } else { pushed[sender] = now }
        if let issued, now - issued > Self.patience, !isZero { continue }
        // Control is free after a stop from outside, so the sender that held a stick last may release it and drive.
        if wasCut { fed = (now, nil) } else { feed(by: sender, stamp, at: now) }
      }
    }
  }

  /// Records a stick at zero or a stop, which frees a robot that was stopped from outside unless another sender holds a stick.
  private mutating func letGo(_ sender: Int, at now: TickInstant) {
    cutAt = nil
    if !pushed.contains(where: { $0.key != sender && now - $0.value <= failsafe.longest }) { mayBeCut = false }
  }

  private mutating func feed(by sender: Int, _ stamp: Int64?, at now: TickInstant) {
    guard let last = fed, now - max(last.at, stoppedAt) < failsafe.longest else {
      stamps = RobotStamps()
      _ = stamps.judge(stamp, at: now)
      fed = (now, sender)
      heard = now
      return
    }
    // Control may have been free in the meantime.
    guard let holder = last.by, now - heard < failsafe.shortest else {
      fed = (now, nil)
      return
    }
    guard sender == holder else { return }
    let verdict = stamps.judge(stamp, at: now)
    guard verdict != .old else { return }
    fed = (now, holder)
    if verdict == .news { heard = now }
  }

  // MARK: Checks

  mutating func check(_ isMoving: Bool, at now: TickInstant) {
    failsafe.observe(isOff: !isMoving)
    let isExcused = output.check(isActive: isMoving, at: now)
    if isMoving { truth.movingAt = now } else { truth.stillAt = now }
    if output.reach.isBusDown(at: now) { truth.unreachableAt = now }
    let last = fed.map { $0.at + failsafe.longest + Self.tick }
    output.check(
      0, isExcused || last.map { now <= $0 } ?? false, at: now,
      "they run, and the last valid command came \(fed.map { "at \(SwarmAction.text($0.at)) s" } ?? "never")")
    if let cutAt {
      output.check(
        1, isExcused || now <= cutAt, at: now, "they run, and the guard stopped them at \(SwarmAction.text(cutAt)) s")
    }
  }
}
