import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A simulated PCA9685 with a servo on each channel.
///
/// Attach `chip` to a `SimulatedI2CBus`, which retains the simulator, and also `allCallChip` if the all-call address is used.
/// `snapshot` and the faults may be used from any thread; `advance` is for the loop that owns the bus, or for the thread of a
/// simulation. A fault takes effect at the next access to the chip or `advance`.
public final class PCA9685Simulator: @unchecked Sendable {  // safe: the rule above; faults and snapshot are atomics
  /// The properties of the chip and the servos.
  public struct Parameters: Sendable, Hashable {
    /// The actual frequency of the oscillator.
    public var oscillator = Frequency.kilohertz(25_000)
    /// The speed of the servos in degrees per second. The default of 600 is 60 degrees in 0.1 s, as for small servos.
    public var degreesPerSecond = 600.0

    /// Creates the parameters of an oscillator of 25 MHz and servos of 600 degrees a second.
    public init() {}
  }

  private let state: UnsafeMutablePointer<PCA9685World>
  private let faults: UnsafeMutablePointer<PCA9685Faults>
  private let published: SharedWords

  /// Creates a chip in its state after power-up: asleep, every channel off, every servo in the middle.
  public init(_ parameters: Parameters = Parameters()) {
    precondition(parameters.degreesPerSecond > 0)
    published = .allocate(byteCount: MemoryLayout<SimulatedServosSnapshot>.size)
    faults = .allocate(capacity: 1)
    faults.initialize(to: PCA9685Faults())
    state = .allocate(capacity: 1)
    state.initialize(to: PCA9685World(parameters, faults: faults, published: published))
    state.pointee.publish()
  }

  deinit {
    state.deallocate()
    faults.deinitialize(count: 1)
    faults.deallocate()
    published.deallocate()
  }

  /// The chip to be attached to a `SimulatedI2CBus`, at the chip's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToPCA9685)
  }

  /// The chip to be attached at address 0x70, which answers while MODE1 has the all-call bit.
  public var allCallChip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToPCA9685ByAllCall)
  }

  /// The servos at the last access or `advance`. Reading never waits longer than for a few stores of the writer.
  public var snapshot: SimulatedServosSnapshot {
    var snapshot = SimulatedServosSnapshot()
    while published.load(into: &snapshot) == nil {}
    return snapshot
  }

  /// A mask with a bit for each channel whose line is not permanently low, because it pulses or is stuck high. The mask is of the same instant as
  /// `snapshot`.
  public var drivenChannels: UInt16 { faults.pointee.driven.load(ordering: .relaxed) }

  /// Moves the servos to their positions at `instant`, without a transfer on the bus.
  @_noLocks @_noAllocation
  public func advance(to instant: TickInstant) {
    _ = state.pointee.advance(to: instant)
    state.pointee.publish()
  }

  /// Whether the chip has power. Without power the chip neither answers nor pulses; when power returns, the chip is asleep.
  public var isPowered: Bool {
    get { faults.pointee.isPowered.load(ordering: .relaxed) }
    set { faults.pointee.isPowered.store(newValue, ordering: .relaxed) }
  }

  /// Simulates a short loss of power, or a software reset by the general call: the chip returns to its state after power-up, with all channels off.
  public func reset() { faults.pointee.resets.add(1, ordering: .relaxed) }

  /// Makes a servo stuck in its position, or frees it.
  public func jam(_ channel: Int, _ isJammed: Bool = true) {
    precondition((0..<PCA9685.channelCount).contains(channel))
    let bit = UInt32(1) << UInt32(clamping: channel)
    if isJammed {
      faults.pointee.jammed.bitwiseOr(bit, ordering: .relaxed)
    } else {
      faults.pointee.jammed.bitwiseAnd(~bit, ordering: .relaxed)
    }
  }
}

/// The faults, set by any thread and applied by the loop. `driven` is set by the loop and read by any thread.
struct PCA9685Faults: ~Copyable {
  let isPowered = Atomic<Bool>(true)
  let resets = Atomic<Int>(0)
  /// A mask of the stuck servos, with one bit per channel.
  let jammed = Atomic<UInt32>(0)
  /// A mask of the driven channels, with one bit per channel.
  let driven = Atomic<UInt16>(0)
}

/// The chip and its servos, which only the loop uses.
struct PCA9685World {
  private var chip = PCA9685Chip()
  /// The end of a pulse in progress whose train has been replaced.
  private struct Fall: BitwiseCopyable {
    var at: TickInstant
    var width: Nanoseconds
  }

  private var trains: [16 of PCA9685Chip.Train?]
  private var lastFalls: [16 of Fall?]
  private var shown = SimulatedServosSnapshot()
  private let oscillator: Int64
  private let degreesPerSecond: Double
  private let faults: UnsafeMutablePointer<PCA9685Faults>
  private let published: SharedWords
  private var number: UInt64 = 0
  private var resetsSeen = 0
  private var wasPowered = true

  init(
    _ parameters: PCA9685Simulator.Parameters, faults: UnsafeMutablePointer<PCA9685Faults>, published: SharedWords
  ) {
    trains = .init(repeating: nil)
    lastFalls = .init(repeating: nil)
    oscillator = parameters.oscillator.hertz
    degreesPerSecond = parameters.degreesPerSecond
    self.faults = faults
    self.published = published
  }

