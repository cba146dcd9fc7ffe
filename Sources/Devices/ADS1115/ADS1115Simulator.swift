import Buses
import Synchronization
import Tactus

/// An ADS1115 with a voltage on each of its inputs.
///
/// Attach `chip` to a `SimulatedI2CBus`, which keeps the simulator. `set`, `microvolts` and `reset` are for any thread; they act
/// at the next access to the chip.
public final class ADS1115Simulator: @unchecked Sendable {  // safe: inputs are atomics, the rest is the loop's
  let inputs: UnsafeMutablePointer<ADS1115Inputs>
  private let state: UnsafeMutablePointer<ADS1115State>

  /// As it comes up, every input at ground.
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

  /// The end for a `SimulatedI2CBus`: attach it at the address of the chip.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToADS1115)
  }

  /// Puts a voltage on input 0…3. What a wire that is open or shorted shows is up to the circuit.
  public func set(_ channel: Int, _ voltage: Microvolts) {
    inputs.pointee[channel].store(voltage.count, ordering: .relaxed)
  }

  /// One input, 0…3, for the ticks of a twin: `set` of this class retains it, which a tick may not.
  ///
  /// Keep the simulator, or a bus that it is attached to, as long as the input.
  public func input(_ channel: Int) -> ADS1115SimulatedInput {
    precondition((0..<ADS1115.channelCount).contains(channel), "inputs are 0…3")
    return ADS1115SimulatedInput(inputs: inputs, channel: channel)
  }

  /// The voltage on input 0…3.
  public func voltage(_ channel: Int) -> Microvolts { Microvolts(inputs.pointee[channel].load(ordering: .relaxed)) }

  /// The supply is gone for a moment: as it comes up, the conversion lost.
  public func reset() { inputs.pointee.resets.add(1, ordering: .relaxed) }
}

/// Set by any thread, met by the loop.
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

/// The registers; only the loop touches them.
struct ADS1115State {
  private let inputs: UnsafeMutablePointer<ADS1115Inputs>
  private var config: UInt16 = 0x8583
  private var conversion: UInt16 = 0
  private var thresholds: (low: UInt16, high: UInt16) = (0x8000, 0x7FFF)
  /// When the conversion that is being made ends, or `nil` if there is none.
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
      // While it converts a start is ignored, and the new settings hold from the next conversion on.
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

  /// The multiplexer's two inputs, in counts of the range; beyond it the counts saturate.
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
