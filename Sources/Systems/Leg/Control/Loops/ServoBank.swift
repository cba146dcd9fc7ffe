import Buses
@_spi(FromOutside) import Conversions
import Devices
import Tactus
import Wire

/// The reason why the chips cannot be relied on.
public enum ServoBankFailure: Sendable, Hashable, BitwiseCopyable {
  case bus(I2CError)
  /// The chip at this address answers, but not with the registers that were written, because it was without power.
  case lostConfiguration(PCA9685Health, at: I2CAddress)
  /// An output-enable line could not be set or read.
  case outputEnable(GPIOError)
  /// An output-enable line was set but reads as the opposite level: it is shorted, or its driver is burnt out.
  case outputEnableStuck(isEnabled: Bool)
}

/// The status of the servo chips, as published to other threads.
public struct ServoBankStatus: Sendable, BitwiseCopyable {
  /// Whether every chip is configured and answers.
  public internal(set) var isReady = false
  /// The number of chips, 1…8.
  public internal(set) var chips = 1
  /// The last failure, or `nil` if none has occurred since the start.
  public internal(set) var lastFailure: ServoBankFailure?
  public internal(set) var failures: Int64 = 0
  /// The number of transfers that wrote pulses or turned channels off.
  public internal(set) var writes: Int64 = 0
  /// The number of channels written in all transfers together.
  public internal(set) var channelsWritten: Int64 = 0
  /// The number of times that the chips were configured, including the first. All of them are configured together.
  public internal(set) var configurations: Int64 = 0
  /// The number of bus transfers that succeeded only after a retry.
  public internal(set) var retries: Int64 = 0
  public internal(set) var hasEnableLine = false
  /// Whether an output-enable line lets pulses out, or `nil` if there is no such line or the levels are not known.
  public internal(set) var outputsEnabled: Bool?
  /// The number of times that the output-enable lines could not be set or read.
  public internal(set) var enableFailures: Int64 = 0
  /// The last error of the output-enable lines, or `nil` if none has occurred.
  public internal(set) var lastEnableFailure: GPIOError?

  @_noLocks @_noAllocation
  init() {}
}

/// One of the chips of a `ServoBank`.
private struct ServoChip: BitwiseCopyable {
  let chip: PCA9685
  /// The chip's output-enable line as a bit of the request of all lines, or 0 if its pin is tied low.
  let line: UInt64
  var wanted = PCA9685Outputs()
  var written = PCA9685Outputs()
  /// A bit for each channel whose output may differ from the one written to the chip.
  var changed: UInt16 = 0
  /// A bit for each channel on which a pulse is wanted.
  var pulsing: UInt16 = 0

  init(_ chip: PCA9685, line: UInt64) { (self.chip, self.line) = (chip, line) }

  @_noLocks @_noAllocation
  mutating func forget() {
    wanted = PCA9685Outputs()
    written = PCA9685Outputs()
    (changed, pulsing) = (0, 0)
  }
}

/// The PCA9685s that drive servos, 1…8 on one bus: the wanted output of each channel, the output written to its chip, and whether the
/// chips can be relied on.
///
/// An output is a number: 16 times the place of its chip plus the channel, 0…127. The type is not copyable, because
/// only one loop owns the chips. The chips are one unit: a failure of one is a failure of all, since a machine must not
/// move with some of its joints only. After a failure only the off of all channels and the configuration are written,
/// and the configuration is tried once a period. Allocates nothing; a call makes at most the transfers of one driver
/// call a chip.
///
/// The chips' output-enable pins, if lines are wired to them, one for each chip or one for several, can end all pulses without the bus:
/// a line lets pulses out only while the chips are ready and a pulse is wanted on one of its chips. A failure of a line counts as a
/// failure of the chips, because it is then not known whether pulses that should come out do, or whether pulses that must end would.
struct ServoBank: ~Copyable {
  enum Phase: BitwiseCopyable {
    /// The chips are not configured, or one has failed since they were.
    case lost
    /// The chips are configured, and their oscillators start up until this instant.
    case starting(until: TickInstant)
    case ready
  }
  /// The chips, `count` of them. They are stored behind a pointer, because Swift copies a whole inline array to read a
  /// member of one element.
  private let chips: UnsafeMutablePointer<ServoChip>
  let count: Int
  /// The chips' bus. The loop also uses it for other chips, such as that of the battery.
  var bus: I2CBus
  private(set) var phase = Phase.lost
  private var enable: GPIOLines?
  /// The active lines, a bit each, or `nil` if there are no lines or their levels are not known.
  private var levels: UInt64?
  private(set) var status = ServoBankStatus()

