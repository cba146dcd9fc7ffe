import Devices

/// The servo of one leg: its channel, its chip, and the group of the leg.
public struct LegServo: Sendable, Hashable {
  /// The channel of the chip, with the direction and the middle of the servo.
  public let channel: ServoChannel
  /// The index of the servo's chip among the chips of the loop, from 0.
  public let chip: Int
  /// The number of the leg's group, or `nil` if the leg is on its own.
  ///
  /// The legs of a group have one arm, one disarm and one deadman: an event that arms, disarms, feeds, resets or
  /// unlinks one of them does so to all of them in the same tick. Each keeps its own pulse, its own limits and its own
  /// port.
  public let group: Int?

  /// Creates the servo of a leg.
  public init(_ channel: ServoChannel, chip: Int = 0, group: Int? = nil) {
    self.channel = channel
    self.chip = chip
    self.group = group
  }
}

/// The configuration of one leg of a `LegLoop`: its settings and its servo.
public struct LegConfiguration: Sendable, Hashable {
  public var settings: LegSettings
  public var channel: ServoChannel
  /// The index of the servo's chip among the chips of the loop, from 0.
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

  /// The chip and the channel of the leg's servo, and its group.
  public var servo: LegServo { LegServo(channel, chip: chip, group: group) }
}

/// The loop's state for one leg.
struct LegSlot: BitwiseCopyable {
  var machine: LegMachine
  let channel: ServoChannel
  /// The servo's output: 16 times the place of its chip plus the channel.
  let output: Int
  /// A bit for each leg of the leg's group, itself among them.
  let mates: UInt32
  var status = LegStatus()
  /// The state that was last reported to the log.
  var told: LegState

  init(_ settings: LegSettings, _ servo: LegServo, mates: UInt32) {
    machine = LegMachine(settings)
    channel = servo.channel
    output = servo.chip * PCA9685.channelCount + servo.channel.number
    self.mates = mates
    told = machine.state
    status.state = machine.state
  }
}
