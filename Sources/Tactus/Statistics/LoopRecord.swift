import Synchronization

/// A loop's account and histograms, written by its lane and read from any thread without stopping it.
///
/// The account is published as in a `Latest`: it is written into the slot that readers do not use, under a sequence number. A lane
/// that is preempted while it writes, or that stands still, delays no reader, and the lane never waits.
struct LoopRecord: ~Copyable {
  let latency = Histogram()
  let execution = Histogram()
  private let storage = LatestStorage(byteCount: MemoryLayout<LoopAccount>.size)
  /// A sequence number that is raised before the histograms change. It equals the storage's number while histograms and account agree.
  private let begun = Atomic<UInt64>(0)

  /// Empties everything except the declared values. The function must not be called while a lane writes.
  func reset(period: Int64, deadline: Int64) {
    change()
    latency.reset()
    execution.reset()
    var empty = LoopAccount(period: period, deadline: deadline)
    publish(&empty)
  }

  /// Marks the histograms as about to change. A call of `publish` follows.
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

  /// The number of times the account has been published. The value is valid as long as this record exists.
  var version: LatestVersion { LatestVersion(sequence: storage.sequence) }

  /// Returns the account last published, consistently.
  func account() -> LoopAccount { read().account }

  private func read() -> (account: LoopAccount, sequence: UInt64) {
    var account = LoopAccount()
    let sequence = withUnsafeMutableBytes(of: &account) { storage.read(into: $0.baseAddress!, bytes: $0.count) }
    return (account, sequence)
  }

  /// Returns the account and the histograms of one moment, with as many latencies as the account has releases.
  ///
  /// If a lane publishes faster than the histograms can be copied (every few microseconds), or is preempted in the few nanoseconds
  /// in which they do not agree, the histograms may be one release ahead after 100 tries.
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
