import Devices

/// The configuration of one leg of a `LegLoop`: its settings and its servo.
public struct LegConfiguration: Sendable, Hashable {
  public var settings: LegSettings
  public var channel: ServoChannel
  /// The place of the servo's chip among the chips of the loop, from 0.
  public var chip: Int
  /// The number of the leg's group, or `nil` if the leg is on its own; see `LegServo.group`.
  public var group: Int?

  /// Creates a configuration. Both the limits of the settings and those of the channel apply to a pulse, but telemetry reports a clamp
  /// only for the former.
  public init(_ settings: LegSettings = .standard, channel: ServoChannel, chip: Int = 0, group: Int? = nil) {
    self.settings = settings
    self.channel = channel
    self.chip = chip
    self.group = group
  }

  /// Where the leg's servo is, and its group.
  public var servo: LegServo { LegServo(channel, chip: chip, group: group) }
}
