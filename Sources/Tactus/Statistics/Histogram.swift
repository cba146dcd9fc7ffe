import Synchronization

/// A log-linear histogram of fixed size with 16 buckets for each power of two, so that values are known within 6.25 %.
///
/// One thread writes and any thread reads without a lock: each bucket, and the sum, is a relaxed atomic. Values are nanoseconds
/// from 0 to 2⁴⁵ (9.8 h); larger values count in the last bucket, and negative values as 0.
struct Histogram: ~Copyable {
  static let bucketCount = (histogramTopExponent - 3) * 16

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
    if value > 0 { add(value) }
  }

  /// Records `count` values, `largest`, `largest − step` and so on, as calls of `record` would: negative values count as 0. `step` is more than 0.
  ///
  /// The time is bounded by the number of buckets, whatever `count` is: each turn of the loop empties one bucket's share.
  @_noLocks @_noAllocation @inline(never)
  func record(seriesFrom largest: Int64, step: Int64, count: Int64) {
    var value = largest
    var left = count
    while left > 0 {
      let index = histogramBucket(value)
      let above = value &- histogramLowerBound(index)
      var inBucket = above / step &+ 1
      // The first bucket has no lower bound: it takes everything that is 0 or less, and so all the rest.
      if inBucket > left || value <= 0 { inBucket = left }
      let bucket = buckets + index
      bucket.pointee.store(
        bucket.pointee.load(ordering: .relaxed) &+ UInt64(truncatingIfNeeded: inBucket), ordering: .relaxed)
      value &-= inBucket &* step
      left &-= inBucket
    }
    // As in `record`, only positive values are added.
    guard largest > 0 else { return }
    let positive = (largest &- 1) / step &+ 1
    add(seriesSum(largest, step: step, count: count < positive ? count : positive))
  }

  @_noLocks @_noAllocation @inline(__always)
  private func add(_ value: Int64) {
    let (total, isTooLarge) = sum.load(ordering: .relaxed).addingReportingOverflow(value)
    sum.store(isTooLarge ? .max : total, ordering: .relaxed)
  }

  func reset() {
    for index in 0..<Self.bucketCount { buckets[index].store(0, ordering: .relaxed) }
    sum.store(0, ordering: .relaxed)
  }

  /// Returns a copy of the histogram. `least > most` means that there is no value.
  func snapshot(_ least: Int64, _ most: Int64) -> HistogramSnapshot {
    HistogramSnapshot(
      counts: (0..<Self.bucketCount).map { buckets[$0].load(ordering: .relaxed) },
      sum: Nanoseconds(sum.load(ordering: .relaxed)),
      minimum: least <= most ? Nanoseconds(least) : nil, maximum: least <= most ? Nanoseconds(most) : nil)
  }
}

/// The power of two from which on values count in the last bucket.
private var histogramTopExponent: Int {
  @_noLocks @_noAllocation @inline(__always) get { 45 }
}

/// Returns the sum of `largest`, `largest − step` and so on, or the largest number that fits if the sum overflows.
@_noLocks @_noAllocation
private func seriesSum(_ largest: Int64, step: Int64, count: Int64) -> Int64 {
  // count × (largest + smallest) / 2, of which one factor is even.
  let both = largest &+ largest &- (count &- 1) &* step
  let (one, other) = count & 1 == 0 ? (count / 2, both) : (count, both / 2)
  let (sum, isTooLarge) = one.multipliedReportingOverflow(by: other)
  return isTooLarge ? .max : sum
}

@_noLocks @_noAllocation @inline(__always)
func histogramBucket(_ value: Int64) -> Int {
  guard value >= 16 else { return value > 0 ? Int(value) : 0 }
  let exponent = 63 &- value.leadingZeroBitCount
  guard exponent < histogramTopExponent else { return (histogramTopExponent &- 3) &* 16 &- 1 }
  return (exponent &- 3) &* 16 &+ Int((value &>> Int64(exponent &- 4)) & 15)
}

/// Returns the smallest value that falls into a bucket.
@_noLocks @_noAllocation @inline(__always)
func histogramLowerBound(_ index: Int) -> Int64 {
  guard index >= 16 else { return Int64(truncatingIfNeeded: index) }
  return Int64(truncatingIfNeeded: 16 &+ index & 15) &<< Int64(truncatingIfNeeded: index &>> 4 &- 1)
}

/// A copy of a histogram at one instant.
public struct HistogramSnapshot: Sendable, Hashable {
  /// The number of values in each bucket. `bounds(ofBucket:)` returns the limits of a bucket.
  public let counts: [UInt64]
  /// The sum of all values, exact up to 292 years, where it stays.
  public let sum: Nanoseconds
  /// The smallest value, exact, or `nil` if the histogram is empty.
  public let minimum: Nanoseconds?
  /// The largest value, exact, or `nil` if the histogram is empty.
  public let maximum: Nanoseconds?

  /// The number of values.
  public var count: UInt64 { counts.reduce(0, +) }

  /// Returns the range of values that fall into a bucket, without the upper bound. The last bucket also counts all larger values.
  public static func bounds(ofBucket index: Int) -> Range<Int64> {
    histogramLowerBound(index)..<histogramLowerBound(index + 1)
  }

  /// Returns the value that `fraction` (0…1) of all values do not exceed, within 6.25 %: the middle of its bucket, limited to the
  /// exact extremes. Returns `nil` if the histogram is empty.
  public func percentile(_ fraction: Double) -> Nanoseconds? {
    require((0...1).contains(fraction), "a fraction is 0…1")
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
