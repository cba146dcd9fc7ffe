import Tactus

/// Adopted by a system whose emergency stop can also be triggered and reset over a link of the loop. The state of such a
/// system states whether the stop is latched.
///
/// In every other system the stop counts as latched from a request for it until an accepted reset.
public protocol Latches: DeviceSystem {
  /// Returns whether the emergency stop is latched. May be called from any thread.
  static func isEmergencyStopped(_ state: State) -> Bool
}

extension Latches {
  static func isLatched(_ state: Any) -> Bool {
    // Of this system.
    isEmergencyStopped(state as! State)
  }
}
