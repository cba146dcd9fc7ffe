import Synchronization

/// A log-linear histogram of fixed size: 16 buckets to each power of two, so that a value is known within 6.25 %.
///
/// Written by one thread, read by any, without a lock: each bucket, and the sum, is a relaxed atomic. Values are
/// nanoseconds, 0 to 2⁴⁵ (9.8 h); larger ones count in the last bucket, smaller than 0 as 0.
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

  /// Records `count` values, `largest`, `largest − step`, and so on, as `record` would one by one: negative ones count as 0.
  /// `step` is more than 0.
  ///
  /// Bounded by the number of buckets, whatever `count` is: each turn of the loop empties one bucket's share.
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

  /// `least > most` says that there is no value.
  func snapshot(_ least: Int64, _ most: Int64) -> HistogramSnapshot {
    HistogramSnapshot(
      counts: (0..<Self.bucketCount).map { buckets[$0].load(ordering: .relaxed) },
      sum: Nanoseconds(sum.load(ordering: .relaxed)),
      minimum: least <= most ? Nanoseconds(least) : nil, maximum: least <= most ? Nanoseconds(most) : nil)
  }
}

/// Values from two to the power of this on count in the last bucket.
private var histogramTopExponent: Int {
  @_noLocks @_noAllocation @inline(__always) get { 45 }
}

/// The sum of `largest`, `largest − step`, …, held at the largest that fits.
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

/// The smallest value of a bucket.
@_noLocks @_noAllocation @inline(__always)
func histogramLowerBound(_ index: Int) -> Int64 {
  guard index >= 16 else { return Int64(truncatingIfNeeded: index) }
  return Int64(truncatingIfNeeded: 16 &+ index & 15) &<< Int64(truncatingIfNeeded: index &>> 4 &- 1)
}

/// A histogram as it was at one instant.
public struct HistogramSnapshot: Sendable, Hashable {
  /// Values per bucket; bucket bounds by `bounds(ofBucket:)`.
  public let counts: [UInt64]
  /// All values together, exact up to 292 years, at which it stays.
  public let sum: Nanoseconds
  /// The smallest value, exact; `nil` in an empty histogram.
  public let minimum: Nanoseconds?
  /// The largest value, exact; `nil` in an empty histogram.
  public let maximum: Nanoseconds?

  /// How many values there are.
  public var count: UInt64 { counts.reduce(0, +) }

  /// The values that fall into a bucket: from the lower bound up to, not including, the upper one. The last bucket also
  /// counts all that is larger.
  public static func bounds(ofBucket index: Int) -> Range<Int64> {
    histogramLowerBound(index)..<histogramLowerBound(index + 1)
  }

  /// The value that `fraction` (0…1) of all values do not exceed, within 6.25 %: the middle of its bucket, held within
  /// the exact extremes. `nil` while there is no value.
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
