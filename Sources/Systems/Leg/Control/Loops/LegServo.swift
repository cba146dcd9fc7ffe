import Devices

/// The servo of one leg: its channel, its chip, and the legs that it belongs together with.
public struct LegServo: Sendable, Hashable {
  /// The channel of the chip, with the direction and the middle of the servo.
  public let channel: ServoChannel
  /// The place of the servo's chip among the chips of the loop, from 0.
  public let chip: Int
  /// The number of the leg's group, or `nil` if the leg is on its own.
  ///
  /// The legs of a group have one arm, one disarm and one deadman: what arms, disarms, feeds, resets or unlinks one of them does so to all
  /// of them in the same tick. Each keeps its own pulse, its own limits and its own port.
  public let group: Int?

  /// Creates the servo of a leg.
  public init(_ channel: ServoChannel, chip: Int = 0, group: Int? = nil) {
    self.channel = channel
    self.chip = chip
    self.group = group
  }
}
