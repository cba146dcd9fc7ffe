import Buses
import Synchronization
import Tactus

/// A simulated MAX31865 with a platinum thermometer, whose temperature any thread sets.
///
/// Attach `chip` to a `SimulatedSPIBus`, which retains the simulator.
// Safe: all that threads share is atomics.
public final class MAX31865Simulator: @unchecked Sendable {
  private let state: UnsafeMutablePointer<MAX31865State>

  /// Creates a chip that has just been powered. It does not convert until it is configured.
  ///
  /// - Parameters:
  /// - celsius: the thermometer's temperature, −200…850 °C.
  ///   - nominal: the thermometer's resistance at 0 °C in ohms.
  ///   - reference: the reference resistor in ohms.
  public init(celsius: Double = 20, nominal: Double = 100, reference: Double = 430) {
    precondition(nominal > 0 && reference > nominal, "the reference resistor is more than the thermometer at 0 °C")
    state = .allocate(capacity: 1)
    state.initialize(to: MAX31865State(scale: nominal / reference * 32_768))
    set(celsius: celsius)
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The thermometer, for the ticks of a simulation. A call of this class retains the simulator, which is not allowed in a tick.
  ///
  /// Keep the simulator, or a bus to which it is attached, as long as the thermometer.
  public var thermometer: MAX31865SimulatedThermometer { MAX31865SimulatedThermometer(state: state) }

  /// Sets the temperature of the thermometer in °C, with all wires intact.
  public func set(celsius: Double) { thermometer.set(celsius: celsius) }

  /// Sets whether a voltage that is not allowed is on an input.
  public func setVoltage(_ isWrong: Bool) { state.pointee.isVoltageWrong.store(isWrong, ordering: .relaxed) }

  /// Simulates a loss of power: the configuration returns to its initial value.
  public func reset() { state.pointee.configuration.store(0, ordering: .relaxed) }

  /// The chip to be attached to a `SimulatedSPIBus`.
  public var chip: SimulatedSPIChip {
    SimulatedSPIChip(context: state, owner: self, transfer: transferToMAX31865)
  }
}

/// The thermometer of a `MAX31865Simulator`, as a plain value that a tick may set. The value is valid as long as its simulator exists.
public struct MAX31865SimulatedThermometer: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what the pointer leads to is atomics.
  fileprivate let state: UnsafeMutablePointer<MAX31865State>

  /// Sets the temperature in °C, with all wires intact.
  @_noLocks @_noAllocation
  public func set(celsius: Double) { state.pointee.set(ratio: Platinum.ratio(celsius: celsius)) }

  /// Simulates a disconnected wire: the converter shows the end of its range.
  @_noLocks @_noAllocation
  public func setOpen() { state.pointee.code.store(32_767, ordering: .relaxed) }

  /// Simulates two wires that touch.
  @_noLocks @_noAllocation
  public func setShorted() { state.pointee.code.store(0, ordering: .relaxed) }
}

private struct MAX31865State: ~Copyable {
  /// The number of counts for a ratio of 1.
  let scale: Double
  let code = Atomic<UInt16>(0)
  let configuration = Atomic<UInt8>(0)
  let isVoltageWrong = Atomic(false)
  /// Whether a fault is marked. The mark stays until it is cleared.
  let isMarked = Atomic(false)

  init(scale: Double) { self.scale = scale }

  @_noLocks @_noAllocation
  func set(ratio: Double) {
    let counts = ratio * scale
    let whole = UInt16(truncatingIfNeeded: Int(saturating: counts + 0.5))
    code.store(counts < 0 ? 0 : counts > 32_767 ? 32_767 : whole, ordering: .relaxed)
  }

  /// Answers a transfer. The first byte is the address, with its high bit set for a write; the bytes that follow are those of consecutive registers.
  @_noLocks @_noAllocation
  func answer(_ bytes: inout SPIBytes) {
    guard bytes.count > 1 else { return }
    let (isWrite, first) = (bytes[0] & 0x80 != 0, bytes[0] & 0x7F)
    bytes[0] = 0
    if isVoltageWrong.load(ordering: .relaxed) { isMarked.store(true, ordering: .relaxed) }
    for index in 1..<bytes.count {
      let address = first &+ UInt8(truncatingIfNeeded: index &- 1)
      if isWrite {
        if address == 0 { configure(bytes[index]) }
        bytes[index] = 0
      } else {
        bytes[index] = register(address)
      }
    }
  }

  @_noLocks @_noAllocation
  private func configure(_ value: UInt8) {
    if value & 0x02 != 0 { isMarked.store(false, ordering: .relaxed) }
    // Bits that start or clear something read back as 0.
    configuration.store(value & 0xD1, ordering: .relaxed)
  }

  @_noLocks @_noAllocation
  private func register(_ address: UInt8) -> UInt8 {
    let configuration = configuration.load(ordering: .relaxed)
    let code = configuration & 0xC0 == 0xC0 ? code.load(ordering: .relaxed) : 0
    let isMarked = isMarked.load(ordering: .relaxed)
    return switch address {
    case 0: configuration
    case 1: UInt8(truncatingIfNeeded: code >> 7)
    case 2: UInt8(truncatingIfNeeded: code << 1) | (isMarked ? 1 : 0)
    case 3, 4: 0xFF
    case 7: isMarked ? 0x04 : 0
    default: 0
    }
  }
}

@_noLocks @_noAllocation
private func transferToMAX31865(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: MAX31865State.self).pointee
    .answer(&request.assumingMemoryBound(to: SPITransfer.self).pointee.bytes)
  return 0
}
