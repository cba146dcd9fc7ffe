import Synchronization

/// Whether a declared fault is in force, as a plain value that a twin's tick may read. Valid as long as its system.
public struct FaultSwitch: BitwiseCopyable, @unchecked Sendable {  // safe: what the pointer leads to is atomic
  fileprivate let state: UnsafeMutablePointer<Atomic<Bool>>

  /// Whether it is to be so now.
  @_noLocks @_noAllocation
  public func isOn() -> Bool { state.pointee.load(ordering: .relaxed) }

  func set(_ isOn: Bool) { state.pointee.store(isOn, ordering: .relaxed) }
}

/// Owns what a switch leads to.
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
