import Synchronization

/// A log-linear histogram of fixed size: 16 buckets to each power of two, so that a value is known within 6.25 %.
///
/// Written by one thread, read by any, without a lock: each bucket, and the sum, is a relaxed atomic. Values are
/// nanoseconds, 0 to 2³⁸ (275 s); larger ones count in the last bucket, smaller than 0 as 0.
struct Histogram: ~Copyable {
  static let bucketCount = 35 * 16

  private let buckets: UnsafeMutablePointer<Atomic<UInt64>>
  private let sum = Atomic<Int64>(0)

  init() {
    buckets = .allocate(capacity: Self.bucketCount)
    for index in 0..<Self.bucketCount { (buckets + index).initialize(to: Atomic(0)) }
  }

  deinit {
    buckets.deinitialize(count: Self.bucketCount)
    buckets.deallocate()
  }

  @_noLocks @_noAllocation @inline(__always)
  func record(_ value: Int64) {
    let bucket = buckets + histogramBucket(value)
    bucket.pointee.store(bucket.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    // One writer: no read-modify-write is needed.
    if value > 0 { sum.store(sum.load(ordering: .relaxed) &+ value, ordering: .relaxed) }
  }

  func reset() {
    for index in 0..<Self.bucketCount { buckets[index].store(0, ordering: .relaxed) }
    sum.store(0, ordering: .relaxed)
  }

  /// `least > most` says that there is no value.
  func snapshot(_ least: Int64, _ most: Int64) -> HistogramSnapshot {
    HistogramSnapshot(
      counts: (0..<Self.bucketCount).map { buckets[$0].load(ordering: .relaxed) },
      sum: Nanoseconds(sum.load(ordering: .relaxed)),
      minimum: least <= most ? Nanoseconds(least) : nil, maximum: least <= most ? Nanoseconds(most) : nil)
  }
}

@_noLocks @_noAllocation @inline(__always)
func histogramBucket(_ value: Int64) -> Int {
  guard value >= 16 else { return value > 0 ? Int(value) : 0 }
  let exponent = 63 &- value.leadingZeroBitCount
  guard exponent < 38 else { return 35 &* 16 &- 1 }
  return (exponent &- 3) &* 16 &+ Int((value &>> Int64(exponent &- 4)) & 15)
}

/// A histogram as it was at one instant.
public struct HistogramSnapshot: Sendable, Hashable {
  /// Values per bucket; bucket bounds by `bounds(ofBucket:)`.
  public let counts: [UInt64]
  /// All values together, exact. Read beside a running lane it may lack the newest value, or hold one that no bucket shows
  /// yet.
  public let sum: Nanoseconds
  /// The smallest and the largest value, exact; nil while there is none.
  public let minimum: Nanoseconds?
  public let maximum: Nanoseconds?

  public var count: UInt64 { counts.reduce(0, +) }

  /// The values that fall into a bucket: from the lower bound up to, not including, the upper one.
  public static func bounds(ofBucket index: Int) -> Range<Int64> {
    guard index >= 16 else { return Int64(index)..<Int64(index + 1) }
    let exponent = Int64(index / 16 + 3)
    let width = Int64(1) << (exponent - 4)
    let lower = (16 + Int64(index % 16)) * width
    return lower..<lower + width
  }

  /// The value that `fraction` (0…1) of all values do not exceed, within 6.25 %: the middle of its bucket, held within
  /// the exact extremes. nil while there is no value.
  public func percentile(_ fraction: Double) -> Nanoseconds? {
    precondition((0...1).contains(fraction))
    guard let minimum, let maximum, count > 0 else { return nil }
    let total = count
    let rank = max(1, UInt64((fraction * Double(total)).rounded(.up)))
    guard rank < total else { return maximum }
    var seen: UInt64 = 0
    for (index, inBucket) in counts.enumerated() {
      seen += inBucket
      if seen >= rank {
        let bounds = Self.bounds(ofBucket: index)
        let middle = Nanoseconds(bounds.lowerBound + (bounds.upperBound - 1 - bounds.lowerBound) / 2)
        return min(max(middle, minimum), maximum)
      }
    }
    return maximum
  }
}
