import Confinement
@_spi(FromOutside) import Conversions
import Glibc
import Tactus
import TactusGuard
import Yams

/// The configuration that the program uses, with defaults filled in and all values of the kinds and ranges that the table requires.
public struct Configuration: Equatable, Sendable {
  /// The settings of the HTTP service: API, WebSocket and console.
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
    /// The TCP port, 0 to 65535; 0 chooses any free port.
    public var port: UInt16
    var auth: Auth
    var tls: TLS
    var allowedOrigins: [String]
    var allowedHosts: [String]
    var frameAncestors: [String]
    var maxConnections: Int
    /// The number of threads, or `nil` for a number that depends on the host's processors.
    var threads: Int?
    /// The key of JSON web tokens, which is secret, or `nil` if no such token is accepted.
    var jwtKey: String?
    var bonjour: Bool
    var clients: Clients
  }

  /// The kernel's scheduling of a system's lane, as the file states it.
  public enum Scheduling: Equatable, Sendable {
    /// Ordinary time-sharing, without any guarantee of latency.
    case normal
    /// SCHED_FIFO with a priority of 1 to 98.
    case fifo(priority: Int)
    /// SCHED_DEADLINE with the execution time per period of the loop, 20 to 1,000,000 µs and less than the period.
    case deadline(budgetMicroseconds: Int)
  }

  /// The path of the file as it was given, with which errors begin.
  public var file: String
  /// The numeric IPv4 or IPv6 address on which the service and the systems' UDP ports listen.
  public var bindAddress: String
  /// The settings of the service, or `nil` if it is switched off.
  public var service: Service?
  /// The path of the token file, or `nil` for `TokenFile.standardPath`.
  var tokenFile: String?
  /// The settings of the broker, or `nil` if the file has no `mqtt` section.
  public var mqtt: MQTT?
  /// The settings of the messages to people, or `nil` if the file has no `notify` section.
  var notify: Notify?
  /// The systems whose sections the file has.
  var systems: ConfiguredSystems
  /// The settings of the store, or `nil` if no system of the program stores data.
  var store: Store?
  var guardEnabled: Bool
  /// The silence of a control loop, 0.2 to 10 s, after which the guard stops every actuator.
  public var guardTimeoutSeconds: Double
  var strict: Bool
  var lockMemory: Bool
  /// The settings by which the lanes are recorded, or `nil` if they are not recorded.
  var recorder: Recorder?
  /// Whether the program gives up privileges that it does not need.
  var confine: Bool
  /// The account to which a program started by root changes, or `nil` if it stays root.
  var user: String?
  /// The hardware watchdog that the guard feeds, or `nil` if the file names none.
  var watchdog: HardwareWatchdog?
  var logLevel: String
  var logFile: String?
  /// The pattern of a log line, or `nil` for JSON.
  var logPattern: LogPattern?
  /// Whether log lines are written to standard error.
  var logsToConsole: Bool
  /// Whether the measurements of the loops and of the process are logged once a minute.
  var logsPerformance: Bool
  /// The keys in the file that this version checks but does not use.
  var unused: [String]
}

extension Configuration {
  /// Returns the configuration in a file. Throws all errors of the file.
  static func read(path: String, environment: [String: String]) throws(ConfigErrors) -> Configuration {
    try readWhole(path: path, environment: environment).configuration
  }

  /// Returns the configuration in a file that has been parsed already.
  ///
  /// - Parameter environment: the variables that replace `${NAME}` in the file's values.
  /// - Throws: all errors of the file, not only the first.
  public static func read(_ file: YAMLFile, environment: [String: String]) throws(ConfigErrors) -> Configuration {
    try readWhole(file, environment: environment).configuration
  }

  /// Reads and checks a file, or a pipe that is waited for if `pipes` is true, and also returns the keys found in it with their places.
  static func readWhole(
    path: String, environment: [String: String], waitingForPipes pipes: Bool = false
  ) throws(ConfigErrors) -> (configuration: Configuration, found: ConfigReader.Result) {
    let file = try yaml(path) { try YAMLFile(path: path, waitingForPipes: pipes) }
    return try readWhole(file, environment: environment)
  }

