import Synchronization

/// A plain value that indicates whether a declared fault is active, for the ticks of a twin. It is valid as long as its
/// system.
public struct FaultSwitch: BitwiseCopyable, @unchecked Sendable {  // safe: what the pointer leads to is atomic
  fileprivate let state: UnsafeMutablePointer<Atomic<Bool>>

  /// Returns whether the fault is active now.
  @_noLocks @_noAllocation
  public func isOn() -> Bool { state.pointee.load(ordering: .relaxed) }

  func set(_ isOn: Bool) { state.pointee.store(isOn, ordering: .relaxed) }
}

/// Owns the memory to which a fault switch refers.
final class FaultBox {
  let value: FaultSwitch

  init() {
    let state = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
    state.initialize(to: Atomic(false))
    value = FaultSwitch(state: state)
  }

  deinit {
    value.state.deinitialize(count: 1)
    value.state.deallocate()
  }
}
