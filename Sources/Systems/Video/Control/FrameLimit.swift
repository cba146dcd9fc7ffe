/// Limits the number of frames a second by letting evenly spread frames pass.
public struct FrameLimit: Sendable {
  /// The shortest time between two frames, in nanoseconds.
  private let period: UInt64
  private var due: UInt64 = 0

  /// Creates a limit of `framesPerSecond` frames a second.
  ///
  /// - Parameter framesPerSecond: the limit, at least 1.
  public init(framesPerSecond: Int) { period = 1_000_000_000 / UInt64(clamping: max(framesPerSecond, 1)) }

  /// Returns whether the frame at `time` may pass.
  ///
  /// - Parameter time: the time of the frame in nanoseconds of a clock that does not step back. A frame may be early by 5 ms or an eighth
  ///   of a period, whichever is less, because the frames of cameras are not evenly spaced.
  public mutating func passes(at time: UInt64) -> Bool {
    guard time >= due || due - time <= min(period / 8, 5_000_000) else { return false }
    // After a gap the period begins anew, without a burst.
    due = time > due &+ period ? time &+ period : due &+ period
    return true
  }
}