  static func readWhole(
    _ file: YAMLFile, environment: [String: String]
  ) throws(ConfigErrors) -> (configuration: Configuration, found: ConfigReader.Result) {
    let (configuration, found, errors, together) = examine(file, environment: environment)
    guard errors.isEmpty, together.isEmpty else {
      throw ConfigErrors(errors: errors + together.filter { !$0.mayComeFrom(errors) })
    }
    return (configuration, found)
  }

  /// The keys without which nobody knows where the program's files are.
  private static let keysOfPlaces: Set = ["store.folder", "store.mount", "service.token_file", "runtime.user"]

  /// Reads and checks the text of a file that may be meant for another machine or account: a key whose environment variable is not set counts as not
  /// given, unless it says where the program's files are.
  ///
  /// - Returns: the file, and an error for each such key.
  static func readText(
    _ text: String, of path: String, environment: [String: String]
  ) throws(ConfigErrors) -> (taken: TakenFile, lacking: [ConfigError]) {
    let file = try yaml(path) { try YAMLFile(text: text, name: path) }
    let (configuration, found, errors, together) = examine(file, environment: environment)
    let lacking = errors.filter { $0.variable != nil && !keysOfPlaces.contains($0.key) }
    let others =
      errors.filter { $0.variable == nil || keysOfPlaces.contains($0.key) }
      + together.filter { error in
        var error = error
        // What is wrong whatever the other values are may be the value that is not given.
        error.isAlone = error.isAlone && lacking.isEmpty
        return !error.mayComeFrom(errors)
      }
    guard others.isEmpty else { throw ConfigErrors(errors: others) }
    return (TakenFile(configuration: configuration, found: found), lacking)
  }

  /// Returns what can be read of a file, the errors of single keys, and those of rules over more than one key.
  private static func examine(
    _ file: YAMLFile, environment: [String: String]
  ) -> (configuration: Configuration, found: ConfigReader.Result, errors: [ConfigError], together: [ConfigError]) {
    let (found, errors) = ConfigReader.examine(file, environment: environment)
    let readings = DaemonProgram.current.kinds.map { $0.reading(of: found, file: file.name) }
    let configuration = Configuration(found, file: file.name, readings)
    let together =
      configuration.errorsTogether(places: ConfigPlaces(marks: found.places)) + readings.flatMap(\.errors)
    return (configuration, found, errors, together)
  }

