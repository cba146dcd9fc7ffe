import Buses
import Robot
import Service
import Tactus
import Wire

/// The robot as the daemon runs it: mailboxes and the motors' lane.
struct RobotSystem {
  static let loopName = "robot.motors"

  let hardware: MotorHardware
  let snapshot: Latest<RobotSnapshot>
  let notices = Ring<RobotNotice>(capacity: 256)
  /// What clients of the service reach of it.
  let door: RobotDoor
  private let requests = Ring<RobotRequest>(capacity: RobotLoop.requestsPerTick)
  private let answers = Ring<RobotAnswer>(capacity: 256)
  private let requestBell: Doorbell
  let settings: WantedRules<RobotSettings>
  private let configuration: Configuration
  private let longestDatagram: Int

  init(
    _ configuration: Configuration, motors: Configuration.Motors, hardware: MotorHardware
  ) throws(RuntimeError) {
    self.configuration = configuration
    longestDatagram = motors.longestDatagram
    self.hardware = hardware
    let settings = configuration.robotSettings(motors)
    self.settings = WantedRules(RulesBox(settings))
    snapshot = Latest(RobotSnapshot(settings))
    let bell = try Doorbell()
    requestBell = bell
    door = RobotDoor(
      requests: requests.writer(), answers: answers.reader(), snapshot: snapshot, ring: { bell.button.ring() })
  }

  /// The lane, to be built once. `input` releases the loop when a datagram arrives on `port`.
  /// This system must outlive the lane.
  func lane(
    port: consuming DatagramPort, input: LoopInput, bell: DoorbellButton?, counting: CountedMisses = .all
  ) -> Lane {
    var port: DatagramPort? = port
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    return Lane(
      "robot", scheduling: configuration.robotScheduling.lane(rateHertz: configuration.robotRateHertz),
      cpus: configuration.robotCPUs
    ) {
      Loop(
        Self.loopName, every: .hertz(Double(configuration.robotRateHertz)), late: .skip,
        safeStateAfter: configuration.robotSafeStateAfter, counting: counting, inputs: [input, requestBell.loopInput],
        ages: [commandAge]
      ) {
        RobotLoop(
          motors: hardware.motors(), port: port.take()!, settings: settings.box.input(), requests: requests.reader(),
          requestBell: requestBell.input, answers: answers.writer(), snapshot: snapshot.writer(),
          notices: notices.writer(), bell: bell, commandAge: commandAge.meter(),
          longestDatagram: longestDatagram)
      }
    }
  }
}

extension Configuration {
  /// The table's ranges and `checkTogether` leave nothing to refuse.
  func robotSettings(_ motors: Motors) -> RobotSettings {
    do {
      return try RobotSettings(
        failsafeTimeout: .seconds(motors.commandTimeoutSeconds), speedLimit: Percent(motors.speedLimitPercent),
        acceleration: motors.acceleration, tickPeriod: Rate.hertz(Double(robotRateHertz)).period)
    } catch {
      preconditionFailure("the configuration let through what the robot refuses: \(error)")
    }
  }
}
