import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A simulated MCP23017 or PCF8574 with pull resistors at its pins, on the bus side and on the pins' side.
///
/// Attach `chip` to a `SimulatedI2CBus`, which retains the simulator and injects the faults of the bus. The pins may be used from any thread.
public final class LineExpanderSimulator: @unchecked Sendable {  // safe: everything is atomics
  private let state: UnsafeMutablePointer<State>

  fileprivate struct State: ~Copyable {
    /// Whether the chip is a PCF8574, which has no registers.
    let isPlain: Bool
    /// The levels of the pins that nothing drives.
    let pulledUp: UInt16
    let latches = Atomic<UInt16>(0)
    let inputs = Atomic<UInt16>(0)
    let stuck = Atomic<UInt16>(0)
    let stuckLevels = Atomic<UInt16>(0)
  }

  /// Creates the twin of a chip that has just got its power.
  ///
  /// - Parameter pulledUp: the pins of an MCP23017 that are pulled up from outside; the others are pulled down. A PCF8574 pulls up all of its pins.
  public init(_ chip: LineExpander, pulledUp: UInt16 = 0) {
    let isPlain = if case .pcf8574 = chip { true } else { false }
    state = .allocate(capacity: 1)
    state.initialize(to: State(isPlain: isPlain, pulledUp: pulledUp))
    cutPower()
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The chip to be attached to a `SimulatedI2CBus`, at the chip's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToExpander)
  }

  /// The pins that are high.
  public var levels: UInt16 { state.pointee.levels }

  /// Cuts the power for a moment. Afterwards every pin of an MCP23017 is an input, and every pin of a PCF8574 is high.
  public func cutPower() {
    state.pointee.latches.store(state.pointee.isPlain ? 0xFFFF : 0, ordering: .relaxed)
    state.pointee.inputs.store(state.pointee.isPlain ? 0 : 0xFFFF, ordering: .relaxed)
  }

  /// Returns a pin, as a plain value that a tick may use as long as the simulator exists.
  public func pin(_ number: Int) -> SimulatedExpanderPin {
    SimulatedExpanderPin(state: state, bit: 1 << UInt16(truncatingIfNeeded: number))
  }
}

/// A pin of a simulated expander.
// Safe: the pointer leads to atomics only.
public struct SimulatedExpanderPin: BitwiseCopyable, @unchecked Sendable {
  fileprivate let state: UnsafeMutablePointer<LineExpanderSimulator.State>
  fileprivate let bit: UInt16

  /// Returns whether the pin's level is high.
  @_noLocks @_noAllocation
  public func isHigh() -> Bool { state.pointee.levels & bit != 0 }

  /// Keeps the pin at a level, whatever drives it.
  @_noLocks @_noAllocation
  public func stick(isHigh: Bool) {
    if isHigh {
      state.pointee.stuckLevels.bitwiseOr(bit, ordering: .relaxed)
    } else {
      state.pointee.stuckLevels.bitwiseAnd(~bit, ordering: .relaxed)
    }
    state.pointee.stuck.bitwiseOr(bit, ordering: .relaxed)
  }

  /// Lets the pin follow what drives it again.
  @_noLocks @_noAllocation
  public func loosen() { state.pointee.stuck.bitwiseAnd(~bit, ordering: .relaxed) }
}

extension LineExpanderSimulator.State {
  var levels: UInt16 {
    @_noLocks @_noAllocation get {
      let inputs = inputs.load(ordering: .relaxed)
      let driven = latches.load(ordering: .relaxed) & ~inputs | pulledUp & inputs
      let stuck = stuck.load(ordering: .relaxed)
      return driven & ~stuck | stuckLevels.load(ordering: .relaxed) & stuck
    }
  }

  @_noLocks @_noAllocation
  func transfer(_ transfer: UnsafeMutablePointer<I2CTransfer>) -> Int32 {
    switch transfer.pointee.operation {
    case .plainWrite:
      guard isPlain, transfer.pointee.bytes.count > 0 else { return 0 }
      let byte = transfer.pointee.bytes[transfer.pointee.bytes.count - 1]
      latches.store(UInt16(byte) | 0xFF00, ordering: .relaxed)
    case .plainRead:
      for index in 0..<transfer.pointee.bytes.count {
        transfer.pointee.bytes[index] = UInt8(truncatingIfNeeded: levels)
      }
    case .writeByte, .writeBlock:
      for index in 0..<transfer.pointee.bytes.count {
        write(transfer.pointee.bytes[index], to: transfer.pointee.register &+ UInt8(truncatingIfNeeded: index))
      }
    case .readBlock:
      for index in 0..<transfer.pointee.bytes.count {
        transfer.pointee.bytes[index] = byte(transfer.pointee.register &+ UInt8(truncatingIfNeeded: index))
      }
    }
    return 0
  }

  @_noLocks @_noAllocation
  private func write(_ byte: UInt8, to register: UInt8) {
    let isSecond = register & 1 == 1
    let (kept, new): (UInt16, UInt16) = isSecond ? (0x00FF, UInt16(byte) << 8) : (0xFF00, UInt16(byte))
    switch register & 0xFE {
    case 0x00: inputs.store(inputs.load(ordering: .relaxed) & kept | new, ordering: .relaxed)
    // A write to the register of levels sets the latches.
    case 0x12, 0x14: latches.store(latches.load(ordering: .relaxed) & kept | new, ordering: .relaxed)
    default: break
    }
  }

  @_noLocks @_noAllocation
  private func byte(_ register: UInt8) -> UInt8 {
    let word: UInt16 =
      switch register & 0xFE {
      case 0x00: inputs.load(ordering: .relaxed)
      case 0x12: levels
      case 0x14: latches.load(ordering: .relaxed)
      default: 0
      }
    return UInt8(truncatingIfNeeded: register & 1 == 1 ? word >> 8 : word)
  }
}

@_noLocks @_noAllocation
private func transferToExpander(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: LineExpanderSimulator.State.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self))
}
