import Tactus

extension Nanoseconds {
  /// Converts seconds, rounded to the nearest nanosecond, for use in a tick. Beyond ±292 years the result is the longest span, and
  /// for NaN it is `nil`. `inSeconds` converts back.
  @_noLocks @_noAllocation @inlinable
  public init?(clampingSeconds seconds: Double) {
    guard let count = Math.integer(seconds * 1e9) else { return nil }
    self.init(Int64(count))
  }
}
