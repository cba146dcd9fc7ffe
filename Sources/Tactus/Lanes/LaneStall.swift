import CTactus
import Synchronization

/// A hole in a lane's time, requested by any thread: for tests of code that watches a loop. Not for production.
///
/// A loop serves it in its tick: it blocks there as a call that should not block would.
public final class LaneStall: @unchecked Sendable {  // safe: all behind the pointer is atomic
  /// The loop's end: a plain value, valid as long as the stall.
  public struct Served: BitwiseCopyable {
    fileprivate let state: UnsafeMutablePointer<State>

    /// Blocks until `now` + what was asked for; returns at once when nothing was.
    @_noLocks @_noAllocation
    public func serve(at now: TickInstant) {
      let length = state.pointee.asked.exchange(0, ordering: .relaxed)
      guard length > 0 else { return }
      state.pointee.isStalled.store(true, ordering: .relaxed)
      state.pointee.servedUntil = now.nanoseconds &+ length
      state.pointee.servedLength = length
      tactus_sleep_until(now.nanoseconds &+ length)
      state.pointee.isStalled.store(false, ordering: .relaxed)
    }

    /// Returns whether the stall that was served last is why so many releases in a row were missed since `instant`. For the lane
    /// that serves it.
    @_noLocks @_noAllocation
    func explains(misses: Int64, ofPeriod period: Int64, since instant: Int64) -> Bool {
      state.pointee.servedUntil > instant && state.pointee.servedLength / period &+ 1 >= misses
    }
  }

  fileprivate struct State: ~Copyable {
    let asked = Atomic<Int64>(0)
    let isStalled = Atomic<Bool>(false)
    /// Of the last stall, for the lane alone.
    var servedUntil = Int64.min
    var servedLength: Int64 = 0
  }

  /// The longest stall that can be asked for.
  public static let longest = Nanoseconds.seconds(5)
  private let state: UnsafeMutablePointer<State>

  /// A stall that has not been requested yet.
  public init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The end that the loop holds and serves in its tick. Valid as long as this object.
  public var served: Served { Served(state: state) }

  /// The loop's next tick lasts `length` longer, 1 ns…5 s. One that is asked for and not begun is replaced.
  public func ask(for length: Nanoseconds) {
    require(length > .zero && length <= Self.longest, "a stall lasts 1 ns…5 s")
    state.pointee.asked.store(length.count, ordering: .relaxed)
  }

  /// Takes back what has not begun.
  public func cancel() { state.pointee.asked.store(0, ordering: .relaxed) }

  /// Whether a stall has been asked for and not served, or goes on.
  public var isActive: Bool {
    state.pointee.asked.load(ordering: .relaxed) > 0 || state.pointee.isStalled.load(ordering: .relaxed)
  }
}
