import CTactus
import Synchronization

/// An artificial stall of a lane that any thread can request, for tests of code that watches a loop. The type is not for production.
///
/// The loop serves the stall in its tick: it blocks there as a call that should not block would.
public final class LaneStall: @unchecked Sendable {  // safe: all behind the pointer is atomic
  /// The end of the stall that the loop holds: a plain value, valid as long as the stall.
  public struct Served: BitwiseCopyable {
    fileprivate let state: UnsafeMutablePointer<State>

    /// Blocks until `now` plus the requested length, or not at all if no stall was requested.
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

    /// Returns whether the last stall explains that this many consecutive releases were missed since `instant`. The function must
    /// be called by the lane that serves the stall.
    @_noLocks @_noAllocation
    func explains(misses: Int64, ofPeriod period: Int64, since instant: Int64) -> Bool {
      state.pointee.servedUntil > instant && state.pointee.servedLength / period &+ 1 >= misses
    }
  }

  fileprivate struct State: ~Copyable {
    let asked = Atomic<Int64>(0)
    let isStalled = Atomic<Bool>(false)
    /// The end and the length of the last stall, in nanoseconds, used by the lane only.
    var servedUntil = Int64.min
    var servedLength: Int64 = 0
  }

  /// The longest stall that can be requested.
  public static let longest = Nanoseconds.seconds(5)
  private let state: UnsafeMutablePointer<State>

  /// Creates a stall that has not been requested yet.
  public init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The end that the loop holds and serves in its tick. The value is valid as long as this object exists.
  public var served: Served { Served(state: state) }

  /// Requests that the loop's next tick take `length` longer, 1 ns…5 s. A request that has not begun is replaced.
  public func ask(for length: Nanoseconds) {
    require(length > .zero && length <= Self.longest, "a stall lasts 1 ns…5 s")
    state.pointee.asked.store(length.count, ordering: .relaxed)
  }

  /// Withdraws a requested stall that has not begun.
  public func cancel() { state.pointee.asked.store(0, ordering: .relaxed) }

  /// Whether a stall has been requested and not served, or is in progress.
  public var isActive: Bool {
    state.pointee.asked.load(ordering: .relaxed) > 0 || state.pointee.isStalled.load(ordering: .relaxed)
  }
}
