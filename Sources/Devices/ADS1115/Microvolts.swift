/// A voltage in whole microvolts, either way from zero.
public struct Microvolts: Sendable, Hashable, BitwiseCopyable {
  /// The number of microvolts.
  public var count: Int64

  /// A voltage of so many microvolts.
  @_noLocks @_noAllocation
  public init(_ count: Int64) { self.count = count }
}

extension Microvolts: CustomStringConvertible {
  public var description: String { "\(count) µV" }
}
