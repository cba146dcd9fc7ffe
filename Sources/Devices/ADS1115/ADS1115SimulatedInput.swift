import Synchronization

/// One input of an `ADS1115Simulator`, as a plain value that a tick may set. Valid as long as its simulator.
public struct ADS1115SimulatedInput: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what the pointer leads to is atomics.
  let inputs: UnsafeMutablePointer<ADS1115Inputs>
  let channel: Int

  /// Puts a voltage on the input. What a wire that is open or shorted shows is up to the circuit.
  @_noLocks @_noAllocation
  public func set(_ voltage: Microvolts) { inputs.pointee[channel].store(voltage.count, ordering: .relaxed) }
}
