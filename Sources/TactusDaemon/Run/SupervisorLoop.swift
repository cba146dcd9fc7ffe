@_spi(FromOutside) import Conversions
import Tactus
import TactusGuard

/// A message from the supervisor to the main thread.
enum SupervisorNotice: BitwiseCopyable {
  /// A periodic message, sent ten times a second regardless of the control loops.
  case beat(TickInstant)
  /// Every control loop has advanced; sent about once a second.
  case pulse
  /// The control loop at this index of the list has not ticked for this time.
  case stalled(loop: Int, Nanoseconds)
  case resumed(loop: Int)
  /// The guard has not answered for longer than the timeout, which was detected at this instant.
  case guardHangs(TickInstant)
}

/// Watches the control loops and reports which of them advance, to the guard with every heartbeat and to the main
/// thread once a second. It also provides the periodic messages to the main thread.
///
/// The loop runs in a lane of its own at normal priority, so that the guard misses its heartbeats when the whole
/// program is starved. It has no output: its silence is what makes the outputs of others safe.
package struct SupervisorLoop: ~Copyable, ControlLoop, NoOutput {
  /// The rate at which the supervisor checks the loops.
  package static let rate = Rate.hertz(10)
  /// The time within which the guard must answer. Including the two periods by which a hang may begin before a
  /// heartbeat and end after a check, a guard that hangs is detected within 0.9 s.
  package static let guardPatience = Nanoseconds.milliseconds(700)
  private static var ticksPerPulse: Int64 {
    @_noLocks @_noAllocation get { 10 }
  }

  private var loops = LoopWatch()
  /// The loops that were reported as stalled, one bit for each.
  private var stalled: UInt64 = 0
  /// The loops that have advanced or were not due since all loops last had, one bit for each.
  private var advanced: UInt64 = 0
  private var notices: RingWriter<SupervisorNotice>
  private let bell: DoorbellButton
  /// The sender of heartbeats to the guard, or `nil` if there is no guard.
  private var heartbeats: HeartbeatSender?
  private let patience: Nanoseconds
  /// The tick from which the next `pulse` is due.
  private var nextPulse: Int64 = 0

  /// Creates the loop.
  ///
  /// - Parameters:
  ///   - versions: the versions of the control loops' states; the objects that they refer to must outlive this loop.
  ///   - periods: the periods of the control loops that are longer than the period of this loop.
  ///   - heartbeats: the sender of heartbeats to the guard, or `nil` if there is no guard.
  ///   - patience: the time without progress after which a control loop is reported.
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
    report(.beat(tick.started))
    let advancing = loops.check(at: tick.started)
    beat(tick, advancing)
    var index = 0
    while index < loops.count {
      check(loop: index, at: tick.started)
      index += 1
    }
    advanced |= advancing
    guard advanced == loops.all else { return }
    advanced = 0
    guard tick.index >= nextPulse else { return }
    nextPulse = tick.index + Self.ticksPerPulse
    report(.pulse)
  }

  @_noLocks @_noAllocation
  private mutating func beat(_ tick: Tick, _ advancing: UInt64) {
    let hearing = heartbeats?.send(due: tick.scheduled, at: tick.started, watched: loops.all, advanced: advancing)
    // A guard that has ended is a child of the main thread, which is notified of its end.
    if case .silent? = hearing { report(.guardHangs(tick.started)) }
  }

  @_noLocks @_noAllocation
  private mutating func check(loop index: Int, at now: TickInstant) {
    let silence = loops.silence(index, at: now)
    let bit = UInt64(1) << UInt64(clamping: index)
    if stalled & bit != 0, silence.count <= 0 {
      stalled &= ~bit
      report(.resumed(loop: index))
    } else if stalled & bit == 0, silence.count > patience.count {
      stalled |= bit
      report(.stalled(loop: index, loops.sinceAdvance(index, at: now)))
    }
  }

  /// Sends a notice. If the ring is full, the main thread has hung for some seconds, and it will find older notices
  /// when it continues.
  @_noLocks @_noAllocation
  private mutating func report(_ notice: SupervisorNotice) {
    _ = notices.push(notice)
    bell.ring()
  }
}
