import Buses
import Devices
import Tactus
import Wire

/// Why the chip is not to be trusted.
public enum ServoBankFailure: Sendable, Hashable, BitwiseCopyable {
  case bus(I2CError)
  /// It answers, but not with the registers that were written: it was without power.
  case lostConfiguration(PCA9685Health)
  /// The output-enable line does not take its level.
  case outputEnable(GPIOError)
  /// It took its level, and shows the other one: shorted, or its driver burnt out.
  case outputEnableStuck(isEnabled: Bool)
}

/// The chip as other threads see it.
public struct ServoBankStatus: Sendable, BitwiseCopyable {
  public internal(set) var isReady = false
  /// The last failure, or `nil` if there was none since the start.
  public internal(set) var lastFailure: ServoBankFailure?
  public internal(set) var failures: Int64 = 0
  /// Transfers that wrote pulses or off, and channels in them.
  public internal(set) var writes: Int64 = 0
  public internal(set) var channelsWritten: Int64 = 0
  /// Times that the chip was configured, the first one counted.
  public internal(set) var configurations: Int64 = 0
  /// Bus transfers that succeeded only after a retry.
  public internal(set) var retries: Int64 = 0
  public internal(set) var hasEnableLine = false
  /// Whether the output-enable line lets pulses out, or `nil` if there is no such line, or it does not answer.
  public internal(set) var outputsEnabled: Bool?
  /// Times that the output-enable line did not take its level, and why it did not the last time.
  public internal(set) var enableFailures: Int64 = 0
  public internal(set) var lastEnableFailure: GPIOError?

  @_noLocks @_noAllocation
  init() {}
}

/// A PCA9685 that servos hang on: what is wanted of each channel, what the chip was told, and whether it can be trusted.
///
/// Not copyable: one chip, one owning loop. After a failure nothing is written but the off of all channels and the
/// configuration, which is tried once a period. Allocates nothing; a call makes at most the transfers of one driver call.
///
/// The chip's output-enable pin, if a line is wired to it, is the way to no pulse that needs no bus: it lets pulses out only
/// while the chip is ready and a pulse is wanted of some channel. A line that fails is a failure like the chip's: it is not known
/// whether pulses come out that should, or whether those would end that must.
struct ServoBank: ~Copyable {
  enum Phase: BitwiseCopyable {
    /// Not configured, or failed since.
    case lost
    /// Configured; the oscillator needs until then.
    case starting(until: TickInstant)
    case ready
  }
  private let chip: PCA9685
  /// What else hangs on it is the loop's affair.
  var bus: I2CBus
  private(set) var phase = Phase.lost
  private var wanted = PCA9685Outputs()
  private var written = PCA9685Outputs()
  /// A bit for each channel that may differ from what the chip was told, and one for each of which a pulse is wanted.
  private var changed: UInt16 = 0
  private var pulsing: UInt16 = 0
  private var enable: GPIOLines?
  private(set) var status = ServoBankStatus()

