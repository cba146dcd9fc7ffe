/// A voltage in whole millivolts, 0…65535.
public struct Millivolts: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var count: UInt16

  @_noLocks @_noAllocation
  @inlinable public init(_ count: UInt16) { self.count = count }

  @_noLocks @_noAllocation
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.count < right.count }
}
