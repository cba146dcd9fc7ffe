/// A frequency in whole hertz, more than 0.
public struct Frequency: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The number of cycles per second.
  public let hertz: Int64

  /// Returns a frequency of `hertz` cycles per second; 0 or less traps.
  @_noLocks @_noAllocation
  public static func hertz(_ hertz: Int64) -> Self { Self(hertz: hertz) }
  /// Returns a frequency of `kilohertz` thousand cycles per second; 0 or less traps.
  @_noLocks @_noAllocation
  public static func kilohertz(_ kilohertz: Int64) -> Self { Self(hertz: kilohertz * 1_000) }

  @_noLocks @_noAllocation
  private init(hertz: Int64) {
    precondition(hertz > 0, "a frequency is more than nothing")
    self.hertz = hertz
  }

  @_noLocks @_noAllocation
  public static func < (left: Self, right: Self) -> Bool { left.hertz < right.hertz }
}

extension Frequency: CustomStringConvertible {
  public var description: String { hertz % 1_000 == 0 ? "\(hertz / 1_000) kHz" : "\(hertz) Hz" }
}