  /// Takes over the bus of the chips and their output-enable lines.
  ///
  /// - Parameters:
  ///   - chips: 1…8 chips with different addresses; anything else is a programming error.
  ///   - enable: the lines that are active when pulses may come out, or `nil` if every pin is wired to be active permanently.
  ///   - lines: for each chip the number of its line, or `nil` if its pin is wired to be active permanently.
  init(_ chips: [PCA9685], on bus: consuming I2CBus, enable: consuming GPIOLines?, lines: [Int?]) {
    precondition((1...LegLoop.maximumChips).contains(chips.count), "there are 1…8 chips")
    precondition(Set(chips.map(\.address)).count == chips.count, "two chips at one address")
    precondition(lines.count == chips.count, "a line, or none, for every chip")
    let lineCount = enable?.count ?? 0
    precondition(lines.allSatisfy { $0.map { (0..<lineCount).contains($0) } ?? true }, "no such output-enable line")
    count = chips.count
    self.chips = .allocate(capacity: chips.count)
    for (index, chip) in chips.enumerated() {
      (self.chips + index).initialize(
        to: ServoChip(chip, line: lines[index].map { 1 << UInt64(truncatingIfNeeded: $0) } ?? 0))
    }
    self.bus = bus
    self.enable = enable
    status.chips = count
    // The lines are requested as inactive.
    if self.enable != nil {
      status.hasEnableLine = true
      status.outputsEnabled = false
      levels = 0
    }
  }

  deinit { chips.deallocate() }

