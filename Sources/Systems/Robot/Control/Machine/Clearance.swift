import Tactus
import Wire

/// The distance ahead by the board's distance sensor.
public enum Clearance: Sendable, Hashable, BitwiseCopyable {
  /// The nearest thing ahead is this far away.
  case distance(millimetres: Int)
  /// There is no valid reading that is recent enough.
  case unknown
}

/// The reason why the robot does not drive forward, although its controlling source asks for it.
public enum ForwardStop: Sendable, Hashable, BitwiseCopyable {
  /// Something ahead was nearer than `RobotSettings.stopWithinMillimetres`. The distance is the last one that was too small.
  case obstacle(millimetres: Int)
  /// The distance ahead was not known.
  case distanceUnknown

  @_noLocks @_noAllocation
  func isSameKind(as other: ForwardStop) -> Bool {
    switch (self, other) {
    case (.obstacle, .obstacle), (.distanceUnknown, .distanceUnknown): true
    default: false
    }
  }
}

extension RobotMachine {
  /// The reason why nothing may drive forward now, or `nil` if the way is clear or the distance is not watched.
  var forwardStop: ForwardStop? {
    @_noLocks @_noAllocation get {
      guard let least = settings.stopWithinMillimetres, Mechanism.stopWithin.acts else { return nil }
      switch clearance {
      case .distance(let millimetres): return millimetres < least ? .obstacle(millimetres: millimetres) : nil
      case .unknown: return .distanceUnknown
      }
    }
  }
}

extension Control {
  /// Ends forward motion for `reason` until the source asks for something else than forward motion, so that the robot does not drive on by
  /// itself when an obstacle goes away.
  @_noLocks @_noAllocation
  mutating func hold(_ reason: ForwardStop?) {
    guard target.left.value + target.right.value > 0 else {
      forwardStop = nil
      return
    }
    if case .some = reason { forwardStop = reason }
  }
}

extension WheelSpeeds {
  /// The turn on the spot that is part of this motion.
  var turn: WheelSpeeds {
    @_noLocks @_noAllocation get {
      let half = 0.5 * (right.value - left.value)
      return WheelSpeeds(left: Percent(-half), right: Percent(half))
    }
  }

  /// The turn of `turn`, with both wheels as fast as the slower one.
  var evenTurn: WheelSpeeds {
    @_noLocks @_noAllocation get {
      let (one, other) = (left.value.magnitude, right.value.magnitude)
      let speed = one < other ? one : other
      return WheelSpeeds(
        left: Percent(left.value < 0 ? -speed : speed), right: Percent(right.value < 0 ? -speed : speed))
    }
  }
}
