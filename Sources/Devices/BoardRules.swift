import Buses

extension I2CError {
  /// Whether the error is a timeout. After a timeout no second transfer is tried, since on a stuck bus it would cost the tick the same time again.
  var isTimeOut: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .timedOut: true
      case .noAcknowledge, .arbitrationLost, .system: false
      }
    }
  }
}

/// Returns the byte of a servo angle in degrees, rounded and clamped to 0…`limit`, or the middle for NaN.
@_noLocks @_noAllocation
func servoAngle(_ degrees: Double, limit: UInt8) -> UInt8 {
  if degrees <= 0 { return 0 }
  if degrees >= Double(limit) { return limit }
  return degrees > 0 ? UInt8(saturating: degrees + 0.5) : limit / 2
}

/// Throws one error before any tick, because the first error of a type that a module throws makes the type's witness table, which
/// allocates. This was found by RealtimeSanitizer; the compiler's proof does not detect it. The function must be called before the
/// loop that owns a driver runs.
@inline(never) @_optimize(none)
public func prepareDriversToThrow() {
  do throws(I2CError) { throw .system(errno: 0, address: YBPcbCar.standardAddress, register: 0) } catch {}
  do throws(SerialError) { throw .gone } catch {}
}
