/// A voltage in whole microvolts, either way from zero.
public struct Microvolts: Sendable, Hashable, BitwiseCopyable {
  public var count: Int64

  @_noLocks @_noAllocation
  public init(_ count: Int64) { self.count = count }
}

extension Microvolts: CustomStringConvertible {
  public var description: String { "\(count) µV" }
}