  /// `enable`: one line, active when pulses come out, or `nil` if the pin is wired to be always so.
  init(_ chip: PCA9685, on bus: consuming I2CBus, enable: consuming GPIOLines?) {
    self.chip = chip
    self.bus = bus
    self.enable = enable
    // Inactive by its request.
    if self.enable != nil {
      status.hasEnableLine = true
      status.outputsEnabled = false
    }
  }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) {
    bus.now = now
    enable?.now = now
  }

  /// When the oscillator runs.
  var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard case .starting(let until) = phase else { return nil }
      return until
    }
  }

  /// Full-off on every channel and the whole configuration. Afterwards every channel is off; `start` comes at `nextDeadline`.
  @_noLocks @_noAllocation
  mutating func configure() throws(ServoBankFailure) {
    do { try chip.configure(on: &bus) } catch { throw fail(.bus(error)) }
    forget()
    try disable()
    try checkLine()
    phase = .starting(until: bus.now + PCA9685.startUp)
    status.configurations &+= 1
  }

  @_noLocks @_noAllocation
  mutating func start() throws(ServoBankFailure) {
    do { try chip.start(on: &bus) } catch { throw fail(.bus(error)) }
    phase = .ready
    status.isReady = true
  }

  /// Whether the chip still is as it was configured, and the line as it was set.
  @_noLocks @_noAllocation
  mutating func check() throws(ServoBankFailure) {
    let health: PCA9685Health
    do { health = try chip.check(on: &bus) } catch { throw fail(.bus(error)) }
    guard case .configured = health else { throw fail(.lostConfiguration(health)) }
    try checkLine()
  }

  @_noLocks @_noAllocation
  private mutating func checkLine() throws(ServoBankFailure) {
    guard let expected = status.outputsEnabled else { return }
    let active: UInt64?
    do throws(GPIOError) {
      active = try enable?.read()
    } catch {
      status.outputsEnabled = nil
      count(error)
      throw fail(.outputEnable(error))
    }
    guard let active else { return }
    let isEnabled = active != 0
    if isEnabled != expected { throw fail(.outputEnableStuck(isEnabled: isEnabled)) }
  }

  /// Takes effect with `flush`.
  @_noLocks @_noAllocation
  mutating func set(_ channel: Int, _ pulse: PulseWidth) {
    wanted[channel] = .pulse(pulse)
    changed |= 1 &<< UInt16(truncatingIfNeeded: channel)
    pulsing |= 1 &<< UInt16(truncatingIfNeeded: channel)
  }

  /// Off, at once. False: the chip is not to be trusted, and its off waits for `configure`.
  @_noLocks @_noAllocation
  mutating func turnOff(_ channel: Int) throws(ServoBankFailure) -> Bool {
    wanted[channel] = .off
    changed |= 1 &<< UInt16(truncatingIfNeeded: channel)
    pulsing &= ~(1 &<< UInt16(truncatingIfNeeded: channel))
    if case .lost = phase { return false }
    do { try chip.write(.off, to: channel, on: &bus) } catch { throw fail(.bus(error)) }
    count(channels: 1)
    written[channel] = .off
    return true
  }

  /// Off on all channels in one transfer, whatever the phase.
  @_noLocks @_noAllocation
  mutating func turnAllOff() throws(ServoBankFailure) {
    wanted = PCA9685Outputs()
    (changed, pulsing) = (.max, 0)
    // Before the transfer, which may take its time to fail.
    _ = setEnabled(false)
    do { try chip.turnAllOff(on: &bus) } catch { throw fail(.bus(error)) }
    count(channels: PCA9685.channelCount)
    written = PCA9685Outputs()
  }

  /// Writes what differs from what the chip was told: adjacent channels in one transfer, unchanged ones not at all.
  @_noLocks @_noAllocation
  mutating func flush() throws(ServoBankFailure) {
    guard case .ready = phase else { return }
    try writeChannels()
    // After the channels: nothing comes out that is older than this tick.
    if !setEnabled(pulsing != 0), let error = status.lastEnableFailure { throw fail(.outputEnable(error)) }
  }

  @_noLocks @_noAllocation
  private mutating func disable() throws(ServoBankFailure) {
    if !setEnabled(false), let error = status.lastEnableFailure { throw fail(.outputEnable(error)) }
  }

  /// Tried again at every call until the line has taken it. False: it has not.
  @_noLocks @_noAllocation
  private mutating func setEnabled(_ isEnabled: Bool) -> Bool {
    guard enable != nil, isEnabled || Mechanism.outputEnable.acts else { return true }
    switch (status.outputsEnabled, isEnabled) {
    case (true?, true), (false?, false): return true
    default: break
    }
    do throws(GPIOError) {
      try enable?.set(0, isEnabled)
      status.outputsEnabled = isEnabled
      return true
    } catch {
      status.outputsEnabled = nil
      count(error)
      return false
    }
  }

  @_noLocks @_noAllocation
  private mutating func count(_ error: GPIOError) {
    status.enableFailures &+= 1
    status.lastEnableFailure = error
  }

  @_noLocks @_noAllocation
  private mutating func writeChannels() throws(ServoBankFailure) {
    guard changed != 0 else { return }
    var first = 0
    while first < PCA9685.channelCount {
      guard isDirty(first) else {
        first &+= 1
        continue
      }
      var end = first &+ 1
      while end < PCA9685.channelCount, end - first < PCA9685.channelsPerWrite, isDirty(end) { end &+= 1 }
      do { try chip.write(wanted, first: first, count: end - first, on: &bus) } catch { throw fail(.bus(error)) }
      count(channels: end - first)
      for channel in first..<end { written[channel] = wanted[channel] }
      first = end
    }
    changed = 0
  }

  @_noLocks @_noAllocation
  private func isDirty(_ channel: Int) -> Bool { !wanted[channel].isSame(as: written[channel]) }

  @_noLocks @_noAllocation
  private mutating func forget() {
    wanted = PCA9685Outputs()
    written = PCA9685Outputs()
    (changed, pulsing) = (0, 0)
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
    if !failure.isOfLine { _ = setEnabled(false) }
    status.isReady = false
    status.lastFailure = failure
    status.failures &+= 1
    status.retries = bus.retries
    return failure
  }
}

extension ServoBankFailure: Error {
  /// On a stuck bus another transfer costs the tick the same time again.
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
    case .lostConfiguration(.lost(let mode1, let mode2, let prescale)):
      "the servo chip has lost its configuration (MODE1 0x\(hex(mode1)), MODE2 0x\(hex(mode2)), PRE_SCALE 0x\(hex(prescale)))"
    case .lostConfiguration(.configured): "the servo chip is configured"
    case .outputEnable(let error): "the output-enable line does not take its level: \(error)"
    case .outputEnableStuck(let isEnabled):
      "the output-enable line was set \(isEnabled ? "inactive and is active" : "active and is inactive")"
    }
  }
}

/// See `prepareDriversToThrow`; also what the decoder throws.
@inline(never) @_optimize(none)
func prepareLegsToThrow() {
  prepareDriversToThrow()
  do throws(ServoBankFailure) { throw .lostConfiguration(.configured) } catch {}
  _ = try? LegCommand.decode(UnsafeRawBufferPointer(start: nil, count: 0))
  _ = try? LegTelemetry.decode(UnsafeRawBufferPointer(start: nil, count: 0))
}
