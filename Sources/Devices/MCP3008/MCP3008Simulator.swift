import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A simulated MCP3008 with a voltage on each input, which any thread sets.
///
/// Attach `chip` to a `SimulatedSPIBus`, which retains the simulator.
public final class MCP3008Simulator: @unchecked Sendable {  // safe: all of it is atomics
  private let state: UnsafeMutablePointer<MCP3008State>

  /// Creates a chip. `reference` is the voltage at the reference pin in volts, more than 0.
  public init(reference: Double = 3.3) {
    precondition(reference > 0)
    state = .allocate(capacity: 1)
    state.initialize(to: MCP3008State(referenceMicrovolts: Int(saturating: (reference * 1e6).rounded())))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The voltage at input `channel`, 0…7, in volts. The chip limits it to 0…reference.
  public subscript(channel: Int) -> Double {
    get { Double(state.pointee.inputs(channel).pointee.load(ordering: .relaxed)) / 1e6 }
    set { state.pointee.inputs(channel).pointee.store(Int(saturating: (newValue * 1e6).rounded()), ordering: .relaxed) }
  }

  /// The chip to be attached to a `SimulatedSPIBus`.
  public var chip: SimulatedSPIChip {
    SimulatedSPIChip(context: state, owner: self, transfer: transferToMCP3008)
  }
}

private struct MCP3008State: ~Copyable {
  let reference: Int
  /// The voltages in microvolts, by channel.
  private let microvolts: UnsafeMutablePointer<Atomic<Int>>

  init(referenceMicrovolts: Int) {
    reference = referenceMicrovolts
    microvolts = .allocate(capacity: MCP3008.channelCount)
    for channel in 0..<MCP3008.channelCount { (microvolts + channel).initialize(to: Atomic(0)) }
  }

  deinit { microvolts.deallocate() }

  @_noLocks @_noAllocation
  func inputs(_ channel: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    precondition(channel >= 0 && channel < MCP3008.channelCount, "channels are 0…7")
    return microvolts + channel
  }

  /// Answers a transfer. The line floats high until the start bit; after it come the four bits of the channel, half a clock to
  /// sample, a 0 and ten bits. Only the alignment of the driver's three bytes is simulated; with any other the answer is all ones.
  @_noLocks @_noAllocation
  func answer(_ bytes: inout SPIBytes) {
    let isAligned = bytes.count == 3 && bytes[0] == 0x01 && bytes[1] & 0x80 != 0
    let channel = isAligned ? Int(bytes[1] >> 4 & 0x07) : 0
    for index in 0..<bytes.count { bytes[index] = 0xFF }
    guard isAligned else { return }
    let volts = inputs(channel).pointee.load(ordering: .relaxed)
    let counts = volts <= 0 ? 0 : volts >= reference ? 1023 : volts * 1024 / reference
    bytes[1] = 0xF8 | UInt8(truncatingIfNeeded: counts >> 8)
    bytes[2] = UInt8(truncatingIfNeeded: counts)
  }
}

@_noLocks @_noAllocation
private func transferToMCP3008(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: MCP3008State.self).pointee
    .answer(&request.assumingMemoryBound(to: SPITransfer.self).pointee.bytes)
  return 0
}
