import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A simulated ADS1115 with a voltage on each of its inputs.
///
/// Attach `chip` to a `SimulatedI2CBus`, which retains the simulator. `set`, `microvolts` and `reset` may be called from any
/// thread; they take effect at the next access to the chip.
public final class ADS1115Simulator: @unchecked Sendable {  // safe: inputs are atomics, the rest is the loop's
  let inputs: UnsafeMutablePointer<ADS1115Inputs>
  private let state: UnsafeMutablePointer<ADS1115State>

  /// Creates a chip in its state after power-up, with every input at ground.
  public init() {
    inputs = .allocate(capacity: 1)
    inputs.initialize(to: ADS1115Inputs())
    state = .allocate(capacity: 1)
    state.initialize(to: ADS1115State(inputs))
  }

  deinit {
    state.deallocate()
    inputs.deinitialize(count: 1)
    inputs.deallocate()
  }

  /// The chip to be attached to a `SimulatedI2CBus`, at the chip's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToADS1115)
  }

  /// Sets the voltage on input 0…3. The voltage for an open or shorted wire depends on the circuit.
  public func set(_ channel: Int, _ voltage: Microvolts) {
    inputs.pointee[channel].store(voltage.count, ordering: .relaxed)
  }

  /// Returns one input, 0…3, for the ticks of a simulation. `set` of this class retains the simulator, which is not allowed in a tick.
  ///
  /// Keep the simulator, or a bus to which it is attached, as long as the input.
  public func input(_ channel: Int) -> ADS1115SimulatedInput {
    precondition((0..<ADS1115.channelCount).contains(channel), "inputs are 0…3")
    return ADS1115SimulatedInput(inputs: inputs, channel: channel)
  }

  /// Returns the voltage on input 0…3.
  public func voltage(_ channel: Int) -> Microvolts { Microvolts(inputs.pointee[channel].load(ordering: .relaxed)) }

  /// Simulates a short loss of power: the chip returns to its state after power-up, and a running conversion is lost.
  public func reset() { inputs.pointee.resets.add(1, ordering: .relaxed) }
}

/// The voltages and resets, set by any thread and used by the loop.
struct ADS1115Inputs: ~Copyable {
  private let voltages: UnsafeMutablePointer<Atomic<Int64>>
  let resets = Atomic<Int>(0)

  init() {
    voltages = .allocate(capacity: ADS1115.channelCount)
    for channel in 0..<ADS1115.channelCount { (voltages + channel).initialize(to: Atomic(0)) }
  }

  deinit { voltages.deallocate() }

  subscript(channel: Int) -> Atomic<Int64> {
    @_noLocks @_noAllocation
    unsafeAddress {
      precondition(channel >= 0 && channel < 4, "inputs are 0…3")
      return UnsafePointer(voltages + channel)
    }
  }
}

/// The registers, which only the loop uses.
struct ADS1115State {
  private let inputs: UnsafeMutablePointer<ADS1115Inputs>
  private var config: UInt16 = 0x8583
  private var conversion: UInt16 = 0
  private var thresholds: (low: UInt16, high: UInt16) = (0x8000, 0x7FFF)
  /// The instant at which the running conversion ends, or `nil` if no conversion is running.
  private var readyAt: TickInstant?
  private var resetsSeen = 0

  init(_ inputs: UnsafeMutablePointer<ADS1115Inputs>) { self.inputs = inputs }

  @_noLocks @_noAllocation
  mutating func transfer(_ transfer: UnsafeMutablePointer<I2CTransfer>) -> Int32 {
    let now = transfer.pointee.at
    let resets = inputs.pointee.resets.load(ordering: .relaxed)
    if resets != resetsSeen {
      resetsSeen = resets
      (config, conversion, thresholds, readyAt) = (0x8583, 0, (0x8000, 0x7FFF), nil)
    }
    advance(to: now)
    switch transfer.pointee.operation {
    case .writeBlock where transfer.pointee.bytes.count == 2:
      write(UInt16(transfer.pointee.bytes[0]) << 8 | UInt16(transfer.pointee.bytes[1]), transfer.pointee.register, now)
    case .readBlock:
      let word = read(transfer.pointee.register)
      for index in 0..<transfer.pointee.bytes.count {
        transfer.pointee.bytes[index] = UInt8(truncatingIfNeeded: index & 1 == 0 ? word >> 8 : word)
      }
    case .writeByte, .writeBlock, .plainWrite, .plainRead: break
    }
    return 0
  }

