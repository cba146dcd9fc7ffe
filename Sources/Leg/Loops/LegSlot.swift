import Buses
import Devices
import Tactus

/// What the loop keeps for one leg.
struct LegSlot: BitwiseCopyable {
  var machine: LegMachine
  let channel: ServoChannel
  var status = LegStatus()
  /// Who sent the last datagram, and when: telemetry goes there.
  var listener: Endpoint?
  var heardAt = TickInstant(nanoseconds: 0)
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