  /// Simulates everything that happens up to `now`, then applies the faults. Returns `false` while the chip has no power.
  @_noLocks @_noAllocation
  mutating func advance(to now: TickInstant) -> Bool {
    let jammed = faults.pointee.jammed.load(ordering: .relaxed)
    if shown.at < now {
      for channel in 0..<16 { advance(channel, to: now, isJammed: jammed & 1 << UInt32(clamping: channel) != 0) }
      shown.at = now
    }
    let isPowered = faults.pointee.isPowered.load(ordering: .relaxed)
    let resets = faults.pointee.resets.load(ordering: .relaxed)
    if resets != resetsSeen || isPowered != wasPowered {
      if resets != resetsSeen || isPowered { shown.resets &+= 1 }
      let ignored = chip.ignored
      chip = PCA9685Chip()
      chip.ignored = ignored
      resetsSeen = resets
      wasPowered = isPowered
      settle()
    }
    return isPowered
  }

  @_noLocks @_noAllocation
  private mutating func advance(_ channel: Int, to now: TickInstant, isJammed: Bool) {
    var servo = shown[channel]
    let speed = isJammed ? 0 : degreesPerSecond
    var from = shown.at
    if let fall = lastFalls[channel], !(now < fall.at) {
      servo.turn(from: from, to: fall.at, degreesPerSecond: speed)
      servo.receive(fall.width, at: fall.at)
      servo.pulses &+= 1
      from = fall.at
      lastFalls[channel] = nil
    }
    if let train = trains[channel] {
      let fall = train.rise + train.width
      if !(now < fall) {
        // Only the first pulse of a train can change the target; the following ones repeat it.
        let first = from < fall ? fall : from
        servo.turn(from: from, to: first, degreesPerSecond: speed)
        from = first
        servo.receive(
          train.width, at: fall + Nanoseconds((now - fall).count / train.period.count * train.period.count))
        servo.pulses &+= pulses(train, from: shown.at, to: now)
      }
    }
    servo.turn(from: from, to: now, degreesPerSecond: speed)
    shown[channel] = servo
  }

  /// Returns the number of pulses that end after `start` and up to and including `end`, which is not before the first pulse.
  @_noLocks @_noAllocation
  private func pulses(_ train: PCA9685Chip.Train, from start: TickInstant, to end: TickInstant) -> Int64 {
    let fall = train.rise + train.width
    let before = start < fall ? 0 : (start - fall).count / train.period.count + 1
    return (end - fall).count / train.period.count + 1 - before
  }

  /// Updates the pulses to the registers, at `shown.at`.
  @_noLocks @_noAllocation
  private mutating func settle() {
    var driven: UInt16 = 0
    for channel in 0..<16 {
      let next = chip.train(channel, oscillator: oscillator, at: shown.at)
      switch (trains[channel], next) {
      case (.some(let old), .some(let new)):
        // A pulse that has begun keeps its length; the next pulse has the new one.
        if old.width.count != new.width.count || old.period.count != new.period.count {
          if let fall = old.fall(after: shown.at) { lastFalls[channel] = Fall(at: fall, width: old.width) }
          trains[channel] = new
        }
      case (.some(let old), nil):
        if case .some = old.fall(after: shown.at) { shown[channel].cutPulses &+= 1 }
        trains[channel] = nil
      case (nil, .some(let new)): trains[channel] = new
      case (nil, nil): break
      }
      if let next {
        shown[channel].pulse = next.width
      } else {
        if case .some = lastFalls[channel] { shown[channel].cutPulses &+= 1 }
        lastFalls[channel] = nil
        shown[channel].pulse = nil
      }
      shown[channel].isStuckHigh = chip.isStuckHigh(channel)
      if next != nil || shown[channel].isStuckHigh { driven |= 1 << UInt16(clamping: channel) }
    }
    faults.pointee.driven.store(driven, ordering: .relaxed)
  }

  @_noLocks @_noAllocation
  mutating func transfer(_ transfer: UnsafeMutablePointer<I2CTransfer>, isAllCall: Bool) -> Int32 {
    let isPowered = advance(to: transfer.pointee.at)
    guard isPowered, !isAllCall || chip.answersAllCall else {
      publish()
      return -121  // EREMOTEIO
    }
    if let write = BoardWrite(transfer.pointee) {
      chip.point(at: write.register)
      for index in 0..<write.count { chip.write(write[index], at: transfer.pointee.at) }
      settle()
    } else {
      if case .readBlock = transfer.pointee.operation { chip.point(at: transfer.pointee.register) }
      for index in 0..<transfer.pointee.bytes.count { transfer.pointee.bytes[index] = chip.read() }
    }
    publish()
    return 0
  }

  @_noLocks @_noAllocation
  mutating func publish() {
    shown.ignored = chip.ignored
    shown.isAsleep = chip.isAsleep
    number &+= 1
    published.store(number: number, from: &shown)
  }
}

extension PCA9685Chip.Train {
  /// Returns the end of the pulse in progress at `now`, or `nil` if the line is low.
  @_noLocks @_noAllocation
  fileprivate func fall(after now: TickInstant) -> TickInstant? {
    guard rise < now else { return nil }
    let sinceRise = (now - rise).count % period.count
    guard sinceRise > 0, sinceRise < width.count else { return nil }
    return now + Nanoseconds(width.count - sinceRise)
  }
}

@_noLocks @_noAllocation
private func transferToPCA9685(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: PCA9685World.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self), isAllCall: false)
}

@_noLocks @_noAllocation
private func transferToPCA9685ByAllCall(
  _ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer
) -> Int32 {
  context.assumingMemoryBound(to: PCA9685World.self).pointee
    .transfer(request.assumingMemoryBound(to: I2CTransfer.self), isAllCall: true)
}
