import Buses
import Robot
import Service
import Tactus
import TactusDaemon

/// The robot as the daemon runs it: mailboxes and the motors' lane.
struct RobotSystem {
  static let loopName = "robot.motors"

  let hardware: MotorHardware
  let channel: RobotLoop.Channel
  /// What clients of the service reach of it.
  let door: RobotDoor
  private let requestBell: Doorbell
  let settings: WantedRules<RobotSettings>
  private let configuration: Configuration.Motors
  let inFile: Guarded<Configuration.Motors>
  private let longestDatagram: Int
  private let afterOutsideStop: Bool

  /// - Parameter afterOutsideStop: as of `RobotLoop`.
  init(
    _ configuration: Configuration.Motors, hardware: MotorHardware, afterOutsideStop: Bool = false
  ) throws(RuntimeError) {
    self.afterOutsideStop = afterOutsideStop
    self.configuration = configuration
    inFile = Guarded(configuration)
    longestDatagram = configuration.longestDatagram
    self.hardware = hardware
    let settings = configuration.robotSettings
    self.settings = WantedRules(RulesBox(settings))
    channel = RobotLoop.channel(settings)
    let bell = try Doorbell()
    requestBell = bell
    door = RobotDoor(channel: channel, ring: { bell.button.ring() })
  }

  /// The lane, to be built once. `input` releases the loop when a datagram arrives on `port`.
  /// This system must outlive the lane.
  func lane(
    port: consuming DatagramPort, input: LoopInput, bell: DoorbellButton?, counting: CountedMisses = .all
  ) -> Lane {
    var port: DatagramPort? = port
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    return Lane(
      "robot", scheduling: configuration.scheduling.lane(rateHertz: configuration.rateHertz),
      cpus: configuration.cpus
    ) {
      Loop(
        Self.loopName, every: .hertz(Double(configuration.rateHertz)), late: .skip,
        safeStateAfter: configuration.safeStateAfter, counting: counting, inputs: [input, requestBell.loopInput],
        ages: [commandAge]
      ) {
        RobotLoop(
          motors: hardware.motors(), port: port.take()!, settings: settings.box.input(),
          channel: channel.loopEnds(requestBell: requestBell.input, bell: bell), commandAge: commandAge.meter(),
          longestDatagram: longestDatagram, afterOutsideStop: afterOutsideStop)
      }
    }
  }
}
