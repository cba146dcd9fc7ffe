/// Lets so many frames a second pass, evenly spread, and no more.
public struct FrameLimit: Sendable {
  /// Nanoseconds.
  private let period: UInt64
  private var due: UInt64 = 0

  /// - Parameter framesPerSecond: at least 1.
  public init(framesPerSecond: Int) { period = 1_000_000_000 / UInt64(clamping: max(framesPerSecond, 1)) }

  /// - Parameter time: the frame's, nanoseconds of a clock that does not step back. A little early is in time, for no camera is even:
  ///   5 ms, or an eighth of a period where that is less.
  public mutating func passes(at time: UInt64) -> Bool {
    guard time >= due || due - time <= min(period / 8, 5_000_000) else { return false }
    // After a gap it begins anew, without a burst.
    due = time > due &+ period ? time &+ period : due &+ period
    return true
  }
}
