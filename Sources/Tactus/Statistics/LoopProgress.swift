import Synchronization

/// The progress of one loop of a runtime, for code that watches it from outside: a plain value, to be read at any time, from any thread. Valid as
/// long as the runtime.
public struct LoopProgress: @unchecked Sendable, BitwiseCopyable {
  // Sendable: every access is atomic.

  /// Grows when a tick begins and when it ends: stands still while a tick hangs, and while the lane gets no processor.
  public let version: LatestVersion
  /// When this was asked for.
  public let period: Nanoseconds
  let present: UnsafeMutablePointer<Atomic<Int64>>

  /// Whether the loop's lane runs in real time. One that has not been started, or has been stopped, is in no need of ticks.
  public var isRunning: Bool {
    @_noLocks @_noAllocation get { present.pointee.load(ordering: .acquiring) == .max }
  }
}

extension Runtime {
  /// The loops' progress, lane by lane.
  public var progress: [LoopProgress] { lanes.flatMap(\.progress) }
}

extension LaneRun {
  var progress: [LoopProgress] {
    (0..<loopCount).map { index in
      // The period as the lane has published it: the slot's own is the lane's to change.
      let record = slots[index].record
      return LoopProgress(
        version: record.pointee.version, period: Nanoseconds(record.pointee.account().period), present: present)
    }
  }
}
