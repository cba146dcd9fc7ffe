import Tactus

// What the board says of itself: its battery, and how far it leans.

extension RobotMachine {
  /// How long a tilt must last before it stops the motors, so that a bump does not.
  static var tiltPatience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(200) }
  }

  /// Notes the battery's charge. At or below the limit the robot drives no more until the charge is five percent above it.
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

  /// Notes how far the robot leans. A tilt beyond the limit that lasts is a fault.
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

  /// Makes an empty battery the reason of every standstill, whatever else ended the motion.
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
