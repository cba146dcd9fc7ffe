import Synchronization

/// One input of an `ADS1115Simulator`, as a plain value that a tick may set. The value is valid as long as its simulator exists.
public struct ADS1115SimulatedInput: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what the pointer leads to is atomics.
  let inputs: UnsafeMutablePointer<ADS1115Inputs>
  let channel: Int

  /// Sets the voltage on the input. The voltage for an open or shorted wire depends on the circuit.
  @_noLocks @_noAllocation
  public func set(_ voltage: Microvolts) { inputs.pointee[channel].store(voltage.count, ordering: .relaxed) }
}
