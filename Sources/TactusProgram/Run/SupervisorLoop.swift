import CDaemon
import Robot
import Tactus

/// What the supervisor tells the main thread.
enum SupervisorNotice: BitwiseCopyable {
  /// Ten times a second, whatever the control loop does.
  case beat(TickInstant)
  /// The control loop advances; about once a second.
  case pulse
  /// The control loop has not ticked for so long.
  case stalled(Nanoseconds)
  case resumed
}

/// Watches the control loop and passes its signs of life on: to the guard with every advance, to the main thread once a
/// second. Is the main thread's clock besides.
///
/// Runs in a lane of its own at normal priority: when the whole program is starved the guard must hear silence.
struct SupervisorLoop: ~Copyable, ControlLoop {
  static let rate = Rate.hertz(10)
  private static var ticksPerPulse: Int64 {
    @_noLocks @_noAllocation get { 10 }
  }

  private var robot: LatestReader<RobotSnapshot>
  private var notices: RingWriter<SupervisorNotice>
  private let bell: DoorbellButton
  /// −1: there is no guard.
  private let guardSocket: Int32
  private let patience: Nanoseconds
  private var lastTick = TickInstant.zero
  private var advancedAt: TickInstant?
  private var isStalled = false

  /// `patience`: a control loop that does not advance for longer is reported.
  init(
    robot: consuming LatestReader<RobotSnapshot>, notices: consuming RingWriter<SupervisorNotice>, bell: DoorbellButton,
    guardSocket: Int32, patience: Nanoseconds
  ) {
    self.robot = robot
    self.notices = notices
    self.bell = bell
    self.guardSocket = guardSocket
    self.patience = patience
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    tell(.beat(tick.started))
    let newest = robot.read().at
    guard newest.nanoseconds != lastTick.nanoseconds else { return wait(at: tick.started) }
    lastTick = newest
    advancedAt = tick.started
    if isStalled {
      isStalled = false
      tell(.resumed)
    }
    if guardSocket >= 0 {
      var byte: UInt8 = 0x68  // GuardProcess.heartbeat
      _ = daemon_send(guardSocket, &byte, 1)
    }
    if tick.index % Self.ticksPerPulse == 0 { tell(.pulse) }
  }

  @_noLocks @_noAllocation
  private mutating func wait(at now: TickInstant) {
    guard let advancedAt else {
      advancedAt = now
      return
    }
    if !isStalled, (now - advancedAt).count > patience.count {
      isStalled = true
      tell(.stalled(now - advancedAt))
    }
  }

  /// A full ring means that the main thread has hung for some seconds; it will find older notices when it is back.
  @_noLocks @_noAllocation
  private mutating func tell(_ notice: SupervisorNotice) {
    _ = notices.push(notice)
    bell.ring()
  }
}
