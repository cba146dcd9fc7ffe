import Devices

/// What the loop keeps for one leg.
struct LegSlot: BitwiseCopyable {
  var machine: LegMachine
  let channel: ServoChannel
  var status = LegStatus()
  /// The state that the log knows.
  var told: LegState
  /// Within `decideAll`.
  var isToTurnOff = false

  init(_ configuration: LegConfiguration) {
    machine = LegMachine(configuration.settings)
    channel = configuration.channel
    told = machine.state
    status.state = machine.state
  }
}
