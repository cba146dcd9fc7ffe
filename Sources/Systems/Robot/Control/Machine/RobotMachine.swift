import Tactus

/// The control rules of the device side: which source may drive, how fast, and when the motors must stop.
///
/// The machine only decides. The loop passes every input as an event and applies `RobotAction.output` to the motors; the events with
/// their instants replay any incident. The rules are numbered in the folder's README.
public struct RobotMachine: Sendable, Hashable, BitwiseCopyable {
  public internal(set) var state: RobotState
  public internal(set) var settings: RobotSettings
  /// The instant at which a command other than zero last arrived, obeyed or not, or `nil` if none has. Such a command means that a stick is held.
  var lastNonZeroCommand: TickInstant?
  /// The source of the command that arrived at `lastNonZeroCommand`, or `nil` if that is not known.
  var lastNonZeroSource: ControlSource?

  /// The distance ahead. It matters only if the settings watch it.
  var clearance = Clearance.unknown

  /// The charge in percent at which the battery became empty, or `nil` if it is not.
  var batteryStop: Int?
  /// The instant since which the robot leans too far, or `nil` if it does not.
  var tiltedSince: TickInstant?

  /// Creates a machine in the stopped state. The stop is not yet confirmed; the first tick writes it.
  ///
  /// - Parameter afterOutsideStop: whether something outside the program has stopped the motors since the last machine drove them, as the
  ///   guard does when the program dies. If so, a stick that is held must come to zero first.
  @_noLocks @_noAllocation
  public init(_ settings: RobotSettings, afterOutsideStop: Bool = false) {
    self.settings = settings
    let mustLetGo = afterOutsideStop && Mechanism.letGoAfterDeath.acts
    state = .stopped(
      Standstill(reason: mustLetGo ? .externalStop : .start, confirmation: .pending(failures: 0), holder: nil))
  }

  /// The instant at which the failsafe expires without a further command, or at which the rest after a clock change ends; `nil` unless the robot is
  /// driving.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .driving(let control) = state, let failsafe = failsafe(control.holder).expiresAt else { return nil }
      guard let rest = control.restsUntil, rest < failsafe else { return failsafe }
      return rest
    }
  }

  /// The time for which the motors stand still before commands stamped by a changed clock are followed: long enough to be seen on the bus, too short
  /// to be felt.
  static var restBetweenClocks: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(1) }
  }

  /// Returns the failsafe timer, which only accepted commands of the controlling source restart.
  @_noLocks @_noAllocation
  private func failsafe(_ holder: Holder) -> Deadman {
    Deadman(timeout: settings.failsafeTimeout, fedAt: Mechanism.failsafe.acts ? holder.lastCommand : nil)
  }

  /// Handles one event at one instant and returns the response. Instants must never decrease. The function never blocks and never allocates.
  ///
  /// The failsafe is checked first, whatever the event: at or after `nextDeadline` the response stops the motors, even when the event is
  /// a command that comes too late. Such a command takes control again and drives from the next step.
  @_noLocks @_noAllocation
  public mutating func step(_ event: RobotEvent, at now: TickInstant) -> RobotAction {
    if case .settings(let new) = event { settings = new }
    let expired = expire(at: now)
    var action = respond(to: event, at: now, startsFromNow: expired)
    if expired { action.output = .stop }
    standForBattery()
    return action
  }

  @_noLocks @_noAllocation
  private mutating func respond(
    to event: RobotEvent, at now: TickInstant, startsFromNow: Bool
  ) -> RobotAction {
    switch event {
    case .command(.drive(let speeds), let timestamp, let source):
      guard speeds.left.value.isFinite, speeds.right.value.isFinite else { return .ignored(.notFinite) }
      if speeds.isZero { return halt(timestamp, from: source, takesControl: true, at: now) }
      return drive(speeds, timestamp, from: source, startsFromNow: startsFromNow, at: now)
    case .command(.twist(let twist), let timestamp, let source):
      guard twist.isInRange else { return .ignored(.notFinite) }
      if twist.isZero { return halt(timestamp, from: source, takesControl: true, at: now) }
      guard let geometry = settings.geometry else {
        holdsStick(source, at: now)
        return .ignored(.noGeometry)
      }
      let (speeds, share) = geometry.wheels(twist, limit: settings.speedLimit)
      return drive(speeds, share: share, timestamp, from: source, startsFromNow: startsFromNow, at: now)
    case .command(.stop, let timestamp, let source):
      return halt(timestamp, from: source, takesControl: false, at: now)
    case .command(.emergencyStop, _, let source):
      guard Mechanism.emergencyStopLatch.acts else {
        return halt(nil, from: source, takesControl: false, at: now)
      }
      return emergencyStop(by: source)
    case .command(.reset, _, let source):
      return reset(by: source, at: now)
    case .command(.query, _, _):
      return RobotAction(.none)
    case .stale(let isDrive):
      if isDrive { lastNonZeroCommand = now }
      return .ignored(.stale)
    case .clearance(let new):
      // The new distance takes effect with the next command or tick.
      clearance = new
      return RobotAction(.none)
    case .battery(let percent): return hearBattery(percent)
    case .tilt(let degrees): return hearTilt(degrees, at: now)
    case .attitudeLost:
      tiltedSince = nil
      return RobotAction(.none)
    case .tick, .settings:
      return refresh(at: now)
    case .driveConfirmed, .driveFailed, .stopConfirmed, .stopFailed:
      return feedback(event)
    case .externalStop:
      return externalStop()
    case .missed(let releases):
      return fail(.missedReleases(releases))
    case .shutdown:
      if case .shutDown = state { return RobotAction(.stop) }
      guard Mechanism.shutdownFinal.acts else {
        state = .stopped(Standstill(reason: .start, confirmation: .pending(failures: failures), holder: nil))
        return RobotAction(.stop)
      }
      state = .shutDown(.pending(failures: failures))
      return RobotAction(.stop)
    }
  }

  /// Takes control from a source that was silent for the failsafe timeout, and ends a rest. Returns whether a motion was stopped.
  @_noLocks @_noAllocation
  private mutating func expire(at now: TickInstant) -> Bool {
    switch state {
    case .driving(var control):
      if failsafe(control.holder).hasExpired(at: now) {
        state = .stopped(
          Standstill(reason: .silence, confirmation: .pending(failures: control.failures), holder: nil))
        return true
      }
      if let rest = control.restsUntil, now >= rest {
        control.restsUntil = nil
        state = .driving(control)
      }
      return false
    case .stopped(var standstill):
      guard let holder = standstill.holder, failsafe(holder).hasExpired(at: now) else { return false }
      standstill.holder = nil
      state = .stopped(standstill)
      return false
    case .emergencyStopped, .fault, .shutDown:
      return false
    }
  }

  /// Returns the output in force, brought up to `now`. The output is written again at every tick, so that a board that lost its state
  /// receives it again.
  @_noLocks @_noAllocation
  mutating func refresh(at now: TickInstant) -> RobotAction {
    guard case .driving(var control) = state, case nil = control.restsUntil else {
      return RobotAction(Mechanism.offUntilConfirmed.acts ? .stop : .none)
    }
    if case .none = control.batteryStop { control.batteryStop = batteryStop }
    if let charge = control.batteryStop {
      control.fade(to: now, settings)
      if control.output.isZero {
        state = .stopped(
          Standstill(
            reason: .batteryEmpty(percent: charge), confirmation: .pending(failures: control.failures),
            holder: nil))
        return RobotAction(.stop)
      }
    } else {
      control.hold(forwardStop)
      control.ramp(to: now, settings)
    }
    state = .driving(control)
    return RobotAction(.drive(control.output))
  }

  /// The number of motor writes that failed in a row, whether drives or stops.
  var failures: Int {
    @_noLocks @_noAllocation get {
      switch state {
      case .stopped(let standstill): standstill.confirmation.failures
      case .driving(let control): control.failures
      case .emergencyStopped(let stop): stop.confirmation.failures
      case .fault(let fault): fault.confirmation.failures
      case .shutDown(let confirmation): confirmation.failures
      }
    }
  }
}

