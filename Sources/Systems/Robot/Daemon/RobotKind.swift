import ArgumentParser
import AvahiSystemd
import Buses
import RobotDocuments
import ServiceDocuments
import TactusDaemon
import TactusGuard

/// The balancing robot: `motors:`.
public struct RobotKind: SystemKind {
  public init() {}

  public var name: String { "robot" }
  public var sections: [ConfigSection] {
    [ConfigSection(name: "motors", doc: "The robot's motors. The robot runs when this section is present.")]
  }
  public var keys: [ConfigKey] { Configuration.Motors.table }
  public var lists: [String: Int] { [:] }
  public var movedKeys: [String: String] { [:] }
  public var keeping: Keeping? { nil }

  public func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(system: Configuration.Motors(found))
  }

  public var numberedParts: [String] { [] }
  public var commands: [any ParsableCommand.Type] { [DriveCommand.self] }
  public var callExamples: [String] { ["robot", "robot drive left=30 right=30"] }
  public var documents: SystemDocuments? { SystemDocuments(name, robot_documents()) }
  public var simulatedDevices: [any ParsableCommand.Type] { [] }

  /// A scenario without any system's part is the robot's.
  public func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    try play(file, RobotScenarioReader.self, seed: seed, RobotScenarioRun.init)
  }

  public var scenarioHelp: String? {
    "one without any of these parts a robot, with its wheels, its network and its operators"
  }
  public func diagnoses(_ doctor: Doctor) -> [Diagnosis] { [] }
  public var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }
  public func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}

extension Configuration {
  /// Configuration of the robot, or `nil` if the file has no `motors` section.
  var motors: Motors? { systems[Motors.self] }
}

extension Configuration.Motors: AnyConfiguredSystem {
  var name: String { "robot" }
  var driven: String? { "the motors" }
  var isSimulated: Bool { backend == .sim }
  var isOpenToAll: Bool { true }
  var safeLines: [GPIOLine] { [] }
  var deviceGroups: [String] { [] }
  var folders: [String] { [] }
  var files: [String] { [] }
  var looksUpNames: Bool { false }
  var secrets: [String] { [] }

  var claims: [ResourceClaim] {
    var claims: [ResourceClaim] = []
    switch backend {
    case .ybPcbCar, .raspbotV2:
      claims.append(ResourceClaim(resource: .i2c(bus: i2cBus, address: i2cAddress), key: "motors.i2c_address"))
    case .xgoRider: claims.append(ResourceClaim(resource: .serial(path: serialDevice), key: "motors.serial_device"))
    case .sim: break
    }
    if port > 0 { claims.append(ResourceClaim(resource: .udp(port: port), key: "network.motor_udp_port")) }
    return claims
  }

  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) { errors.append(places.error(whole.file, key, message)) }
    func report(_ property: PartialKeyPath<Self>, _ message: String) { report(Self.name(of: property), message) }
    let twoPeriods = "expected at least two periods of runtime.robot.rate_hz (\(2 / Double(rateHertz)) s)"
    if minDuty > maxDuty {
      let (least, most) = (Self.name(of: \.minDuty), Self.name(of: \.maxDuty))
      errors.append(
        places.error(
          whole.file,
          blaming: [
            least: "expected at most \(places.words(most, maxDuty)), got \(minDuty)",
            most: "expected at least \(places.words(least, minDuty)), got \(maxDuty)",
          ]))
    }
    errors += Self.lane.budgetErrors(
      scheduling, periodMicroseconds: 1_000_000 / rateHertz, rate: (Self.name(of: \.rateHertz), rateHertz),
      file: whole.file, places: places)
    if commandTimeoutSeconds * Double(rateHertz) < 2 {
      report(\.commandTimeoutSeconds, "\(twoPeriods), got \(commandTimeoutSeconds)")
    }
    if whole.guardTimeoutSeconds * Double(rateHertz) < 2 {
      report("safety.watchdog_timeout", "\(twoPeriods), got \(whole.guardTimeoutSeconds)")
    }
    return errors
  }

  private var board: String {
    switch backend {
    case .ybPcbCar, .raspbotV2: "\(backend.rawValue) at 0x\(String(i2cAddress, radix: 16)) on /dev/i2c-\(i2cBus)"
    case .xgoRider: "xgo-rider on \(serialDevice)"
    case .sim: "simulated board"
    }
  }

  func summary(in whole: Configuration) -> [String] {
    ["robot: \(board), commands on UDP \(whole.bindAddress):\(port), \(rateHertz) Hz"]
  }

  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    let what =
      isSimulated ? "simulated robot" : board + (simulated ? " (simulated)" : "")
    guard let endpoint = endpoints.first else { return Invitation(title: what) }
    let target = ReachableEndpoint(endpoint)
    let port = endpoint.port == 5005 ? "" : " --port \(endpoint.port)"
    return Invitation(
      title: "\(what), motor commands on UDP \(endpoint)",
      lines: [
        "Drive it from another terminal:",
        "  \(program) drive \(target.host)\(port)",
        "  \(program) drive \(target.host)\(port) --left 30 --right 30 --for 2s",
        "Or send one command from Python; one second later the motors stop by themselves:",
        "  python3 -c 'import socket; socket.socket(socket.\(target.family), socket.SOCK_DGRAM)"
          + ".sendto(b\"{\\\"left\\\": 30, \\\"right\\\": 30}\", (\"\(target.host)\", \(endpoint.port)))'",
      ],
      calls: [.init(path: "/api/robot/drive", body: "{\"left\": 30, \"right\": 30}")])
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    try DaemonRobot(
      self, address: surroundings.configuration.bindAddress, simulate: surroundings.simulate,
      afterOutsideStop: surroundings.endedWithoutStop)
  }
}
