import Synchronization
import Tactus

/// A simulated chip of 256 one-byte registers that stores what is written to them, for chips without a more detailed simulation.
///
///     let chip = SimulatedI2CRegisters()
///     bus.attach(chip.chip, at: I2CAddress(0x16)!)
///     chip[0x03]                                    // what the loop has written to register 3
///
/// A block begins at its register and continues with the next ones, with 0 after 255. The first byte of a plain write selects the
/// register, and a plain read continues where the last transfer ended. Registers may be used from any thread; they are 0 at first.
public final class SimulatedI2CRegisters: @unchecked Sendable {
  // Safe: registers are atomics, the pointer is the loop's.
  private let state: UnsafeMutablePointer<State>

  fileprivate struct State: ~Copyable {
    let registers = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: 256)
    var next: UInt8 = 0

    init() { for index in 0..<256 { (registers + index).initialize(to: Atomic(0)) } }

    deinit {
      registers.deinitialize(count: 256)
      registers.deallocate()
    }
  }

  /// Creates a chip whose registers are all 0.
  public init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The chip to be attached to a `SimulatedI2CBus`, at the chip's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToRegisters)
  }

  /// The value of a register.
  public subscript(register: UInt8) -> UInt8 {
    get { state.pointee.registers[Int(register)].load(ordering: .relaxed) }
    set { state.pointee.registers[Int(register)].store(newValue, ordering: .relaxed) }
  }
}

extension SimulatedI2CRegisters.State {
  @_noLocks @_noAllocation
  mutating func transfer(_ request: UnsafeMutablePointer<I2CTransfer>) {
    var first = 0
    switch request.pointee.operation {
    case .writeByte, .writeBlock, .readBlock: next = request.pointee.register
    case .plainWrite:
      guard request.pointee.bytes.count > 0 else { return }
      next = request.pointee.bytes[0]
      first = 1
    case .plainRead: break
    }
    for index in first..<request.pointee.bytes.count {
      switch request.pointee.operation {
      case .writeByte, .writeBlock, .plainWrite:
        registers[Int(next)].store(request.pointee.bytes[index], ordering: .relaxed)
      case .readBlock, .plainRead: request.pointee.bytes[index] = registers[Int(next)].load(ordering: .relaxed)
      }
      next &+= 1
    }
  }
}

@_noLocks @_noAllocation
private func transferToRegisters(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: SimulatedI2CRegisters.State.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self))
  return 0
}