// The rules of the battery's charge and of the tilt.

extension RobotMachine {
  /// The time for which a tilt must last before it stops the motors. It keeps a short bump from stopping them.
  static var tiltPatience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(200) }
  }

  /// Records the battery's charge. At or below the limit the robot does not drive until the charge is five percent above the limit.
  @_noLocks @_noAllocation
  mutating func hearBattery(_ percent: Int) -> RobotAction {
    guard let limit = settings.batteryStopPercent, Mechanism.batteryLimit.acts else { return RobotAction(.none) }
    if percent <= limit {
      batteryStop = percent
    } else if percent >= limit + 5 || percent >= 100 {
      batteryStop = nil
    }
    return RobotAction(.none)
  }

  /// Records the tilt. A tilt beyond the limit that lasts for `tiltPatience` is a fault.
  @_noLocks @_noAllocation
  mutating func hearTilt(_ degrees: Double, at now: TickInstant) -> RobotAction {
    guard let limit = settings.tiltStopDegrees, degrees > Double(limit), Mechanism.tiltStop.acts else {
      tiltedSince = nil
      return RobotAction(.none)
    }
    let since = tiltedSince ?? now
    tiltedSince = since
    return now - since >= Self.tiltPatience ? fail(.tilted(degrees: Int(saturating: degrees))) : RobotAction(.none)
  }

  /// Makes the empty battery the reason for the standstill, whatever else ended the motion.
  @_noLocks @_noAllocation
  mutating func standForBattery() {
    guard let batteryStop, case .stopped(var standstill) = state, !standstill.reason.isBatteryEmpty else { return }
    standstill.reason = .batteryEmpty(percent: batteryStop)
    standstill.holder = nil
    state = .stopped(standstill)
  }
}

extension StopReason {
  var isBatteryEmpty: Bool {
    @_noLocks @_noAllocation get {
      if case .batteryEmpty = self { return true }
      return false
    }
  }

  /// Whether every stick must come to zero before its source may drive on.
  var needsRest: Bool {
    @_noLocks @_noAllocation get { isExternalStop || isBatteryEmpty }
  }
}
