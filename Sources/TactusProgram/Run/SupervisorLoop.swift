import CDaemon
import Tactus

/// What the supervisor tells the main thread.
enum SupervisorNotice: BitwiseCopyable {
  /// Ten times a second, whatever the control loops do.
  case beat(TickInstant)
  /// Every control loop advances; about once a second.
  case pulse
  /// This control loop, by its place in the list, has not ticked for so long.
  case stalled(loop: Int, Nanoseconds)
  case resumed(loop: Int)
}

/// Watches the control loops and passes their signs of life on: to the guard whenever each of them has advanced, to the main
/// thread once a second. Is the main thread's clock besides.
///
/// Runs in a lane of its own at normal priority: when the whole program is starved the guard must hear silence. It has no
/// output: its silence is what makes others safe.
struct SupervisorLoop: ~Copyable, ControlLoop, NoOutput {
  static let rate = Rate.hertz(10)
  static let maximumLoops = 8
  private static var ticksPerPulse: Int64 {
    @_noLocks @_noAllocation get { 10 }
  }

  /// One control loop as the supervisor knows it.
  private struct Watched: BitwiseCopyable {
    /// nil: no loop is watched here.
    var heartbeat: LatestVersion?
    var lastTick: UInt64 = 0
    var advancedAt: TickInstant?
    var isStalled = false
    /// What its own period adds to everybody's patience: a slow loop's silence means nothing until its next tick is due.
    var allowance = Nanoseconds.zero
    /// Since the last sign of life to the guard, or not due yet.
    var hasAdvanced = false
  }

  private var loops: [8 of Watched]
  private let count: Int
  private var notices: RingWriter<SupervisorNotice>
  private let bell: DoorbellButton
  /// −1: there is no guard.
  private let guardSocket: Int32
  private let patience: Nanoseconds
  /// The tick from which on the main thread is told again that all is well.
  private var nextPulse: Int64 = 0

  /// - Parameters:
  ///   - heartbeats: of the control loops, at most 8; what they are of must outlive this loop.
  ///   - periods: of those loops, where they are longer than this loop's own.
  ///   - patience: a control loop that does not advance for longer is reported.
  init(
    heartbeats: [LatestVersion], periods: [Nanoseconds] = [], notices: consuming RingWriter<SupervisorNotice>,
    bell: DoorbellButton,
    guardSocket: Int32, patience: Nanoseconds
  ) {
    precondition(heartbeats.count <= Self.maximumLoops, "at most 8 control loops are watched")
    loops = .init(repeating: Watched(heartbeat: nil))
    for (index, heartbeat) in heartbeats.enumerated() { loops[index] = Watched(heartbeat: heartbeat) }
    for (index, period) in periods.enumerated() { loops[index].allowance = Nanoseconds(period.count * 3 / 2) }
    count = heartbeats.count
    self.notices = notices
    self.bell = bell
    self.guardSocket = guardSocket
    self.patience = patience
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    tell(.beat(tick.started))
    var isWhole = true
    for index in 0..<count {
      look(at: index, now: tick.started)
      if !loops[index].hasAdvanced { isWhole = false }
    }
    guard isWhole else { return }
    for index in 0..<count { loops[index].hasAdvanced = false }
    if guardSocket >= 0 {
      var byte: UInt8 = 0x68  // GuardProcess.heartbeat
      _ = daemon_send(guardSocket, &byte, 1)
    }
    guard tick.index >= nextPulse else { return }
    nextPulse = tick.index + Self.ticksPerPulse
    tell(.pulse)
  }

  @_noLocks @_noAllocation
  private mutating func look(at index: Int, now: TickInstant) {
    guard let heartbeat = loops[index].heartbeat else { return }
    let newest = heartbeat.read()
    if newest != loops[index].lastTick {
      loops[index].lastTick = newest
      loops[index].advancedAt = now
      loops[index].hasAdvanced = true
      if loops[index].isStalled {
        loops[index].isStalled = false
        tell(.resumed(loop: index))
      }
      return
    }
    guard let advancedAt = loops[index].advancedAt else {
      loops[index].advancedAt = now
      return
    }
    let silence = (now - advancedAt).count
    if silence < loops[index].allowance.count { loops[index].hasAdvanced = true }
    if !loops[index].isStalled, silence > patience.count + loops[index].allowance.count {
      loops[index].isStalled = true
      tell(.stalled(loop: index, now - advancedAt))
    }
  }

  /// A full ring means that the main thread has hung for some seconds; it will find older notices when it is back.
  @_noLocks @_noAllocation
  private mutating func tell(_ notice: SupervisorNotice) {
    _ = notices.push(notice)
    bell.ring()
  }
}
