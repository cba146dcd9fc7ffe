import Tactus

extension Nanoseconds {
  /// From seconds in a tick: rounded to the nearest nanosecond, the longest span there is where that is not enough
  /// (±292 years); `nil` for NaN. Back with `inSeconds`.
  @_noLocks @_noAllocation @inlinable
  public init?(clampingSeconds seconds: Double) {
    guard let count = Math.integer(seconds * 1e9) else { return nil }
    self.init(Int64(count))
  }
}
