import Synchronization

/// The progress of one loop of a runtime, for code that watches the loop from outside. It is a plain value that may be read at any
/// time and from any thread. The value is valid as long as the runtime exists.
public struct LoopProgress: @unchecked Sendable, BitwiseCopyable {
  // Sendable: every access is atomic.

  /// A version that grows when a tick begins and when it ends. It stands still while a tick hangs, and while the lane gets no processor.
  public let version: LatestVersion
  /// The loop's period at the time of the query.
  public let period: Nanoseconds
  let present: UnsafeMutablePointer<Atomic<Int64>>

  /// Whether the loop's lane runs in real time. A loop that has not been started, or has been stopped, needs no ticks.
  public var isRunning: Bool {
    @_noLocks @_noAllocation get { present.pointee.load(ordering: .acquiring) == .max }
  }
}

extension Runtime {
  /// The progress of all loops, lane by lane.
  public var progress: [LoopProgress] { lanes.flatMap(\.progress) }
}

extension LaneRun {
  var progress: [LoopProgress] {
    (0..<loopCount).map { index in
      // The period is read from the record that the lane has published, since only the lane may access its slot.
      let record = slots[index].record
      return LoopProgress(
        version: record.pointee.version, period: Nanoseconds(record.pointee.account().period), present: present)
    }
  }
}
