import Tactus

/// Which loops have advanced since the last heartbeat: what a heartbeat carries.
///
/// For a loop's tick: never blocks, takes no lock, allocates nothing.
public struct LoopWatch: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what is behind a version is atomic.

  /// One loop.
  public struct Watched: BitwiseCopyable {
    /// Where it counts; `nil` if no loop is watched here.
    var version: LatestVersion?
    /// Of a loop that may be stopped and started again.
    var progress: LoopProgress?
    var last: UInt64 = 0
    /// When it was seen to advance, or was looked at first.
    var advanced = TickInstant.zero
    /// A slow loop's silence means nothing until its next tick is due.
    var allowance = Nanoseconds.zero
  }

  public static var capacity: Int {
    @_noLocks @_noAllocation get { 64 }
  }

  private var loops = [64 of Watched](repeating: Watched())
  /// Loops, 0…64.
  public private(set) var count = 0

  public init() {}

  /// Watches one loop more, the `count`-th.
  ///
  /// - Parameters:
  ///   - version: what grows as the loop ticks; what it is of must outlive this.
  ///   - period: the loop's: it is given one and a half before its silence means anything.
  ///   - now: from where its silence is counted.
  @_noLocks @_noAllocation
  public mutating func add(_ version: LatestVersion, period: Nanoseconds, at now: TickInstant) {
    precondition(count < Self.capacity, "at most 64 loops are watched")
    loops[count] = Watched(
      version: version, last: version.read(), advanced: now, allowance: Nanoseconds(period.count &* 3 / 2))
    count &+= 1
  }

  /// Watches a loop of a runtime that may be stopped: it needs no ticks then. What it is of must outlive this.
  @_noLocks @_noAllocation
  public mutating func add(_ progress: LoopProgress, at now: TickInstant) {
    add(progress.version, period: progress.period, at: now)
    loops[count &- 1].progress = progress
  }

  /// The bits of all loops.
  public var all: UInt64 {
    @_noLocks @_noAllocation get { count == 0 ? 0 : UInt64.max >> UInt64(64 &- count) }
  }

  /// The bits of the loops that have advanced since the last look, or need not have yet.
  @_noLocks @_noAllocation
  public mutating func look(at now: TickInstant) -> UInt64 {
    var bits: UInt64 = 0
    var index = 0
    while index < count {
      if advances(index, at: now) { bits |= 1 << UInt64(index) }
      index &+= 1
    }
    return bits
  }

  @_noLocks @_noAllocation
  private mutating func advances(_ index: Int, at now: TickInstant) -> Bool {
    guard let newest = loops[index].version?.read() else { return true }
    let isStopped = loops[index].progress.map { !$0.isRunning } ?? false
    guard newest == loops[index].last, !isStopped else {
      loops[index].last = newest
      loops[index].advanced = now
      return true
    }
    return (now - loops[index].advanced).count < loops[index].allowance.count
  }

  /// For how long the `index`-th loop has not advanced, beyond what its period allows; zero or less if that is not over.
  @_noLocks @_noAllocation
  public func silence(_ index: Int, at now: TickInstant) -> Nanoseconds {
    now - loops[index].advanced - loops[index].allowance
  }
}
