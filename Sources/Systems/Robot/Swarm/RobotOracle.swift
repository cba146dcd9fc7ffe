import Robot
import Tactus
import TactusSwarm

/// What must hold of a robot's motors, from what was sent to it and what its board does: the rules of the README once more, by another way.
///
/// It never knows less of what may drive than the machine: where a rule is subtle (a clock that was set), it allows more.
struct RobotOracle: SwarmLoopOracle {
  enum Command: Hashable {
    /// `stamp` is the sender's clock, ms, or `nil` if it has none.
    case drive(Int, stamp: Int64?, isZero: Bool)
    case stop(Int)
    case emergencyStop
    case reset
  }

  /// Of the motors, then of an operator.
  static let names = own + RobotOperatorOracle.names
  static let own = [
    "the motors stand the failsafe's time-out (1 s until a reload) and a tick after the last valid command",
    "what the guard has stopped drives only after a stick at zero, a stop or a reset",
  ]
  private static let tick = Nanoseconds.milliseconds(50)
  /// RobotRequest: how long a drive may wait for the loop.
  private static let patience = Nanoseconds.milliseconds(250)

  var output = SwarmOutput(names, tick: tick)
  private var failsafe = SwarmLimit(RobotSettings.standard.failsafeTimeout, tick: tick)
  private var waiting: [(command: Command, issued: TickInstant?)] = []
  /// The last command that may drive, and who it is from; `nil` in it: who holds control is not known, and anybody may go on.
  private var fed: (at: TickInstant, by: Int?)?
  /// When the holder was last heard beyond doubt.
  private var heard = TickInstant.zero
  /// When somebody last said stop.
  private var stoppedAt = TickInstant.zero
  private var stamps = RobotStamps()
  private(set) var truth = RobotTruth()
  /// When the guard stopped motors that ran; `nil` since somebody has let go of a stick.
  private var cutAt: TickInstant?
  /// Whether the robot may be waiting for somebody to let go of a stick, because the guard has written while the motors ran or stood.
  private var mayBeCut = false
  /// When each sender last pushed its stick.
  private var pushed: [Int: TickInstant] = [:]

  // MARK: What is done

  mutating func started(at now: TickInstant, _ cover: SwarmCover, _ settings: RobotSettings) {
    failsafe = SwarmLimit(settings.failsafeTimeout, tick: Self.tick)
    pushed = [:]
    // Whoever stopped the motors of a daemon that died.
    (cutAt, mayBeCut, fed, waiting) = (cover.endedWithoutStop ? now : nil, cover.endedWithoutStop, nil, [])
    output.started(at: now, cover)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waiting = []
    output.killed(at: now, safeBy: safeBy)
  }

  /// A reload has told the loop other rules.
  mutating func changed(to settings: RobotSettings) { failsafe.changed(to: settings.failsafeTimeout) }

  /// The guard has told the motors to stand.
  mutating func cut(wasMoving: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    mayBeCut = true
    if wasMoving { cutAt = now }
  }

  mutating func hear(_ command: Command, issued: TickInstant?) { waiting.append((command, issued)) }

  // MARK: What the loop may know

  /// A tick began at `now`: it has taken all that waited.
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
        // A robot that was stopped from outside, and is in no fault, ignores it.
        cutAt = nil
        // Control may be free.
        if let last = fed { fed = (last.at, nil) }
      case .stop(let sender):
        letGo(sender, at: now)
        // Whoever holds control is heard by it.
        if let last = fed { (fed, stoppedAt) = ((last.at, nil), now) }
      case .drive(let sender, let stamp, let isZero):
        let wasCut = mayBeCut
        if isZero { letGo(sender, at: now) } else { pushed[sender] = now }
        if let issued, now - issued > Self.patience, !isZero { continue }
        // Control is nobody's then: who held a stick last may let go of it, and drive.
        if wasCut { fed = (now, nil) } else { feed(by: sender, stamp, at: now) }
      }
    }
  }

  /// A stick at zero, or a stop, frees a robot that was stopped from outside unless somebody else holds a stick.
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
    // Control may have been free meanwhile.
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

  // MARK: What must hold

  mutating func look(_ isMoving: Bool, at now: TickInstant) {
    failsafe.look(isOff: !isMoving)
    let isExcused = output.look(isActive: isMoving, at: now)
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
