import Buses
import Tactus
import Wire

/// The NXP PCA9685 with sixteen PWM outputs on I2C, here for servos.
///
/// The driver is a small value that takes the bus per call, keeps no state and never waits: an action that must come later is a
/// separate call, and the constants state the time between. The chip keeps pulsing its last values for ever, so it must be turned
/// off before the program ends. The order of calls is `configure`, then `start` after `startUp`; `write` and `turnOff` as often as
/// needed; `turnAllOff` and, after one `timing.period`, `fallAsleep`. Errors are those of the bus, after its retries. Source:
/// README.md beside this file.
public struct PCA9685: Sendable, Hashable, BitwiseCopyable {
  /// The address 0x40, with all six address pins low.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x40)! }
  }
  /// The time from waking until the oscillator runs, 500 µs by the datasheet.
  public static var startUp: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(500_000) }
  }
  /// The number of outputs of the chip.
  public static var channelCount: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// The number of channels that fit into one transfer of 32 bytes, with four bytes each.
  public static var channelsPerWrite: Int {
    @_noLocks @_noAllocation get { 8 }
  }

  /// The address of the chip on its bus.
  public let address: I2CAddress
  /// The chip's oscillator and the rate of its pulses.
  public let timing: PCA9685Timing

  /// Creates a driver for a chip at an address, by default with 50 pulses a second. Does not use the bus.
  @_noLocks @_noAllocation
  public init(address: I2CAddress = standardAddress, timing: PCA9685Timing = .servo) {
    self.address = address
    self.timing = timing
  }

  /// Configures the chip: turns every channel off, sets totem-pole outputs, puts the chip to sleep, sets the rate, and wakes it
  /// with auto-increment and without all-call.
  ///
  /// The channels are turned off first, since after a crash the chip still pulses. The call takes five transfers. Call `start` after `startUp`.
  @_noLocks @_noAllocation
  public func configure(on bus: inout I2CBus) throws(I2CError) {
    if Mechanism.offFirst.acts { try turnAllOff(on: &bus) }
    try bus.writeByte(Mode2.totemPole, to: address, register: Register.mode2)
    try bus.writeByte(Mode1.sleep | Mode1.autoIncrement, to: address, register: Register.mode1)
    try bus.writeByte(timing.prescale, to: address, register: Register.prescale)
    try bus.writeByte(Mode1.autoIncrement, to: address, register: Register.mode1)
  }

  /// Completes `configure`, at least `startUp` after it: restarts the PWM if the chip was put to sleep while it was pulsing. The
  /// call takes one or two transfers.
  @_noLocks @_noAllocation
  public func start(on bus: inout I2CBus) throws(I2CError) {
    let mode = try bus.readBlock(1, from: address, register: Register.mode1)[0]
    guard mode & Mode1.restart != 0 else { return }
    try bus.writeByte(Mode1.restart | Mode1.autoIncrement, to: address, register: Register.mode1)
  }

  /// Reads back whether the chip is still in the state in which `configure` left it. A chip that lost its power is asleep at 200 Hz
  /// with its outputs off, and accepts every write without a pulse. The call takes two transfers.
  @_noLocks @_noAllocation
  public func check(on bus: inout I2CBus) throws(I2CError) -> PCA9685Health {
    let modes = try bus.readBlock(2, from: address, register: Register.mode1)
    let prescale = try bus.readBlock(1, from: address, register: Register.prescale)[0]
    let isAsConfigured =
      modes[0] & ~Mode1.restart == Mode1.autoIncrement && modes[1] == Mode2.totemPole && prescale == timing.prescale
    return isAsConfigured ? .configured : .lost(mode1: modes[0], mode2: modes[1], prescale: prescale)
  }

  /// Sets `count` channels, 1…8, from `first` on, in one auto-increment transfer, so that no pulse is a mixture of an old and a new value.
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

  /// Sets one channel, in one transfer of four bytes.
  @_noLocks @_noAllocation
  public func write(_ output: PCA9685Output, to channel: Int, on bus: inout I2CBus) throws(I2CError) {
    precondition(channel >= 0 && channel < Self.channelCount, "channels are 0…15")
    var bytes = I2CBytes()
    append(output, to: &bytes)
    try bus.writeBlock(bytes, to: address, register: Register.channel(channel))
  }

  /// Stops the pulses on all channels immediately, in one transfer of one byte. A pulse in progress is cut short.
  @_noLocks @_noAllocation
  public func turnAllOff(on bus: inout I2CBus) throws(I2CError) {
    try bus.writeByte(Channel.full, to: address, register: Register.allOffHigh)
  }

  /// Stops the oscillator. The function must be called at least one `timing.period` after `turnAllOff`, because sleep cuts a pulse
  /// in progress short, which makes servos and speed controllers jump. `PCA9685Shutdown` keeps this order.
  @_noLocks @_noAllocation
  public func fallAsleep(on bus: inout I2CBus) throws(I2CError) {
    try bus.writeByte(Mode1.sleep | Mode1.autoIncrement, to: address, register: Register.mode1)
  }

  /// Appends the registers of one channel: ON at count 0 and OFF at the pulse's end, or full-off.
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

/// The output of one channel.
public enum PCA9685Output: Sendable, Hashable, BitwiseCopyable {
  /// The line stays low, so the servo gets no pulse and does not hold its position.
  case off
  /// A pulse of this width in every period. A pulse shorter than one count is off.
  case pulse(PulseWidth)

  /// Returns whether both outputs are the same. For ticks, which may not compare with `==`.
  @_noLocks @_noAllocation
  public func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.off, .off): true
    case (.pulse(let one), .pulse(let two)): one.isSame(as: two)
    case (.off, .pulse), (.pulse, .off): false
    }
  }
}

/// The outputs of all sixteen channels, which are off at first.
public struct PCA9685Outputs: Sendable, BitwiseCopyable {
  private var outputs: [16 of PCA9685Output]

  /// Creates outputs with every channel off.
  @_noLocks @_noAllocation
  public init() { outputs = .init(repeating: .off) }

  /// The output of channel 0…15.
  @_noLocks @_noAllocation
  public subscript(channel: Int) -> PCA9685Output {
    get { outputs[channel] }
    set { outputs[channel] = newValue }
  }
}

/// The result of a read-back of the configuration.
public enum PCA9685Health: Sendable, Hashable, BitwiseCopyable {
  /// The registers are as `configure` left them.
  case configured
  /// The registers are not as `configure` left them, because the chip was without power or another program writes to it.
  case lost(mode1: UInt8, mode2: UInt8, prescale: UInt8)
}