  func addMemory(to memory: inout LoopMemory) { memory.add(chips, count: count) }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) {
    bus.now = now
    enable?.now = now
  }

  /// The instant at which the oscillators have started up, or `nil` unless they are starting.
  var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .starting(let until) = phase else { return nil }
      return until
    }
  }

  /// Turns every channel off and writes the whole configuration of every chip. `start` must follow at `nextDeadline`.
  @_noLocks @_noAllocation
  mutating func configure() throws(ServoBankFailure) {
    // All channels are turned off before the first chip is configured, because the other chips may still emit pulses.
    if count > 1, Mechanism.offFirst.acts { try turnAllOff() }
    for index in 0..<count {
      do { try chips[index].chip.configure(on: &bus) } catch { throw fail(.bus(error)) }
    }
    forget()
    try disable()
    try checkLines()
    phase = .starting(until: bus.now + PCA9685.startUp)
    status.configurations &+= 1
  }

  @_noLocks @_noAllocation
  mutating func start() throws(ServoBankFailure) {
    for index in 0..<count {
      do { try chips[index].chip.start(on: &bus) } catch { throw fail(.bus(error)) }
    }
    phase = .ready
    status.isReady = true
  }

  /// Checks that every chip still has its configuration and that the output-enable lines have the levels that were set.
  @_noLocks @_noAllocation
  mutating func check() throws(ServoBankFailure) {
    for index in 0..<count {
      let health: PCA9685Health
      do { health = try chips[index].chip.check(on: &bus) } catch { throw fail(.bus(error)) }
      guard case .configured = health else { throw fail(.lostConfiguration(health, at: chips[index].chip.address)) }
    }
    try checkLines()
  }

  @_noLocks @_noAllocation
  private mutating func checkLines() throws(ServoBankFailure) {
    guard let expected = levels else { return }
    let active: UInt64?
    do throws(GPIOError) {
      active = try enable?.read()
    } catch {
      count(error)
      throw fail(.outputEnable(error))
    }
    guard let active, active != expected else { return }
    throw fail(.outputEnableStuck(isEnabled: active & ~expected != 0))
  }

  /// Sets the wanted pulse of an output, which the next `flush` writes.
  @_noLocks @_noAllocation
  mutating func set(_ output: Int, _ pulse: PulseWidth) {
    let (chip, channel) = (chips + output / PCA9685.channelCount, output % PCA9685.channelCount)
    chip.pointee.wanted[channel] = .pulse(pulse)
    chip.pointee.changed |= Self.bit(channel)
    chip.pointee.pulsing |= Self.bit(channel)
  }

  /// Turns an output off at once. Returns whether its chip has confirmed it; false means that the chips are not configured, and the off
  /// waits for `configure`.
  @_noLocks @_noAllocation
  mutating func turnOff(_ output: Int) throws(ServoBankFailure) -> Bool {
    let (chip, channel) = (chips + output / PCA9685.channelCount, output % PCA9685.channelCount)
    chip.pointee.wanted[channel] = .off
    chip.pointee.changed |= Self.bit(channel)
    chip.pointee.pulsing &= ~Self.bit(channel)
    if case .lost = phase { return false }
    do { try chip.pointee.chip.write(.off, to: channel, on: &bus) } catch { throw fail(.bus(error)) }
    count(channels: 1)
    chip.pointee.written[channel] = .off
    return true
  }

  /// Turns some channels of a chip off at once: by one transfer of one byte if no other channel of the chip has a pulse, else one by one.
  /// Returns as `turnOff` of one output does.
  ///
  /// - Parameter channels: a bit for each channel.
  @_noLocks @_noAllocation
  mutating func turnOff(_ channels: UInt16, ofChip index: Int) throws(ServoBankFailure) -> Bool {
    let chip = chips + index
    guard chip.pointee.pulsing & ~channels == 0 else {
      var isConfirmed = true
      for channel in 0..<PCA9685.channelCount where channels & Self.bit(channel) != 0 {
        if try !turnOff(index * PCA9685.channelCount + channel) { isConfirmed = false }
      }
      return isConfirmed
    }
    chip.pointee.wanted = PCA9685Outputs()
    (chip.pointee.changed, chip.pointee.pulsing) = (.max, 0)
    if case .lost = phase { return false }
    do { try chip.pointee.chip.turnAllOff(on: &bus) } catch { throw fail(.bus(error)) }
    count(channels: PCA9685.channelCount)
    chip.pointee.written = PCA9685Outputs()
    return true
  }

  /// Turns all channels off in one transfer a chip, whatever the phase. A chip that does not answer does not prevent the off of another; only
  /// a bus that timed out does, since every further transfer would take as long.
  @_noLocks @_noAllocation
  mutating func turnAllOff() throws(ServoBankFailure) {
    for index in 0..<count {
      let chip = chips + index
      chip.pointee.wanted = PCA9685Outputs()
      (chip.pointee.changed, chip.pointee.pulsing) = (.max, 0)
    }
    // The lines are set before the transfers, which may take long to fail.
    _ = setEnabled(0)
    var failure: ServoBankFailure?
    for index in 0..<count {
      let chip = chips + index
      do throws(I2CError) {
        try chip.pointee.chip.turnAllOff(on: &bus)
        count(channels: PCA9685.channelCount)
        chip.pointee.written = PCA9685Outputs()
      } catch {
        if case nil = failure { failure = .bus(error) }
        if case .timedOut = error { break }
      }
    }
    if let failure { throw fail(failure) }
  }

  /// Writes the channels whose wanted output differs from the one written before: adjacent channels in one transfer, unchanged ones not
  /// at all.
  @_noLocks @_noAllocation
  mutating func flush() throws(ServoBankFailure) {
    guard case .ready = phase else { return }
    for index in 0..<count { try writeChannels(index) }
    var lines: UInt64 = 0
    for index in 0..<count where chips[index].pulsing != 0 { lines |= chips[index].line }
    // The lines are set after the channels, so that no pulse older than this tick comes out.
    if !setEnabled(lines), let error = status.lastEnableFailure { throw fail(.outputEnable(error)) }
  }

  @_noLocks @_noAllocation
  private mutating func disable() throws(ServoBankFailure) {
    if !setEnabled(0), let error = status.lastEnableFailure { throw fail(.outputEnable(error)) }
  }

  /// Makes the output-enable lines with a bit in `lines` active and the others inactive, unless they are already. Returns whether the
  /// lines now have these levels; if not, the next call tries again.
  @_noLocks @_noAllocation
  private mutating func setEnabled(_ lines: UInt64) -> Bool {
    guard let all = enable?.all else { return true }
    let wanted = Mechanism.outputEnable.acts ? lines : lines | (levels ?? 0)
    if let levels, levels == wanted { return true }
    guard wanted != 0 || Mechanism.outputEnable.acts else { return true }
    do throws(GPIOError) {
      try enable?.set(mask: all, values: wanted)
      levels = wanted
      status.outputsEnabled = wanted != 0
      return true
    } catch {
      count(error)
      return false
    }
  }

  @_noLocks @_noAllocation
  private mutating func count(_ error: GPIOError) {
    levels = nil
    status.outputsEnabled = nil
    status.enableFailures &+= 1
    status.lastEnableFailure = error
  }

  @_noLocks @_noAllocation
  private mutating func writeChannels(_ index: Int) throws(ServoBankFailure) {
    let chip = chips + index
    guard chip.pointee.changed != 0 else { return }
    var first = 0
    while first < PCA9685.channelCount {
      guard isDirty(index, first) else {
        first &+= 1
        continue
      }
      var end = first &+ 1
      while end < PCA9685.channelCount, end - first < PCA9685.channelsPerWrite, isDirty(index, end) { end &+= 1 }
      do {
        try chip.pointee.chip.write(chip.pointee.wanted, first: first, count: end - first, on: &bus)
      } catch {
        throw fail(.bus(error))
      }
      count(channels: end - first)
      for channel in first..<end { chip.pointee.written[channel] = chip.pointee.wanted[channel] }
      first = end
    }
    chip.pointee.changed = 0
  }

  @_noLocks @_noAllocation
  private func isDirty(_ index: Int, _ channel: Int) -> Bool {
    !chips[index].wanted[channel].isSame(as: chips[index].written[channel])
  }

  @_noLocks @_noAllocation
  private static func bit(_ channel: Int) -> UInt16 { 1 &<< UInt16(truncatingIfNeeded: channel) }

  @_noLocks @_noAllocation
  private mutating func forget() {
    for index in 0..<count { (chips + index).pointee.forget() }
  }

  @_noLocks @_noAllocation
  private mutating func count(channels: Int) {
    status.writes &+= 1
    status.channelsWritten &+= Int64(channels)
    status.retries = bus.retries
  }

  @_noLocks @_noAllocation
  private mutating func fail(_ failure: ServoBankFailure) -> ServoBankFailure {
    phase = .lost
    forget()
    // A line that has just failed is tried again by the off of all channels that follows.
    if !failure.isOfLine { _ = setEnabled(0) }
    status.isReady = false
    status.lastFailure = failure
    status.failures &+= 1
    status.retries = bus.retries
    return failure
  }
}

