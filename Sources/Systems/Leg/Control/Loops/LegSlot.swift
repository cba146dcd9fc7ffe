import Devices

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
