import Buses

extension I2CError {
  /// After a time-out no second transfer is tried: on a stuck bus it costs the tick the same time again.
  var isTimeOut: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .timedOut: true
      case .noAcknowledge, .arbitrationLost, .system: false
      }
    }
  }
}

/// The byte of a servo angle in degrees, rounded, clamped to 0…`limit`; the middle when not a number.
@_noLocks @_noAllocation
func servoAngle(_ degrees: Double, limit: UInt8) -> UInt8 {
  if degrees <= 0 { return 0 }
  if degrees >= Double(limit) { return limit }
  return degrees > 0 ? UInt8(degrees + 0.5) : limit / 2
}