extension ServoBankFailure: Error {
  /// Whether the failure is a timeout of the bus; another transfer on a stuck bus would cost the tick the same time again.
  var isTimeOut: Bool {
    @_noLocks @_noAllocation get {
      if case .bus(.timedOut) = self { return true }
      return false
    }
  }

  var isOfLine: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .outputEnable: true
      case .bus, .lostConfiguration, .outputEnableStuck: false
      }
    }
  }
}

extension ServoBankFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .bus(let error): "the servo chip does not take a write: \(error)"
    case .lostConfiguration(.lost(let mode1, let mode2, let prescale), let address):
      "the servo chip at 0x\(hex(address.value)) has lost its configuration (MODE1 0x\(hex(mode1)), MODE2 0x\(hex(mode2)), PRE_SCALE 0x\(hex(prescale)))"
    case .lostConfiguration(.configured, let address): "the servo chip at 0x\(hex(address.value)) is configured"
    case .outputEnable(let error): "the output-enable line does not take its level: \(error)"
    case .outputEnableStuck(let isEnabled):
      "the output-enable line was set \(isEnabled ? "inactive and is active" : "active and is inactive")"
    }
  }
}

/// Prepares the errors of the drivers and of the decoder, so that throwing one later does not allocate; see `prepareDriversToThrow`.
@inline(never) @_optimize(none)
func prepareLegsToThrow() {
  prepareDriversToThrow()
  do throws(ServoBankFailure) { throw .lostConfiguration(.configured, at: PCA9685.standardAddress) } catch {}
  _ = try? LegCommand.decode(UnsafeRawBufferPointer(start: nil, count: 0))
  _ = try? LegTelemetry.decode(UnsafeRawBufferPointer(start: nil, count: 0))
}
