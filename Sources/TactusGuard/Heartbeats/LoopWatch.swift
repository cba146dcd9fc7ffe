import Tactus

/// The record of which loops have made progress since the last heartbeat, which each heartbeat carries.
///
/// The type may be used in a loop's tick: it never blocks, takes no lock and allocates nothing.
public struct LoopWatch: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what is behind a version is atomic.

  /// The record of one watched loop.
  public struct Watched: BitwiseCopyable {
    /// The version that grows as the loop ticks, or `nil` if no loop is watched in this place.
    var version: LatestVersion?
    /// The progress of a loop that may be stopped and started again, or `nil` for a loop that always needs ticks.
    var progress: LoopProgress?
    var last: UInt64 = 0
    /// The instant at which the loop was last seen to make progress, or was first looked at; `nil` before the first look.
    var advanced: TickInstant?
    /// The time without progress that is normal for the loop. For a slow loop silence means nothing until its next tick is due.
    var allowance = Nanoseconds.zero
  }

  /// The number of loops that can be watched.
  public static var capacity: Int {
    @_noLocks @_noAllocation get { 64 }
  }

  private var loops = [64 of Watched](repeating: Watched())
  /// The number of watched loops, 0…64.
  public private(set) var count = 0

  /// Creates a watch without loops.
  public init() {}

  /// Adds a loop to the watch, as loop number `count`. Its silence counts from the next look on.
  ///
  /// - Parameters:
  ///   - version: the version that grows as the loop ticks; its owner must outlive this watch.
  ///   - period: the loop's period. A silence of up to one and a half periods is normal.
  @_noLocks @_noAllocation
  public mutating func add(_ version: LatestVersion, period: Nanoseconds) {
    precondition(count < Self.capacity, "at most 64 loops are watched")
    loops[count] = Watched(
      version: version, last: version.read(), allowance: Nanoseconds(period.count &* 3 / 2))
    count &+= 1
  }

  /// Adds a loop of a runtime that may be stopped, in which case the loop needs no ticks. The owner of `progress` must outlive this watch.
  @_noLocks @_noAllocation
  public mutating func add(_ progress: LoopProgress) {
    add(progress.version, period: progress.period)
    loops[count &- 1].progress = progress
  }

  /// The bits of all watched loops.
  public var all: UInt64 {
    @_noLocks @_noAllocation get { count == 0 ? 0 : UInt64.max >> UInt64(clamping: 64 &- count) }
  }

  /// Returns the bits of the loops that have made progress since the last check, or that need not have yet.
  @_noLocks @_noAllocation
  public mutating func check(at now: TickInstant) -> UInt64 {
    var bits: UInt64 = 0
    var index = 0
    while index < count {
      if advances(index, at: now) { bits |= 1 << UInt64(clamping: index) }
      index &+= 1
    }
    return bits
  }

  @_noLocks @_noAllocation
  private mutating func advances(_ index: Int, at now: TickInstant) -> Bool {
    guard let newest = loops[index].version?.read() else { return true }
    let isStopped = loops[index].progress.map { !$0.isRunning } ?? false
    guard newest == loops[index].last, !isStopped, let advanced = loops[index].advanced else {
      loops[index].last = newest
      loops[index].advanced = now
      return true
    }
    return (now - advanced).count < loops[index].allowance.count
  }

  /// Returns the time since loop `index` last made progress.
  @_noLocks @_noAllocation
  public func sinceAdvance(_ index: Int, at now: TickInstant) -> Nanoseconds { now - (loops[index].advanced ?? now) }

  /// Returns the time by which the loop's silence exceeds the silence that its period allows; zero or less if it does not.
  @_noLocks @_noAllocation
  public func silence(_ index: Int, at now: TickInstant) -> Nanoseconds {
    sinceAdvance(index, at: now) - loops[index].allowance
  }
}
