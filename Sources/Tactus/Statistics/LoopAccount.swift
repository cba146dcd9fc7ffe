/// A lane's account of one loop, published at the beginning and at the end of each tick. Instants and times are in nanoseconds. All
/// fields are whole words, since the account is copied by words.
struct LoopAccount: BitwiseCopyable {
  var ran: Int64 = 0
  var skipped: Int64 = 0
  var byDeadline: Int64 = 0
  var byInput: Int64 = 0
  var overruns: Int64 = 0
  var oversleeps: Int64 = 0
  var deadlineMisses: Int64 = 0
  var safeStates: Int64 = 0

  // The smallest and the largest latency and execution time so far. The least is greater than the most until there is one.
  var leastLatency = Int64.max
  var mostLatency = Int64.min
  var leastExecution = Int64.max
  var mostExecution = Int64.min

  /// The longest time between the starts of two consecutive ticks, and the instant at which it began. Both are 0 until two ticks have started.
  var longestGap: Int64 = 0
  var longestGapFrom: Int64 = 0

  /// The loop's present activity and the instant at which it began.
  var activitySince = Int64.min
  var activity = LoopActivity.waiting
  /// The deadline of the periodic release that is running, or `.max` if none is running.
  var runningDeadline = Int64.max

  /// The instant of the oldest periodic release that was neither run nor given up, or `.max` before the start.
  var nextRelease = Int64.max
  var period: Int64 = 1
  var deadline: Int64 = 0
}

/// The activity of a loop at an instant: an enumeration that fills a word, since it is copied by words.
struct LoopActivity: Hashable, BitwiseCopyable {
  private let number: Int64

  @_noLocks @_noAllocation @inline(__always)
  private init(_ number: Int64) { self.number = number }

  static var waiting: Self { @_noLocks @_noAllocation @inline(__always) get { Self(0) } }
  static var tick: Self { @_noLocks @_noAllocation @inline(__always) get { Self(1) } }
  static var safeState: Self { @_noLocks @_noAllocation @inline(__always) get { Self(2) } }
}

extension LoopAccount {
  /// Returns the number of periodic releases that are due at `instant` and have not run.
  func pending(at instant: Int64) -> Int64 {
    instant < nextRelease ? 0 : (instant - nextRelease) / period + 1
  }

  /// Returns the number of pending or running releases whose deadline has passed at `instant`.
  func overdue(at instant: Int64) -> Int64 {
    let running: Int64 = activity == .tick && instant > runningDeadline ? 1 : 0
    // A tick that ends at its deadline is on time, so the first that is late has its deadline a nanosecond earlier.
    guard instant > nextRelease, instant - nextRelease > deadline else { return running }
    return running + (instant - nextRelease - deadline - 1) / period + 1
  }

  /// Returns the counters for a reader at `instant`. They include overruns and misses of the running tick, which are charged at its end.
  func counters(at instant: Int64) -> LoopCounters {
    let isRunning = activity == .tick
    let pending = pending(at: instant)
    return LoopCounters(
      released: ran + skipped + pending, ran: ran, skipped: skipped, pending: pending, byDeadline: byDeadline,
      byInput: byInput, overruns: overruns + (isRunning && instant - activitySince > period ? 1 : 0),
      oversleeps: oversleeps, deadlineMisses: deadlineMisses + (isRunning && instant > runningDeadline ? 1 : 0),
      safeStates: safeStates)
  }
}
