import Synchronization

/// A loop's accounts and histograms, written by its lane and read from any thread without stopping it.
///
/// Counters are published under a version number (odd while the lane writes): a reader tries again until it has a whole
/// set, so that `released = ran + skipped + pending` holds in everything it hands out. The lane never waits.
struct LoopRecord: ~Copyable {
  private let version = Atomic<UInt64>(0)
  private let words: UnsafeMutablePointer<Atomic<Int64>>
  let latency = Histogram()
  let execution = Histogram()

  /// Counters, then the extremes of latency and execution.
  private static let wordCount = 14

  init() {
    words = .allocate(capacity: Self.wordCount)
    for index in 0..<Self.wordCount { (words + index).initialize(to: Atomic(0)) }
    publish(LoopCounters(), Extremes())
  }

  deinit {
    words.deinitialize(count: Self.wordCount)
    words.deallocate()
  }

  /// Empties everything. Only while no lane writes.
  func reset() {
    latency.reset()
    execution.reset()
    publish(LoopCounters(), Extremes())
  }

  @_noLocks @_noAllocation @inline(__always)
  func publish(_ counters: LoopCounters, _ extremes: Extremes) {
    let next = version.load(ordering: .relaxed) &+ 1
    version.store(next, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    words[0].store(counters.released, ordering: .relaxed)
    words[1].store(counters.ran, ordering: .relaxed)
    words[2].store(counters.skipped, ordering: .relaxed)
    words[3].store(counters.pending, ordering: .relaxed)
    words[4].store(counters.byDeadline, ordering: .relaxed)
    words[5].store(counters.byInput, ordering: .relaxed)
    words[6].store(counters.overruns, ordering: .relaxed)
    words[7].store(counters.oversleeps, ordering: .relaxed)
    words[8].store(counters.deadlineMisses, ordering: .relaxed)
    words[9].store(counters.safeStates, ordering: .relaxed)
    words[10].store(extremes.leastLatency, ordering: .relaxed)
    words[11].store(extremes.mostLatency, ordering: .relaxed)
    words[12].store(extremes.leastExecution, ordering: .relaxed)
    words[13].store(extremes.mostExecution, ordering: .relaxed)
    version.store(next &+ 1, ordering: .releasing)
  }

  func read() -> (LoopCounters, Extremes) {
    while true {
      let before = version.load(ordering: .acquiring)
      guard before & 1 == 0 else { continue }
      let values = (0..<Self.wordCount).map { words[$0].load(ordering: .relaxed) }
      atomicMemoryFence(ordering: .acquiring)
      guard version.load(ordering: .relaxed) == before else { continue }
      let counters = LoopCounters(
        released: values[0], ran: values[1], skipped: values[2], pending: values[3], byDeadline: values[4],
        byInput: values[5], overruns: values[6], oversleeps: values[7], deadlineMisses: values[8],
        safeStates: values[9])
      let extremes = Extremes(
        leastLatency: values[10], mostLatency: values[11], leastExecution: values[12], mostExecution: values[13])
      return (counters, extremes)
    }
  }
}

/// Smallest and largest values seen, in nanoseconds; `least > most` while there is none.
struct Extremes: Sendable, BitwiseCopyable {
  var leastLatency = Int64.max
  var mostLatency = Int64.min
  var leastExecution = Int64.max
  var mostExecution = Int64.min
}
