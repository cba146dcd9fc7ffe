/// A voltage in whole microvolts, positive or negative.
public struct Microvolts: Sendable, Hashable, BitwiseCopyable {
  /// The number of microvolts.
  public var count: Int64

  /// Creates a voltage of `count` microvolts.
  @_noLocks @_noAllocation
  public init(_ count: Int64) { self.count = count }
}

extension Microvolts: CustomStringConvertible {
  public var description: String { "\(count) µV" }
}
