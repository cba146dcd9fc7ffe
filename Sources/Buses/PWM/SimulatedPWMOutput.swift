import Synchronization
import Tactus

/// A PWM output that remembers the duty to which it was set. Duty and faults may be used from any thread. The object must outlive its ports.
public final class SimulatedPWMOutput: Sendable {
  private let state: UnsafeState

  /// The length of a period.
  public let period: Nanoseconds

  /// Creates an output that is off. `period` is more than 0.
  public init(period: Nanoseconds = .microseconds(1_000)) {
    self.period = period
    state = UnsafeState()
  }

  deinit { state.deallocate() }

  /// Returns the port for the one loop that owns it.
  public func port() -> PWMOutput { PWMOutput(context: state.pointer, period: period, write: writeSimulated) }

  /// The active time of each period.
  public var active: Nanoseconds { Nanoseconds(state.pointer.pointee.active.load(ordering: .relaxed)) }

  /// The duty for a loop that simulates the device on the output. The value is valid as long as this object exists.
  public var duty: SimulatedPWMDuty { SimulatedPWMDuty(state: state.pointer, period: period) }

  /// The number of times that the output accepted a duty.
  public var writes: Int64 { state.pointer.pointee.writes.load(ordering: .relaxed) }

  /// Makes all further writes fail with `errno`, or succeed if it is 0. After a failed write the output keeps its duty.
  public func fail(errno: Int32) { state.pointer.pointee.failure.store(errno, ordering: .relaxed) }

  private struct UnsafeState: @unchecked Sendable {  // safe: atomics at a fixed place
    let pointer: UnsafeMutablePointer<SimulatedPWMState>

    init() {
      pointer = .allocate(capacity: 1)
      pointer.initialize(to: SimulatedPWMState())
    }

    func deallocate() {
      pointer.deinitialize(count: 1)
      pointer.deallocate()
    }
  }
}

/// The duty that a `SimulatedPWMOutput` was last set to, as a plain value that a tick may read.
public struct SimulatedPWMDuty: BitwiseCopyable, @unchecked Sendable {  // safe: what the pointer leads to is atomics
  fileprivate let state: UnsafeMutablePointer<SimulatedPWMState>
  fileprivate let period: Nanoseconds

  /// Returns the active share of a period, 0…1.
  @_noLocks @_noAllocation
  public func ratio() -> Double { Double(state.pointee.active.load(ordering: .relaxed)) / Double(period.count) }
}

struct SimulatedPWMState: ~Copyable {
  let active = Atomic<Int64>(0)
  let writes = Atomic<Int64>(0)
  let failure = Atomic<Int32>(0)
}

@_noLocks @_noAllocation
private func writeSimulated(_ context: UnsafeMutableRawPointer, _ active: Int64, _ now: Int64) -> Int32 {
  let state = context.assumingMemoryBound(to: SimulatedPWMState.self)
  let failure = state.pointee.failure.load(ordering: .relaxed)
  if failure != 0 { return -failure }
  state.pointee.active.store(active, ordering: .relaxed)
  state.pointee.writes.add(1, ordering: .relaxed)
  return 0
}