  private init(_ found: ConfigReader.Result, file: String, _ readings: [SystemReading]) {
    let given = GivenValues(found)
    self.init(
      file: file,
      bindAddress: given.text("network.bind_address"),
      service: given.boolean("service.enabled") ? Service(given) : nil,
      tokenFile: given.optionalText("service.token_file"),
      mqtt: MQTT(found),
      notify: Notify(found),
      systems: ConfiguredSystems(all: readings.flatMap(\.systems)),
      store: DaemonProgram.current.kinds.contains { $0.keeping != nil } ? Store(given) : nil,
      guardEnabled: given.boolean("safety.watchdog_enabled"),
      guardTimeoutSeconds: given.number("safety.watchdog_timeout"),
      strict: given.boolean("runtime.strict"),
      lockMemory: given.boolean("runtime.lock_memory"),
      recorder: Recorder(kilobytes: given.integer("runtime.recorder_kilobytes")),
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

  private static func yaml(_ path: String, _ read: () throws -> YAMLFile) throws(ConfigErrors) -> YAMLFile {
    do {
      return try read()
    } catch let errors as ConfigErrors {
      throw errors
    } catch {
      throw ConfigErrors(errors: [ConfigError(file: path, key: "", message: "expected YAML, got \(error)")])
    }
  }

  /// The values of the file that must not appear in a log or a report.
  var secrets: [String] {
    [service?.jwtKey, mqtt?.password].compactMap(\.self) + (notify?.secrets ?? []) + systems.all.flatMap(\.secrets)
  }

  /// Reads the secrets that are in files of their own. Done when the program starts and not earlier, because the guard reads the
  /// same configuration and must not fail for a missing file.
  mutating func readSecrets() throws(ConfigError) {
    try mqtt?.readPassword()
    try notify?.readSecrets()
    for index in systems.all.indices { try systems.all[index].readSecrets() }
  }

  /// Returns the errors of rules over more than one key.
  private func errorsTogether(places: ConfigPlaces) -> [ConfigError] {
    var errors = serviceErrors(file: file, places: places)
    errors += systems.all.flatMap { $0.errors(in: self, at: places) }
    errors += mqtt?.errors(file: file, places: places) ?? []
    errors += notify?.errors(file: file, systems: systems.all.map(\.name), places: places) ?? []
    errors += claims.errors(file: file, places: places)
    return errors + watchdogErrors(places) + accountErrors(places)
  }
}

extension Configuration.Scheduling {
  /// Returns the scheduling for the runtime, for a loop of this period.
  func lane(period: Nanoseconds) -> Tactus.Scheduling {
    switch self {
    case .normal: .normal
    case .fifo(let priority): .fifo(priority)
    case .deadline(let budget): .deadline(runtime: .microseconds(Int64(budget)), deadline: period, period: period)
    }
  }
}

/// The configuration of a declared system as read from a file.
public struct DeclaredValues<System: DeviceSystem>: Sendable {
  /// The keys that keep their values while the program runs.
  public let wiring: System.Wiring
  /// The rules that the file gives.
  public let rules: System.Rules
}

extension Configuration {
  /// The configuration of a declared system, or of the first one if the file has several; `nil` if the file has none of
  /// the system's sections.
  public subscript<System: DeviceSystem>(_: System.Type) -> DeclaredValues<System>? {
    systems[ConfiguredSystem<System>.self].map { DeclaredValues(wiring: $0.wiring, rules: $0.rules) }
  }
}

extension Configuration {
  private static let accountKey = "runtime.user"

  /// Returns the errors of the account that do not depend on the host. Whether the host has the account is checked at
  /// the start and by `doctor`, because the file may be meant for another host.
  func accountErrors(_ places: ConfigPlaces) -> [ConfigError] {
    guard let user, user != "root", !confine else { return [] }
    return [
      places.error(
        file, Self.accountKey,
        "expected runtime.confine: true, since a program that changes its account gives up the rest, too")
    ]
  }

  /// Returns the account to which a program that runs as `current` must change, or `nil` if it keeps its account.
  ///
  /// - Throws: an error if there is no such account, or if only root could change to it. A simulation that root has not started keeps its account.
  func account(
    from current: Account, simulate: Bool, _ places: ConfigPlaces, find: (String) -> Account? = Account.init(named:)
  ) throws(ConfigError) -> Account? {
    guard let user, user != current.name else { return nil }
    guard current.user == 0 || !simulate else { return nil }
    guard let account = find(user) else {
      throw places.error(file, Self.accountKey, "expected an account of this machine, got \(user)")
    }
    guard account.user != current.user else { return nil }
    guard current.user == 0 else {
      throw places.error(
        file, Self.accountKey,
        "expected \(current.name), who has started this program: only root can become \(user), so start it with sudo "
          + "or remove the key")
    }
    return account
  }
}

extension Configuration {
  /// Returns the errors of the hardware watchdog's settings. Whether the device exists is checked at the start and by
  /// `doctor`, because the file may be meant for another host.
  func watchdogErrors(_ places: ConfigPlaces) -> [ConfigError] {
    let key = "runtime.watchdog"
    guard let watchdog else { return [] }
    guard watchdog.path.hasPrefix("/") else {
      let expected = "expected an absolute path such as /dev/watchdog"
      return [places.error(file, key, "\(expected), got \(watchdog.path)", alone: true)]
    }
    if let flaw = HardwareWatchdog.flaw(path: watchdog.path) {
      return [places.error(file, key, "\(watchdog.path): \(flaw)", alone: true)]
    }
    guard guardEnabled else {
      return [places.error(file, key, "expected safety.watchdog_enabled: true, since the guard feeds it")]
    }
    return []
  }

  /// Returns the error for a hardware watchdog that does not exist, or `nil` if it exists or the file names none.
  func missingWatchdog(_ places: ConfigPlaces) -> ConfigError? {
    guard let watchdog, !HardwareWatchdog.isThere(watchdog.path) else { return nil }
    return places.error(
      file, "runtime.watchdog",
      "expected a watchdog, got nothing at \(watchdog.path); `\(DaemonProgram.current.name) doctor` says more")
  }
}
