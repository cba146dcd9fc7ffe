import Buses
import Tactus
import Wire

/// The NXP PCA9685: sixteen PWM outputs on I2C, here for servos.
///
/// A small value that takes the bus per call, remembers nothing and never waits: what must come later is a call of its own, and
/// the constants say how much later. The chip keeps pulsing its last values for ever: turn it off before going away.
/// Order: `configure`, then `start` after `startUp`; `write` and `turnOff` as often as wanted; `turnAllOff` and, after one
/// `timing.period`, `fallAsleep`.
/// Errors: whatever the bus says, after its own retries. Source: README.md beside this file.
public struct PCA9685: Sendable, Hashable, BitwiseCopyable {
  /// 0x40, with all six address pins low.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x40)! }
  }
  /// From waking to the oscillator's running, 500 µs by the datasheet.
  public static var startUp: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(500_000) }
  }
  /// How many outputs the chip has.
  public static var channelCount: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// Number of channels that fit into one transfer of 32 bytes, four bytes each.
  public static var channelsPerWrite: Int {
    @_noLocks @_noAllocation get { 8 }
  }

  /// The address of the chip on its bus.
  public let address: I2CAddress
  /// Its oscillator and the rate of its pulses.
  public let timing: PCA9685Timing

  /// A chip at an address; 50 pulses a second unless it is said otherwise. Touches no bus.
  @_noLocks @_noAllocation
  public init(address: I2CAddress = standardAddress, timing: PCA9685Timing = .servo) {
    self.address = address
    self.timing = timing
  }

  /// Every channel off, then totem-pole outputs, asleep, rate, awake with auto-increment and without all-call.
  ///
  /// Off comes first: after a crash the chip still pulses. Five transfers. `start` follows, `startUp` later.
  @_noLocks @_noAllocation
  public func configure(on bus: inout I2CBus) throws(I2CError) {
    if Mechanism.offFirst.acts { try turnAllOff(on: &bus) }
    try bus.writeByte(Mode2.totemPole, to: address, register: Register.mode2)
    try bus.writeByte(Mode1.sleep | Mode1.autoIncrement, to: address, register: Register.mode1)
    try bus.writeByte(timing.prescale, to: address, register: Register.prescale)
    try bus.writeByte(Mode1.autoIncrement, to: address, register: Register.mode1)
  }

  /// Ends what `configure` began, `startUp` or more after it: restarts the PWM when the chip remembers having been put to
  /// sleep in the middle of it. One transfer, or two.
  @_noLocks @_noAllocation
  public func start(on bus: inout I2CBus) throws(I2CError) {
    let mode = try bus.readBlock(1, from: address, register: Register.mode1)[0]
    guard mode & Mode1.restart != 0 else { return }
    try bus.writeByte(Mode1.restart | Mode1.autoIncrement, to: address, register: Register.mode1)
  }

  /// Reads back whether the chip still is as `configure` left it. A chip that lost its power is asleep at 200 Hz, its outputs off,
  /// and takes every write without a pulse. Two transfers.
  @_noLocks @_noAllocation
  public func check(on bus: inout I2CBus) throws(I2CError) -> PCA9685Health {
    let modes = try bus.readBlock(2, from: address, register: Register.mode1)
    let prescale = try bus.readBlock(1, from: address, register: Register.prescale)[0]
    let isAsConfigured =
      modes[0] & ~Mode1.restart == Mode1.autoIncrement && modes[1] == Mode2.totemPole && prescale == timing.prescale
    return isAsConfigured ? .configured : .lost(mode1: modes[0], mode2: modes[1], prescale: prescale)
  }

  /// Sets `count` channels, 1…8, from `first` on, in one auto-increment transfer, so that no pulse is made of an old and a new half.
  @_noLocks @_noAllocation
  public func write(
    _ outputs: PCA9685Outputs, first: Int, count: Int, on bus: inout I2CBus
  ) throws(I2CError) {
    precondition(first >= 0 && count >= 1 && first + count <= Self.channelCount, "channels are 0…15")
    precondition(count <= Self.channelsPerWrite, "a transfer carries at most 8 channels")
    var bytes = I2CBytes()
    for channel in first..<first + count { append(outputs[channel], to: &bytes) }
    try bus.writeBlock(bytes, to: address, register: Register.channel(first))
  }

  /// Sets one channel: one transfer of four bytes.
  @_noLocks @_noAllocation
  public func write(_ output: PCA9685Output, to channel: Int, on bus: inout I2CBus) throws(I2CError) {
    precondition(channel >= 0 && channel < Self.channelCount, "channels are 0…15")
    var bytes = I2CBytes()
    append(output, to: &bytes)
    try bus.writeBlock(bytes, to: address, register: Register.channel(channel))
  }

  /// No pulse on any channel, from now on: one transfer of one byte. Cuts a pulse that is being made.
  @_noLocks @_noAllocation
  public func turnAllOff(on bus: inout I2CBus) throws(I2CError) {
    try bus.writeByte(Channel.full, to: address, register: Register.allOffHigh)
  }

  /// Stops the oscillator. Not before one `timing.period` after `turnAllOff`: sleep cuts a pulse that is being made, and servos and
  /// speed controllers jump at that. `PCA9685Shutdown` keeps the order.
  @_noLocks @_noAllocation
  public func fallAsleep(on bus: inout I2CBus) throws(I2CError) {
    try bus.writeByte(Mode1.sleep | Mode1.autoIncrement, to: address, register: Register.mode1)
  }

  /// ON at count 0, OFF at the pulse's end; or full-off.
  @_noLocks @_noAllocation
  private func append(_ output: PCA9685Output, to bytes: inout I2CBytes) {
    var counts: UInt16 = 0
    switch output {
    case .off: break
    case .pulse(let pulse): counts = timing.counts(pulse)
    }
    bytes.append(0)
    bytes.append(0)
    bytes.append(UInt8(truncatingIfNeeded: counts))
    bytes.append(counts == 0 ? Channel.full : UInt8(truncatingIfNeeded: counts >> 8))
  }
}

/// What one channel does.
public enum PCA9685Output: Sendable, Hashable, BitwiseCopyable {
  /// The line stays low: no pulse, no hold.
  case off
  /// A pulse of this width in every period. One too short for a count is off.
  case pulse(PulseWidth)

  /// Returns whether both do the same. For ticks, which may not compare with `==`.
  @_noLocks @_noAllocation
  public func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.off, .off): true
    case (.pulse(let one), .pulse(let two)): one.isSame(as: two)
    case (.off, .pulse), (.pulse, .off): false
    }
  }
}

/// What all sixteen channels do; off at first.
public struct PCA9685Outputs: Sendable, BitwiseCopyable {
  private var outputs: [16 of PCA9685Output]

  /// Every channel off.
  @_noLocks @_noAllocation
  public init() { outputs = .init(repeating: .off) }

  /// Channel 0…15.
  @_noLocks @_noAllocation
  public subscript(channel: Int) -> PCA9685Output {
    get { outputs[channel] }
    set { outputs[channel] = newValue }
  }
}

/// What a read-back found.
public enum PCA9685Health: Sendable, Hashable, BitwiseCopyable {
  /// The registers are as `configure` left them.
  case configured
  /// The registers are not as `configure` left them: the chip was without power, or something else writes to it.
  case lost(mode1: UInt8, mode2: UInt8, prescale: UInt8)
}
