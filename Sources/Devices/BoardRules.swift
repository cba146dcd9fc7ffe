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
  return degrees > 0 ? UInt8(saturating: degrees + 0.5) : limit / 2
}

/// The first error of a type that a module throws makes the type's witness table, which allocates: one is thrown here, before
/// any tick. Found by RealtimeSanitizer; the compiler's proof does not see it.
/// To be called before the loop that owns a driver runs.
@inline(never) @_optimize(none)
public func prepareDriversToThrow() {
  do throws(I2CError) { throw .system(errno: 0, address: YBPcbCar.standardAddress, register: 0) } catch {}
  do throws(SerialError) { throw .gone } catch {}
}