  @_noLocks @_noAllocation
  private mutating func advance(to now: TickInstant) {
    guard let end = readyAt, !(now < end) else { return }
    conversion = measured
    readyAt = isContinuous ? now + period : nil
  }

  @_noLocks @_noAllocation
  private mutating func write(_ word: UInt16, _ register: UInt8, _ now: TickInstant) {
    switch register & 3 {
    case 1:
      config = word & 0x7FFF
      // During a conversion a start is ignored, and the new settings apply from the next conversion on.
      if isContinuous || (word & 0x8000 != 0 && !isConverting) { readyAt = now + period }
    case 2: thresholds.low = word
    case 3: thresholds.high = word
    default: break  // the conversion register is for reading only
    }
  }

  @_noLocks @_noAllocation
  private func read(_ register: UInt8) -> UInt16 {
    switch register & 3 {
    case 0: return conversion
    case 1: return isConverting ? config : config | 0x8000
    case 2: return thresholds.low
    default: return thresholds.high
    }
  }

  private var isConverting: Bool {
    @_noLocks @_noAllocation get {
      if case .some = readyAt { true } else { false }
    }
  }

  private var isContinuous: Bool {
    @_noLocks @_noAllocation get { config & 0x0100 == 0 }
  }

  private var period: Nanoseconds {
    @_noLocks @_noAllocation get {
      let hertz: Int64
      switch config >> 5 & 7 {
      case 0: hertz = 8
      case 1: hertz = 16
      case 2: hertz = 32
      case 3: hertz = 64
      case 4: hertz = 128
      case 5: hertz = 250
      case 6: hertz = 475
      default: hertz = 860
      }
      return Nanoseconds(1_000_000_000 / hertz)
    }
  }

  /// The voltage between the multiplexer's two inputs, in counts of the range. Beyond the range the counts saturate.
  private var measured: UInt16 {
    @_noLocks @_noAllocation get {
      let voltage: Int64
      switch config >> 12 & 7 {
      case 0: voltage = input(0) - input(1)
      case 1: voltage = input(0) - input(3)
      case 2: voltage = input(1) - input(3)
      case 3: voltage = input(2) - input(3)
      case let mux: voltage = input(Int(mux) - 4)
      }
      let range: Int64
      switch config >> 9 & 7 {
      case 0: range = 6_144_000
      case 1: range = 4_096_000
      case 2: range = 2_048_000
      case 3: range = 1_024_000
      case 4: range = 512_000
      default: range = 256_000  // 5, 6 and 7
      }
      let counts = voltage * 32_768 / range
      return UInt16(bitPattern: Int16(clamping: counts))
    }
  }

  @_noLocks @_noAllocation
  private func input(_ channel: Int) -> Int64 { inputs.pointee[channel].load(ordering: .relaxed) }
}

@_noLocks @_noAllocation
private func transferToADS1115(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: ADS1115State.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self))
}

/// One input of an `ADS1115Simulator`, as a plain value that a tick may set. The value is valid as long as its simulator exists.
public struct ADS1115SimulatedInput: BitwiseCopyable, @unchecked Sendable {
  // Sendable: the pointer leads to atomics only.
  let inputs: UnsafeMutablePointer<ADS1115Inputs>
  let channel: Int

  /// Sets the voltage on the input. The voltage for an open or shorted wire depends on the circuit.
  @_noLocks @_noAllocation
  public func set(_ voltage: Microvolts) { inputs.pointee[channel].store(voltage.count, ordering: .relaxed) }
}
