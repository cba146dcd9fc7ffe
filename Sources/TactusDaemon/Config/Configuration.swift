import Tactus
import TactusGuard
import Yams

/// The configuration as the program uses it: defaults filled in, values of the table's kinds and ranges.
public struct Configuration: Equatable, Sendable {
  /// The HTTP service: API, WebSocket and console.
  public struct Service: Equatable, Sendable {
    enum Auth: String, Equatable {
      case tokens
      case none
    }
    enum TLS: Equatable {
      case off
      case selfSigned
      case files(certificate: String, key: String)
    }
    /// TCP port, 0 to 65535; 0 takes any free one.
    public var port: UInt16
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

  /// How the kernel schedules a system's lane, as the file says it.
  public enum Scheduling: Equatable, Sendable {
    /// Ordinary time-sharing: no promise about latency.
    case normal
    /// SCHED_FIFO at a priority of 1 to 98.
    case fifo(priority: Int)
    /// SCHED_DEADLINE: execution time per period of the loop, 20 to 1,000,000 µs, less than the period.
    case deadline(budgetMicroseconds: Int)
  }

  /// The name that errors begin with: the path as it was given.
  public var file: String
  /// IPv4 or IPv6 address in digits on which the service and the systems' UDP ports listen.
  public var bindAddress: String
  /// The service's settings, or `nil` if it is switched off.
  public var service: Service?
  /// Path of the token file; `nil` for that of `TokenFile.standardPath`.
  var tokenFile: String?
  /// The broker and what is published there, or `nil` if the file has no `mqtt` section.
  public var mqtt: MQTT?
  /// Those of the program's systems whose sections the file has.
  public var systems: ConfiguredSystems
  /// Where the store is, or `nil` if no system of the program uses the store.
  var store: Store?
  var guardEnabled: Bool
  /// Silence of a control loop, 0.2 to 10 s, after which the guard stops every actuator.
  public var guardTimeoutSeconds: Double
  var strict: Bool
  var lockMemory: Bool
  /// Whether the program gives up what it does not need.
  var confine: Bool
  /// The account that a program becomes which root has started, or `nil` if it stays root.
  var user: String?
  /// The hardware watchdog that the guard feeds, or `nil` if the file names none.
  var watchdog: HardwareWatchdog?
  var logLevel: String
  var logFile: String?
  /// How a line looks; `nil` means JSON.
  var logPattern: LogPattern?
  /// Whether standard error gets the lines.
  var logsToConsole: Bool
  /// Whether figures of the loops and of the process are logged once a minute.
  var logsPerformance: Bool
  /// Keys the file gives that this version checks and does not use.
  var unused: [String]
}

extension Configuration {
  /// Reads and checks a file. Throws all that is wrong with it.
  static func read(path: String, environment: [String: String]) throws(ConfigErrors) -> Configuration {
    try readWhole(path: path, environment: environment).configuration
  }

  /// Checks a file that has been parsed.
  ///
  /// - Parameter environment: replaces `${NAME}` in the file's values.
  /// - Throws: every error of the file, not only the first.
  public static func read(_ file: YAMLFile, environment: [String: String]) throws(ConfigErrors) -> Configuration {
    try readWhole(file, environment: environment).configuration
  }

  /// The same, with what the file says and where.
  static func readWhole(
    path: String, environment: [String: String]
  ) throws(ConfigErrors) -> (configuration: Configuration, found: ConfigReader.Result) {
    try readWhole(yaml(path), environment: environment)
  }

  static func readWhole(
    _ file: YAMLFile, environment: [String: String]
  ) throws(ConfigErrors) -> (configuration: Configuration, found: ConfigReader.Result) {
    let (found, errors) = ConfigReader.examine(file, environment: environment)
    let readings = DaemonProgram.current.kinds.map { $0.reading(of: found, file: file.name) }
    let configuration = Configuration(found, file: file.name, readings)
    let together =
      configuration.errorsTogether(places: ConfigPlaces(marks: found.places)) + readings.flatMap(\.errors)
    guard errors.isEmpty, together.isEmpty else {
      throw ConfigErrors(errors: errors + together.filter { !$0.mayComeFrom(errors) })
    }
    return (configuration, found)
  }

  private init(_ found: ConfigReader.Result, file: String, _ readings: [SystemReading]) {
    let given = GivenValues(values: found.values)
    self.init(
      file: file,
      bindAddress: given.text("network.bind_address"),
      service: given.boolean("service.enabled") ? Service(given) : nil,
      tokenFile: given.optionalText("service.token_file"),
      mqtt: MQTT(found),
      systems: ConfiguredSystems(all: readings.flatMap(\.systems)),
      store: DaemonProgram.current.kinds.contains { $0.keeping != nil } ? Store(given) : nil,
      guardEnabled: given.boolean("safety.watchdog_enabled"),
      guardTimeoutSeconds: given.number("safety.watchdog_timeout"),
      strict: given.boolean("runtime.strict"),
      lockMemory: given.boolean("runtime.lock_memory"),
      confine: given.boolean("runtime.confine"),
      user: given.optionalText("runtime.user"),
      watchdog: given.optionalText("runtime.watchdog").map {
        HardwareWatchdog(path: $0, timeoutSeconds: given.integer("runtime.watchdog_timeout_s"))
      },
      logLevel: given.text("logging.level"),
      logFile: given.optionalText("logging.file"),
      logPattern: given.optionalText("logging.format").flatMap { LogPattern($0) },
      logsToConsole: given.boolean("logging.console"),
      logsPerformance: given.boolean("performance.enable_monitoring"),
      unused: readings.flatMap(\.unused))
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
  private func errorsTogether(places: ConfigPlaces) -> [ConfigError] {
    serviceErrors(file: file, places: places) + systems.all.flatMap { $0.errors(in: self, at: places) }
      + (mqtt?.errors(file: file, places: places) ?? [])
      + claims.errors(file: file, places: places) + watchdogErrors(places)
      + accountErrors(places)
  }
}

extension Configuration.Scheduling {
  /// As the runtime wants it, for a loop of this rate.
  public func lane(rateHertz: Int) -> Tactus.Scheduling { lane(period: Rate.hertz(Double(rateHertz)).period) }

  /// The same, for a loop of this period.
  public func lane(period: Nanoseconds) -> Tactus.Scheduling {
    switch self {
    case .normal: .normal
    case .fifo(let priority): .fifo(priority)
    case .deadline(let budget): .deadline(runtime: .microseconds(Int64(budget)), deadline: period, period: period)
    }
  }
}
