import Synchronization

/// A loop's account and histograms, written by its lane and read from any thread without stopping it.
///
/// The account is published as a `Latest` is: into the slot that readers do not look at, under a sequence number. A lane
/// that is preempted while it writes, or stands still, holds up no reader; the lane never waits.
struct LoopRecord: ~Copyable {
  let latency = Histogram()
  let execution = Histogram()
  private let storage = LatestStorage(byteCount: MemoryLayout<LoopAccount>.size)
  /// Raised before the histograms change: equal to the storage's sequence number while histograms and account agree.
  private let begun = Atomic<UInt64>(0)

  /// Empties everything but what is declared. Only while no lane writes.
  func reset(period: Int64, deadline: Int64) {
    change()
    latency.reset()
    execution.reset()
    var empty = LoopAccount(period: period, deadline: deadline)
    publish(&empty)
  }

  /// Says that the histograms are about to change; `publish` follows.
  @_noLocks @_noAllocation @inline(__always)
  func change() {
    begun.store(storage.sequence.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
  }

  @_noLocks @_noAllocation @inline(__always)
  func publish(_ account: UnsafePointer<LoopAccount>) {
    let next = storage.sequence.pointee.load(ordering: .relaxed) &+ 1
    begun.store(next, ordering: .relaxed)
    publishWords(
      account, MemoryLayout<LoopAccount>.size &>> 3, as: next, slots: storage.slots, stride: storage.stride,
      sequence: storage.sequence)
  }

  /// How often the account has been published. Valid as long as this record.
  var version: LatestVersion { LatestVersion(sequence: storage.sequence) }

  /// The account last published, whole.
  func account() -> LoopAccount { read().account }

  private func read() -> (account: LoopAccount, sequence: UInt64) {
    var account = LoopAccount()
    let sequence = withUnsafeMutableBytes(of: &account) { storage.read(into: $0.baseAddress!, bytes: $0.count) }
    return (account, sequence)
  }

  /// Account and histograms of one moment: as many latencies as the account has releases.
  ///
  /// A lane that publishes faster than the histograms can be copied (every few microseconds), or that is held up in the
  /// few nanoseconds in which they do not agree, is not waited for: after 100 tries the histograms may be a release ahead.
  func snapshot() -> (account: LoopAccount, latency: HistogramSnapshot, execution: HistogramSnapshot) {
    var tries = 0
    while true {
      let (account, sequence) = read()
      let latency = latency.snapshot(account.leastLatency, account.mostLatency)
      let execution = execution.snapshot(account.leastExecution, account.mostExecution)
      atomicMemoryFence(ordering: .acquiring)
      tries += 1
      if begun.load(ordering: .relaxed) == sequence || tries == 100 { return (account, latency, execution) }
    }
  }
}
