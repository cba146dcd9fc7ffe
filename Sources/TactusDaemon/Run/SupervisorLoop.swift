import Tactus
import TactusGuard

/// A message of the supervisor to the main thread.
enum SupervisorNotice: BitwiseCopyable {
  /// Ten times a second, whatever the control loops do.
  case beat(TickInstant)
  /// Every control loop advances; about once a second.
  case pulse
  /// This control loop, by its place in the list, has not ticked for this time.
  case stalled(loop: Int, Nanoseconds)
  case resumed(loop: Int)
  /// The guard has not answered for a while, which was found at this instant.
  case guardHangs(TickInstant)
}

/// Watches the control loops and reports which of them advance: to the guard with every heartbeat, to the main thread once a second. Is the main
/// thread's clock besides.
///
/// Runs in a lane of its own at normal priority: when the whole program is starved the guard must hear silence. It has no
/// output: its silence is what makes others safe.
package struct SupervisorLoop: ~Copyable, ControlLoop, NoOutput {
  /// How often the supervisor looks at the loops.
  package static let rate = Rate.hertz(10)
  /// How long the guard may owe an answer. With the two periods that a hang may begin before a heartbeat and end behind a look, a guard
  /// that hangs is judged so within 0.9 s.
  package static let guardPatience = Nanoseconds.milliseconds(700)
  private static var ticksPerPulse: Int64 {
    @_noLocks @_noAllocation get { 10 }
  }

  private var loops = LoopWatch()
  /// The loops that were reported as stalled.
  private var stalled: UInt64 = 0
  /// The loops that have advanced, or were not due yet, since all of them had.
  private var advanced: UInt64 = 0
  private var notices: RingWriter<SupervisorNotice>
  private let bell: DoorbellButton
  /// Sends heartbeats to the guard, or `nil` if there is no guard.
  private var heartbeats: HeartbeatSender?
  private let patience: Nanoseconds
  /// The tick from which on the next `pulse` is due.
  private var nextPulse: Int64 = 0

  /// - Parameters:
  ///   - versions: of the control loops; what they are of must outlive this loop.
  ///   - periods: of those loops, where they are longer than this loop's own.
  ///   - heartbeats: to the guard, or `nil` if there is none.
  ///   - patience: a control loop that does not advance for longer is reported.
  init(
    watching versions: [LatestVersion], periods: [Nanoseconds] = [],
    notices: consuming RingWriter<SupervisorNotice>, bell: DoorbellButton, heartbeats: HeartbeatSender?,
    patience: Nanoseconds
  ) {
    for (index, version) in versions.enumerated() {
      loops.add(version, period: index < periods.count ? periods[index] : .zero)
    }
    self.notices = notices
    self.bell = bell
    self.heartbeats = heartbeats
    self.patience = patience
  }

  @_noLocks @_noAllocation
  package mutating func tick(_ tick: Tick) {
    tell(.beat(tick.started))
    let advancing = loops.look(at: tick.started)
    beat(tick, advancing)
    var index = 0
    while index < loops.count {
      look(at: index, now: tick.started)
      index += 1
    }
    advanced |= advancing
    guard advanced == loops.all else { return }
    advanced = 0
    guard tick.index >= nextPulse else { return }
    nextPulse = tick.index + Self.ticksPerPulse
    tell(.pulse)
  }

  @_noLocks @_noAllocation
  private mutating func beat(_ tick: Tick, _ advancing: UInt64) {
    let hearing = heartbeats?.send(due: tick.scheduled, at: tick.started, watched: loops.all, advanced: advancing)
    // One that is gone is the main thread's child, which hears of it.
    if case .silent? = hearing { tell(.guardHangs(tick.started)) }
  }

  @_noLocks @_noAllocation
  private mutating func look(at index: Int, now: TickInstant) {
    let silence = loops.silence(index, at: now)
    let bit = UInt64(1) << UInt64(clamping: index)
    if stalled & bit != 0, silence.count <= 0 {
      stalled &= ~bit
      tell(.resumed(loop: index))
    } else if stalled & bit == 0, silence.count > patience.count {
      stalled |= bit
      tell(.stalled(loop: index, loops.sinceAdvance(index, at: now)))
    }
  }

  /// A full ring means that the main thread has hung for some seconds; it will find older notices when it is back.
  @_noLocks @_noAllocation
  private mutating func tell(_ notice: SupervisorNotice) {
    _ = notices.push(notice)
    bell.ring()
  }
}
