import Tactus
import Yams

/// The configuration as the program uses it: defaults filled in, values of the table's kinds and ranges.
struct Configuration: Equatable {
  enum Backend: String, Equatable {
    case ybPcbCar = "yb-pcb-car"
    case raspbotV2 = "raspbot-v2"
    case xgoRider = "xgo-rider"
    case sim
  }

  struct Motors: Equatable {
    var backend: Backend
    var i2cBus: Int
    var i2cAddress: UInt8
    var serialDevice: String
    /// In effect: the safe mode's where that is less.
    var speedLimitPercent: Double
    var longestDatagram: Int
    var acceleration: Double
    var commandTimeoutSeconds: Double
    var invertLeft: Bool
    var invertRight: Bool
    var maxDuty: UInt8
    var minDuty: UInt8
    var legacyRegister: Bool
  }

  struct Service: Equatable {
    enum Auth: String, Equatable {
      case tokens
      case none
    }
    enum TLS: Equatable {
      case off
      case selfSigned
      case files(certificate: String, key: String)
    }
    var port: UInt16
    var auth: Auth
    var tls: TLS
    var allowedOrigins: [String]
    var allowedHosts: [String]
    var maxConnections: Int
    /// `nil` means as many as the machine's processors suggest.
    var threads: Int?
    /// A secret.
    var jwtKey: String?
    var bonjour: Bool
  }

  enum Scheduling: Equatable {
    case normal
    case fifo(priority: Int)
    case deadline(budgetMicroseconds: Int)
  }

  var file: String
  var bindAddress: String
  var motorPort: UInt16
  /// nil: the service is switched off.
  var service: Service?
  /// nil: where `TokenFile.standardPath` says.
  var tokenFile: String?
  /// nil: the file has no `motors` section, so the robot does not run.
  var motors: Motors?
  /// nil: the file has neither a `leg` nor a `legs` section, so no leg runs.
  var legs: Legs?
  /// nil: the file has no `sprinkler` section.
  var sprinkler: Sprinkler?
  /// nil: the file has no `pump` section.
  var pump: Pump?
  /// nil: the file has no `plants` section.
  var plants: Plants?
  /// nil: the file has neither a `camera` nor a `video` section.
  var video: Video?
  /// nil: the file has no `mqtt` section.
  var mqtt: MQTT?
  /// Those of the program's declared systems whose sections the file has.
  var declared: DeclaredSystems
  var store: Store
  var guardEnabled: Bool
  var guardTimeoutSeconds: Double
  var strict: Bool
  var lockMemory: Bool
  var robotRateHertz: Int
  var robotScheduling: Scheduling
  var robotSafeStateAfter: Int
  var robotCPUs: CPUSet?
  var logLevel: String
  var logFile: String?
  /// Keys the file gives that this version checks and does not use.
  var unused: [String]
}

extension Configuration {
  /// Reads and checks a file. Throws all that is wrong with it.
  static func read(path: String, environment: [String: String]) throws(ConfigErrors) -> Configuration {
    try readWhole(path: path, environment: environment).configuration
  }

  static func read(_ file: YAMLFile, environment: [String: String]) throws(ConfigErrors) -> Configuration {
    try readWhole(file, environment: environment).configuration
  }

  /// The same, with what the file says and where.
  static func readWhole(
    path: String, environment: [String: String]
  ) throws(ConfigErrors) -> (configuration: Configuration, found: ConfigReader.Result) {
    try readWhole(yaml(path), environment: environment)
  }

  private static func readWhole(
    _ file: YAMLFile, environment: [String: String]
  ) throws(ConfigErrors) -> (configuration: Configuration, found: ConfigReader.Result) {
    let (found, errors) = ConfigReader.examine(file, environment: environment)
    let declared = declared(found, file: file.name)
    let configuration = Configuration(found, file: file.name, DeclaredSystems(all: declared.systems))
    let together = configuration.errorsTogether(file: file.name, places: found.places) + declared.errors
    guard errors.isEmpty, together.isEmpty else {
      throw ConfigErrors(errors: errors + together.filter { !$0.mayComeFrom(errors) })
    }
    return (configuration, found)
  }

  private init(_ found: ConfigReader.Result, file: String, _ declared: DeclaredSystems) {
    let given = GivenValues(values: found.values)
    self.init(
      file: file,
      bindAddress: given.text("network.bind_address"),
      motorPort: UInt16(given.integer("network.motor_udp_port")),
      service: given.boolean("service.enabled") ? Service(given) : nil,
      tokenFile: given.optionalText("service.token_file"),
      motors: found.sections.contains("motors") ? Motors(given) : nil,
      legs: Legs(found),
      sprinkler: Sprinkler(found),
      pump: Pump(found),
      plants: Plants(found),
      video: Video(found),
      mqtt: MQTT(found),
      declared: declared,
      store: Store(given),
      guardEnabled: given.boolean("safety.watchdog_enabled"),
      guardTimeoutSeconds: given.number("safety.watchdog_timeout"),
      strict: given.boolean("runtime.strict"),
      lockMemory: given.boolean("runtime.lock_memory"),
      robotRateHertz: given.integer("runtime.robot.rate_hz"),
      robotScheduling: Scheduling(given, "runtime.robot"),
      robotSafeStateAfter: given.integer("runtime.robot.safe_state_after"),
      robotCPUs: given.optionalCPUs("runtime.robot.cpu"),
      logLevel: given.text("logging.level"),
      logFile: given.optionalText("logging.file"),
      unused: ConfigTable.keys.map(\.path).filter {
        !Video.isThere && $0.hasPrefix("camera.") && found.values[$0] != nil
      })
  }

