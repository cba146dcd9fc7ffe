import Buses
import Tactus
import Wire

/// A hobby servo on one channel of a simulated PCA9685, as seen from outside.
public struct SimulatedServo: Sendable, Hashable, BitwiseCopyable {
  /// The position of the horn in degrees: −90 for a pulse of 500 µs, 90 for 2500 µs, and 0 at first.
  public var position = 0.0
  /// The position in degrees of the last whole pulse, or `nil` if the servo has never had a whole pulse.
  public var target: Double?
  /// The width of the present pulses, or `nil` if the channel does not pulse.
  public var pulse: Nanoseconds?
  /// The instant at which the last whole pulse ended, or `nil` if the servo has never had a whole pulse.
  public var lastPulse: TickInstant?
  /// The number of whole pulses so far.
  public var pulses: Int64 = 0
  /// The number of pulses that were cut short so far.
  public var cutPulses: Int64 = 0
  /// Whether the line is permanently high, which no servo understands and which damages some.
  public var isStuckHigh = false

  @_noLocks @_noAllocation
  init() {}

  /// The time without a pulse after which a servo stops holding its position.
  static var hold: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(50_000_000) }
  }

  /// Receives a whole pulse, or the last of several of this width.
  @_noLocks @_noAllocation
  mutating func receive(_ width: Nanoseconds, at end: TickInstant) {
    let degrees = Double(width.count - 1_500_000) * 0.000_09
    target = degrees < -90 ? -90 : degrees > 90 ? 90 : degrees
    lastPulse = end
  }

  /// Turns the servo toward its target from `start` to `end`, while it holds its position.
  @_noLocks @_noAllocation
  mutating func turn(from start: TickInstant, to end: TickInstant, degreesPerSecond: Double) {
    guard let target, let lastPulse else { return }
    let letsGo = lastPulse + Self.hold
    let until = letsGo < end ? letsGo : end
    guard start < until else { return }
    let reach = degreesPerSecond * (until - start).inSeconds
    let way = target - position
    position = way.magnitude <= reach ? target : position + (way < 0 ? -reach : reach)
  }
}

/// The state of a simulated PCA9685 and its servos as seen from outside.
public struct SimulatedServosSnapshot: Sendable, BitwiseCopyable {
  /// The instant of all other values: the last access to the chip, or the last `advance`.
  public var at = TickInstant(nanoseconds: 0)
  private var servos: [16 of SimulatedServo]
  /// The number of writes that the chip acknowledged and ignored: PRE_SCALE while awake, or a register that does not exist.
  public var ignored: Int64 = 0
  /// The number of times that the chip has powered up, without the first.
  public var resets: Int64 = 0
  /// Whether the oscillator of the chip is off, so that no channel pulses.
  public var isAsleep = true

  @_noLocks @_noAllocation
  init() { servos = .init(repeating: SimulatedServo()) }

  /// The servo on channel 0…15.
  @_noLocks @_noAllocation
  public subscript(channel: Int) -> SimulatedServo {
    get { servos[channel] }
    set { servos[channel] = newValue }
  }
}
