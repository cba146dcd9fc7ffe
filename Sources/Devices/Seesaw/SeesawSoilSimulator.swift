import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A simulated STEMMA soil sensor on the bus side, in soil whose moisture and temperature any thread sets.
///
/// Attach `chip` to a `SimulatedI2CBus`, which retains the simulator. If it is read too early after a request, the answer is all
/// ones, as on a bus whose controller does not wait. During start-up it does not acknowledge.
public final class SeesawSoilSimulator: @unchecked Sendable {  // safe: the world is atomics, the rest is the loop's
  private let state: UnsafeMutablePointer<SeesawState>

  /// Creates a sensor with a moisture in counts, 0…4095, and a temperature in °C, 0…85.
  public init(moisture: Int = 800, celsius: Double = 21, hardware: UInt8 = 0x55) {
    state = .allocate(capacity: 1)
    state.initialize(to: SeesawState(hardware: hardware))
    self.moisture = moisture
    self.celsius = celsius
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The moisture in counts, 0…4095: about 200 in dry air, 2000 in water.
  public var moisture: Int {
    get { state.pointee.moisture.load(ordering: .relaxed) }
    set { state.pointee.moisture.store(newValue, ordering: .relaxed) }
  }

  /// The temperature in °C, 0…85. The chip's format has no negative temperatures.
  public var celsius: Double {
    get { Double(state.pointee.temperature.load(ordering: .relaxed)) / 65_536 }
    set {
      precondition((0...85).contains(newValue), "a seesaw tells 0…85 °C")
      state.pointee.temperature.store(Int(saturating: (newValue * 65_536).rounded()), ordering: .relaxed)
    }
  }

  /// Makes the next `count` moisture reads give all ones, as on a bus with bad clock stretching.
  public func glitch(reads count: Int) { state.pointee.glitches.store(count, ordering: .relaxed) }

  /// The number of reads that came before the measurement was complete.
  public var earlyReads: Int { state.pointee.earlyReads.load(ordering: .relaxed) }
  /// The number of times that the probe has been reset.
  public var resets: Int { state.pointee.resets.load(ordering: .relaxed) }

  /// The chip to be attached to a `SimulatedI2CBus`, at the probe's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToSeesaw)
  }
}

private struct SeesawState: ~Copyable {
  let moisture = Atomic<Int>(0)
  /// The temperature in 1/65536 °C.
  let temperature = Atomic<Int>(0)
  let glitches = Atomic<Int>(0)
  let earlyReads = Atomic<Int>(0)
  let resets = Atomic<Int>(0)
  let hardware: UInt8
  /// The first byte of the pair of registers that was written last; `function` is the second byte, and `requested` the
  /// instant of the write.
  var base: UInt8 = 0xFF
  var function: UInt8 = 0xFF
  var requested = TickInstant.zero
  var answersFrom = TickInstant.zero

  init(hardware: UInt8) { self.hardware = hardware }

  @_noLocks @_noAllocation
  mutating func transfer(_ transfer: UnsafeMutablePointer<I2CTransfer>) -> Int32 {
    let now = transfer.pointee.at
    if now < answersFrom { return -121 }  // EREMOTEIO
    switch transfer.pointee.operation {
    case .plainWrite:
      guard transfer.pointee.bytes.count >= 2 else { return 0 }
      selectRegister(transfer.pointee.bytes[0], transfer.pointee.bytes[1], at: now)
    case .writeByte, .writeBlock: selectRegister(transfer.pointee.register, transfer.pointee.bytes[0], at: now)
    case .plainRead: answer(&transfer.pointee.bytes, at: now)
    // A repeated start leaves the chip no time to measure.
    case .readBlock: fillWithIdleBus(&transfer.pointee.bytes)
    }
    return 0
  }

  @_noLocks @_noAllocation
  private mutating func selectRegister(_ base: UInt8, _ function: UInt8, at now: TickInstant) {
    self.base = base
    self.function = function
    requested = now
    guard base == 0x00, function == 0x7F else { return }
    resets.wrappingAdd(1, ordering: .relaxed)
    answersFrom = now + SeesawSoil.startUp
  }

  @_noLocks @_noAllocation
  private mutating func answer(_ bytes: inout I2CBytes, at now: TickInstant) {
    if now - requested < SeesawSoil.conversion {
      earlyReads.wrappingAdd(1, ordering: .relaxed)
      return fillWithIdleBus(&bytes)
    }
    switch (base, function) {
    case (0x00, 0x01): put(Int(hardware), into: &bytes, size: 1)
    case (0x00, 0x04): put(temperature.load(ordering: .relaxed), into: &bytes, size: 4)
    case (0x0F, 0x10):
      let left = glitches.load(ordering: .relaxed)
      if left > 0 {
        glitches.store(left - 1, ordering: .relaxed)
        fillWithIdleBus(&bytes)
      } else {
        put(moisture.load(ordering: .relaxed), into: &bytes, size: 2)
      }
    default: fillWithIdleBus(&bytes)
    }
  }

  /// Puts a big-endian value into the bytes. Bytes beyond it are ones, since the bus idles high.
  @_noLocks @_noAllocation
  private func put(_ value: Int, into bytes: inout I2CBytes, size: Int) {
    for index in 0..<bytes.count {
      bytes[index] = index < size ? UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - index))) : 0xFF
    }
  }
}

@_noLocks @_noAllocation
private func transferToSeesaw(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: SeesawState.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self))
}