  private static func yaml(_ path: String) throws(ConfigErrors) -> YAMLFile {
    do {
      return try YAMLFile(path: path)
    } catch let errors as ConfigErrors {
      throw errors
    } catch {
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: "expected YAML, got \(error)")])
    }
  }

  /// Rules over more than one key.
  private func errorsTogether(file: String, places: [String: Mark]) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) {
      errors.append(
        ConfigError(file: file, line: places[key]?.line, column: places[key]?.column, key: key, message: message))
    }
    if let motors, motors.minDuty > motors.maxDuty {
      report("motors.min_duty", "expected at most motors.max_duty (\(motors.maxDuty)), got \(motors.minDuty)")
    }
    if case .deadline(let budget) = robotScheduling, budget >= 1_000_000 / robotRateHertz {
      report(
        "runtime.robot.budget_us",
        "expected less than the period of \(1_000_000 / robotRateHertz) µs, got \(budget)")
    }
    if let motors, motors.commandTimeoutSeconds * Double(robotRateHertz) < 2 {
      report(
        "motors.command_timeout",
        "expected at least two periods of runtime.robot.rate_hz (\(2 / Double(robotRateHertz)) s), got \(motors.commandTimeoutSeconds)"
      )
    }
    if guardTimeoutSeconds * Double(robotRateHertz) < 2 {
      report(
        "safety.watchdog_timeout",
        "expected at least two periods of runtime.robot.rate_hz (\(2 / Double(robotRateHertz)) s), got \(guardTimeoutSeconds)"
      )
    }
    errors += serviceErrors(file: file, places: places)
    let places = ConfigPlaces(marks: places)
    errors += legs?.errors(file: file, places: places) ?? []
    errors += sprinkler?.errors(file: file, places: places) ?? []
    errors += pump?.errors(file: file, places: places) ?? []
    errors += plants?.errors(file: file, places: places, hasSprinkler: sprinkler != nil) ?? []
    errors += video?.errors(file: file, places: places, servicePort: service?.port) ?? []
    errors += mqtt?.errors(file: file, places: places, servicePort: service?.port) ?? []
    errors += claims.errors(file: file, places: places)
    return errors
  }
}

extension Configuration.Motors {
  fileprivate init(_ given: GivenValues) {
    // The table lists exactly the raw values.
    let backend = Configuration.Backend(rawValue: given.text("motors.backend"))!
    self.init(
      backend: backend,
      i2cBus: given.integer("motors.i2c_bus"),
      i2cAddress: UInt8(given.optionalInteger("motors.i2c_address") ?? (backend == .raspbotV2 ? 0x2B : 0x16)),
      serialDevice: given.text("motors.serial_device"),
      speedLimitPercent: given.boolean("safety.safe_mode")
        ? min(given.number("motors.speed_limit"), given.number("safety.safe_mode_speed_limit"))
        : given.number("motors.speed_limit"),
      longestDatagram: given.integer("performance.udp_buffer_size"),
      acceleration: given.number("motors.acceleration"),
      commandTimeoutSeconds: given.number("motors.command_timeout"),
      invertLeft: given.boolean("motors.invert_left"),
      invertRight: given.boolean("motors.invert_right"),
      maxDuty: UInt8(given.integer("motors.max_duty")),
      minDuty: UInt8(given.integer("motors.min_duty")),
      legacyRegister: given.boolean("motors.legacy_register"))
  }
}

extension Configuration.Scheduling {
  /// - Parameter part: `runtime.robot`.
  init(_ given: GivenValues, _ part: String) {
    switch given.text("\(part).scheduling") {
    case "fifo": self = .fifo(priority: given.integer("\(part).priority"))
    case "deadline": self = .deadline(budgetMicroseconds: given.integer("\(part).budget_us"))
    default: self = .normal
    }
  }

  /// As the runtime wants it, for a loop of this rate.
  func lane(rateHertz: Int) -> Tactus.Scheduling { lane(period: Rate.hertz(Double(rateHertz)).period) }

  /// The same, for a loop of this period.
  func lane(period: Nanoseconds) -> Tactus.Scheduling {
    switch self {
    case .normal: .normal
    case .fifo(let priority): .fifo(priority)
    case .deadline(let budget): .deadline(runtime: .microseconds(Int64(budget)), deadline: period, period: period)
    }
  }
}
