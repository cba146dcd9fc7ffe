@_spi(FromOutside) import Conversions
import Tactus
import Wire

/// A servo on a channel: its travel, its middle, and whether it is mounted the other way round.
public struct ServoChannel: Sendable, Hashable, BitwiseCopyable {
  /// The output of the chip, 0…15.
  public let number: Int
  /// The shortest pulse, as commanded before the inversion.
  public let lowest: PulseWidth
  /// The pulse for the middle, as commanded.
  public let centre: PulseWidth
  /// The longest pulse, as commanded before the inversion.
  public let highest: PulseWidth
  /// Whether the travel is mirrored about the centre: `lowest` and `highest` change places, the centre stays.
  public let isInverted: Bool

  /// Creates a channel. Throws if the number is out of range, or unless 500 µs ≤ lowest ≤ centre ≤ highest ≤ 2500 µs and lowest < highest.
  public init(
    _ number: Int, lowest: PulseWidth = .shortest, centre: PulseWidth = .middle, highest: PulseWidth = .longest,
    isInverted: Bool = false
  ) throws(ServoChannelError) {
    guard (0..<PCA9685.channelCount).contains(number) else { throw .number(number) }
    guard PulseWidth.shortest <= lowest, lowest <= centre, centre <= highest, highest <= .longest, lowest < highest
    else { throw .travel(lowest: lowest, centre: centre, highest: highest) }
    self.number = number
    self.lowest = lowest
    self.centre = centre
    self.highest = highest
    self.isInverted = isInverted
  }

  /// Returns the pulse that is sent to the servo for a commanded pulse: clamped, then mirrored if the servo is inverted.
  ///
  /// The mirror keeps the share of the travel on each side of the centre: half-way to the highest pulse becomes half-way to the lowest.
  @_noLocks @_noAllocation
  public func wired(_ pulse: PulseWidth) -> PulseWidth {
    let wanted = Mechanism.servoTravel.acts ? pulse.clamped(from: lowest, to: highest) : pulse
    guard isInverted else { return wanted }
    let below = Int(centre.microseconds) - Int(lowest.microseconds)
    let above = Int(highest.microseconds) - Int(centre.microseconds)
    let offset = Int(wanted.microseconds) - Int(centre.microseconds)
    let (from, onto) = offset > 0 ? (above, below) : (below, above)
    guard from > 0 else { return centre }
    // The quotient is rounded to nearest, with halves away from the centre.
    let mirrored = (offset.magnitude * UInt(clamping: onto) * 2 + UInt(clamping: from)) / (UInt(clamping: from) * 2)
    let result =
      offset > 0
      ? Int(centre.microseconds) - Int(clamping: mirrored) : Int(centre.microseconds) + Int(clamping: mirrored)
    return PulseWidth(microseconds: UInt16(truncatingIfNeeded: result))
  }
}

/// The reason why a channel is invalid.
public enum ServoChannelError: Error, Sendable, Hashable {
  /// The chip has no such output.
  case number(Int)
  /// The three pulses are out of range or out of order.
  case travel(lowest: PulseWidth, centre: PulseWidth, highest: PulseWidth)
}

extension ServoChannelError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .number(let number): "servo channel: expected 0…15, got \(number)"
    case .travel(let lowest, let centre, let highest):
      "servo travel: expected 500 µs ≤ lowest ≤ centre ≤ highest ≤ 2500 µs, got \(lowest), \(centre), \(highest)"
    }
  }
}
