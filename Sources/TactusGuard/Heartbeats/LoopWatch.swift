import Tactus

/// Which loops have advanced since the last heartbeat: what a heartbeat carries.
///
/// For a loop's tick: never blocks, takes no lock, allocates nothing.
public struct LoopWatch: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what is behind a version is atomic.

  /// One loop.
  public struct Watched: BitwiseCopyable {
    /// Where it counts, or `nil` if no loop is watched here.
    var version: LatestVersion?
    /// Of a loop that may be stopped and started again.
    var progress: LoopProgress?
    var last: UInt64 = 0
    /// When it was seen to advance, or was looked at first; `nil` before.
    var advanced: TickInstant?
    /// A slow loop's silence means nothing until its next tick is due.
    var allowance = Nanoseconds.zero
  }

  /// How many loops can be watched.
  public static var capacity: Int {
    @_noLocks @_noAllocation get { 64 }
  }

  private var loops = [64 of Watched](repeating: Watched())
  /// Loops, 0…64.
  public private(set) var count = 0

  /// Watches no loop.
  public init() {}

  /// Watches one loop more, the `count`-th; its silence is counted from the next look on.
  ///
  /// - Parameters:
  ///   - version: what grows as the loop ticks; what it is of must outlive this.
  ///   - period: the loop's: it is given one and a half before its silence means anything.
  @_noLocks @_noAllocation
  public mutating func add(_ version: LatestVersion, period: Nanoseconds) {
    precondition(count < Self.capacity, "at most 64 loops are watched")
    loops[count] = Watched(
      version: version, last: version.read(), allowance: Nanoseconds(period.count &* 3 / 2))
    count &+= 1
  }

  /// Watches a loop of a runtime that may be stopped: it needs no ticks then. What it is of must outlive this.
  @_noLocks @_noAllocation
  public mutating func add(_ progress: LoopProgress) {
    add(progress.version, period: progress.period)
    loops[count &- 1].progress = progress
  }

  /// The bits of all loops.
  public var all: UInt64 {
    @_noLocks @_noAllocation get { count == 0 ? 0 : UInt64.max >> UInt64(clamping: 64 &- count) }
  }

  /// The bits of the loops that have advanced since the last look, or need not have yet.
  @_noLocks @_noAllocation
  public mutating func look(at now: TickInstant) -> UInt64 {
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

  /// For how long the `index`-th loop has not advanced.
  @_noLocks @_noAllocation
  public func sinceAdvance(_ index: Int, at now: TickInstant) -> Nanoseconds { now - (loops[index].advanced ?? now) }

  /// The same beyond what its period allows; zero or less if that is not over.
  @_noLocks @_noAllocation
  public func silence(_ index: Int, at now: TickInstant) -> Nanoseconds {
    sinceAdvance(index, at: now) - loops[index].allowance
  }
}
