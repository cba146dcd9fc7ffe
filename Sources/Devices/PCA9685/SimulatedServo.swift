import Buses
import Tactus
import Wire

/// A hobby servo on one channel of a simulated PCA9685, as seen from outside.
public struct SimulatedServo: Sendable, Hashable, BitwiseCopyable {
  /// Where the horn is, in degrees: −90 at a pulse of 500 µs, 90 at 2500 µs; 0 at first.
  public var position = 0.0
  /// Where its last whole pulse sends it, or `nil` if it has never had one.
  public var target: Double?
  /// The width of the pulses that it is given, or `nil` if there is none.
  public var pulse: Nanoseconds?
  /// When its last whole pulse ended, or `nil` if it has never had one.
  public var lastPulse: TickInstant?
  /// Whole pulses so far.
  public var pulses: Int64 = 0
  /// Pulses that were cut short so far.
  public var cutPulses: Int64 = 0
  /// The line is high all the time, which no servo understands and some do not survive.
  public var isStuckHigh = false

  @_noLocks @_noAllocation
  init() {}

  /// Without a pulse for this long a servo lets go.
  static var hold: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(50_000_000) }
  }

  /// A whole pulse, or the last of several of this width.
  @_noLocks @_noAllocation
  mutating func take(_ width: Nanoseconds, at end: TickInstant) {
    let degrees = Double(width.count - 1_500_000) * 0.000_09
    target = degrees < -90 ? -90 : degrees > 90 ? 90 : degrees
    lastPulse = end
  }

  /// Turns toward the target from `start` to `end`, while it is held.
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

/// What can be seen of a simulated PCA9685 and its servos.
public struct SimulatedServosSnapshot: Sendable, BitwiseCopyable {
  /// The instant of everything else: the last access to the chip, or the last `advance`.
  public var at = TickInstant(nanoseconds: 0)
  private var servos: [16 of SimulatedServo]
  /// Writes that the chip acknowledged and ignored: PRE_SCALE while awake, a register that is none.
  public var ignored: Int64 = 0
  /// Times that the chip came up from nothing, the first not counted.
  public var resets: Int64 = 0
  /// Whether the oscillator of the chip is off, so that it pulses nothing.
  public var isAsleep = true

  @_noLocks @_noAllocation
  init() { servos = .init(repeating: SimulatedServo()) }

  /// Channel 0…15.
  @_noLocks @_noAllocation
  public subscript(channel: Int) -> SimulatedServo {
    get { servos[channel] }
    set { servos[channel] = newValue }
  }
}
