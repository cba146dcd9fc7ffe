@_spi(FromOutside) import Conversions
import Tactus

/// The registers of a PCA9685 with the chip's own rules, and the pulses that follow from them.
///
/// Source: the datasheet's §7.3, as in README.md beside this file.
struct PCA9685Chip: BitwiseCopyable {
  /// The pulses of one channel: high for `width` from `rise` + k · period on.
  struct Train: BitwiseCopyable {
    var rise: TickInstant
    var width: Nanoseconds
    var period: Nanoseconds
  }

  private(set) var mode1: UInt8 = 0x11
  private var mode2: UInt8 = 0x04
  private var subaddresses: [4 of UInt8] = [0xE2, 0xE4, 0xE8, 0xE0]
  private var prescale: UInt8 = 0x1E
  /// The registers ON_L, ON_H, OFF_L and OFF_H of each channel.
  private var channels: [64 of UInt8]
  /// The channels that sleep has stopped, until a restart or a write to them.
  private var suspended: UInt16 = 0
  private var pointer: UInt8 = 0
  /// The instant at which the counter began. Every cycle starts a whole number of periods later.
  private var countsFrom = TickInstant(nanoseconds: 0)
  var ignored: Int64 = 0

  /// Creates a chip in its state after power-up: asleep, at 200 Hz, with all channels off.
  @_noLocks @_noAllocation
  init() {
    channels = .init(repeating: 0)
    for channel in 0..<16 { channels[4 * channel + 3] = 0x10 }
  }

  var isAsleep: Bool {
    @_noLocks @_noAllocation get { mode1 & PCA9685.Mode1.sleep != 0 }
  }
  var answersAllCall: Bool {
    @_noLocks @_noAllocation get { mode1 & PCA9685.Mode1.allCall != 0 }
  }

  @_noLocks @_noAllocation
  mutating func point(at register: UInt8) { pointer = register }

  /// Writes one byte to the register at the pointer, which then advances if MODE1 enables that.
  @_noLocks @_noAllocation
  mutating func write(_ byte: UInt8, at now: TickInstant) {
    let register = pointer
    switch register {
    case 0x00: writeMode1(byte, at: now)
    case 0x01: mode2 = byte & 0x1F
    case 0x02...0x05: subaddresses[Int(register) - 2] = byte & 0xFE
    case 0x06...0x45: writeChannels(Int(register) - 6, byte)
    case 0xFA...0xFD:
      for channel in 0..<16 { writeChannels(4 * channel + Int(register) - 0xFA, byte) }
    case 0xFE:
      if isAsleep { prescale = byte < 3 ? 3 : byte } else { ignored &+= 1 }
    default: ignored &+= 1
    }
    movePointer()
  }

  @_noLocks @_noAllocation
  mutating func read() -> UInt8 {
    let byte: UInt8
    switch pointer {
    case 0x00: byte = mode1
    case 0x01: byte = mode2
    case 0x02...0x05: byte = subaddresses[Int(pointer) - 2]
    case 0x06...0x45: byte = channels[Int(pointer) - 6]
    case 0xFE: byte = prescale
    default: byte = 0  // ALL_LED is for writing only
    }
    movePointer()
    return byte
  }

  /// Advances the register pointer, which wraps from LED15_OFF_H and from PRE_SCALE to MODE1.
  @_noLocks @_noAllocation
  private mutating func movePointer() {
    guard mode1 & PCA9685.Mode1.autoIncrement != 0 else { return }
    pointer = pointer == 0x45 || pointer == 0xFE ? 0 : pointer &+ 1
  }

  @_noLocks @_noAllocation
  private mutating func writeMode1(_ byte: UInt8, at now: TickInstant) {
    let wasAsleep = isAsleep
    var restart = mode1 & PCA9685.Mode1.restart
    // Once the external clock has been selected, only a reset selects the internal one again.
    let external = mode1 & PCA9685.Mode1.externalClock
    if byte & PCA9685.Mode1.restart != 0, byte & PCA9685.Mode1.sleep == 0, restart != 0 {
      restart = 0
      suspended = 0
    }
    mode1 = byte & 0x7F | restart | external
    if isAsleep, !wasAsleep {
      for channel in 0..<16 where hasPulse(channel) {
        suspended |= 1 << UInt16(clamping: channel)
        mode1 |= PCA9685.Mode1.restart
      }
    }
    if wasAsleep, !isAsleep { countsFrom = now + PCA9685.startUp }
  }

  @_noLocks @_noAllocation
  private mutating func writeChannels(_ index: Int, _ byte: UInt8) {
    channels[index] = byte & (index & 1 == 0 ? 0xFF : 0x1F)
    suspended &= ~(1 << UInt16(clamping: index / 4))
    mode1 &= ~PCA9685.Mode1.restart
  }

  @_noLocks @_noAllocation
  private func counts(_ index: Int) -> Int64 { Int64(channels[index]) | Int64(channels[index + 1] & 0x0F) << 8 }

  /// Returns whether a channel pulses: it is neither full-off nor full-on, and its pulse is not empty.
  @_noLocks @_noAllocation
  private func hasPulse(_ channel: Int) -> Bool {
    let index = 4 * channel
    let isFull = (channels[index + 1] | channels[index + 3]) & PCA9685.Channel.full != 0
    return !isFull && counts(index) != counts(index + 2)
  }

  /// Returns whether a channel is permanently high: full-on without full-off, and the chip awake.
  @_noLocks @_noAllocation
  func isStuckHigh(_ channel: Int) -> Bool {
    let index = 4 * channel
    let isOff = channels[index + 3] & PCA9685.Channel.full != 0
    return !isAsleep && !isOff && channels[index + 1] & PCA9685.Channel.full != 0
  }

  /// Returns the pulses of a channel from `now` on, beginning with the next cycle, or `nil` if the channel does not pulse.
  @_noLocks @_noAllocation
  func train(_ channel: Int, oscillator: Int64, at now: TickInstant) -> Train? {
    guard !isAsleep, suspended & 1 << UInt16(clamping: channel) == 0, hasPulse(channel) else { return nil }
    let index = 4 * channel
    let nanosecondsPerCount = (Int64(prescale) + 1) * 1_000_000_000
    let on = counts(index)
    let width = (counts(index + 2) - on) & 0xFFF
    let period = 4096 * nanosecondsPerCount / oscillator
    var rise = countsFrom + Nanoseconds(on * nanosecondsPerCount / oscillator)
    if rise < now {
      let cycles = ((now - rise).count + period - 1) / period
      rise = rise + Nanoseconds(cycles * period)
    }
    return Train(
      rise: rise, width: Nanoseconds(width * nanosecondsPerCount / oscillator), period: Nanoseconds(period))
  }
}
