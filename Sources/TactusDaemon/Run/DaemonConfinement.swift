import BusesLinux
import CDaemon
import Confinement
@_spi(FromOutside) import Conversions
import Glibc
import Logging
import Service
import Store
import TactusGuard

/// A capability that is needed later, with the reason.
typealias Capability = (number: Int32, name: String, reason: String)

/// The confinement of the daemon, which drops capabilities and access to files and system calls before the service
/// accepts clients. Operations that still need them are performed by a spawner process.
///
/// The confinement is applied while the process has only one thread, before a device, the store or a socket is open,
/// because later threads inherit it and existing threads would not. From then on the spawner opens devices.
struct DaemonConfinement {
  /// The result of the confinement, for the log.
  enum Outcome {
    /// The daemon is not confined, for the given reason.
    case none(reason: String)
    /// The daemon is confined. `account` is the account that it runs as, `other` an account that it could use instead
    /// of root, `kept` the capabilities that it keeps. `exceptions` lists features that the kernel lacks and access
    /// that had to remain.
    case confined(spawner: pid_t, account: String, other: String?, kept: [Capability], exceptions: [String])

    func log(to logger: Logger) {
      switch self {
      case .none(let reason):
        logger.warning(
          "the program keeps every privilege that it was started with", metadata: ["reason": .string(reason)])
      case .confined(let spawner, let account, let other, let kept, let exceptions):
        let names = kept.map(\.name).joined(separator: ",")
        var metadata: Logger.Metadata = ["account": .string(account)]
        if !kept.isEmpty { metadata["capabilities"] = .string(names) }
        logger.info("confined", metadata: metadata)
        if let other {
          logger.notice("root need not run this program", metadata: ["way_out": "set runtime.user to \(other)"])
        }
        if !exceptions.isEmpty {
          logger.notice("not confined", metadata: ["what": .array(exceptions.map { .string($0) })])
        }
        var details: Logger.Metadata = ["spawner": .stringConvertible(Int(spawner))]
        for capability in kept { details[capability.name] = .string(capability.reason) }
        logger.debug("the spawner, and what each capability is for", metadata: details)
      }
    }
  }

  let configuration: Configuration
  private let found: ConfigReader.Result
  private let environment: [String: String]
  /// The path of the store's file, or `nil` if no system keeps anything.
  private let store: String?
  /// The folders in which files are created, and above which file systems may be mounted later.
  let folders: [String]
  /// The files that are created, changed and removed, in folders of the program.
  let filesOfItsOwn: [String]
  let isSimulated: Bool
  /// The folders among `folders` that the program creates itself.
  private let made: Set<String>
  /// The optional folder among `folders` for notes about mounts. An account may have no home folder for it.
  private let spare: String?
  private var exceptions: [String] = []

  init(_ configuration: Configuration, _ options: Daemon.Options) {
    self.configuration = configuration
    found = options.found
    isSimulated = options.simulate
    environment = options.environment
    let tokens = TokenFile.standardPath(of: DaemonProgram.current.name, environment: options.environment)
    store = configuration.storePath(simulate: options.simulate, environment: options.environment)
    let tokenFile = configuration.tokenFile ?? tokens
    let notices = configuration.noticesPath(simulate: options.simulate, environment: options.environment)
    let own = [tokenFile, tokens, store, notices]
    made = Set(own.compactMap(\.self).map(Self.folder))
    let others = [configuration.logFile, options.planFile?.path].compactMap(\.self).map(Self.folder)
    let certificate = configuration.service?.tls == .selfSigned ? Self.folder(tokenFile) + "/tls." : nil
    let broker = configuration.mqtt?.broker == .spawn ? Self.folder(tokens) + "/mosquitto-" : nil
    filesOfItsOwn = [tokenFile, store, notices, options.planFile?.path, certificate, broker].compactMap(\.self)
    spare = filesOfItsOwn.map(Self.folder).contains(Self.folder(tokens)) ? nil : Self.folder(tokens)
    folders = made.union(others).union(configuration.systems.all.flatMap(\.folders)).sorted()
  }

  /// Starts the spawner and confines this process. Called by the only thread of the process.
  mutating func apply() -> Outcome {
    guard configuration.confine else { return .none(reason: "runtime.confine is false") }
    // A self-signed certificate that can be kept nowhere else is written there.
    var writable = configuration.service?.tls == .selfSigned ? ["/tmp", "/dev/shm"] : []
    for folder in folders { writable += rules(folder) }
    // SQLite sorts in temporary files, which would otherwise be in /tmp.
    if let store { setenv("SQLITE_TMPDIR", Self.folder(store), 0) }
    let spawner = startSpawner(writable: writable)
    guard spawner > 0 else {
      return .none(reason: "the spawner cannot be started: \(String(cString: strerror(-spawner)))")
    }
    LinuxDevices.setOpener(Spawner.open)
    for claim in configuration.claims {
      // A device that is not plugged in now may be plugged in later.
      if case .serial(let path) = claim.resource, path.hasPrefix("/") { LinuxSerialPort.declare(path) }
    }
    var needs = Confinement([.daemon, .root, .network], descriptors: 0, memoryMebibytes: 0)
    needs.writable = writable
    needs.readable = readable
    needs.devices = ["/dev/cpu_dma_latency", "/dev/ptmx", "/dev/pts"]
    let kept = capabilities
    needs.capabilities = Set(kept.map(\.number))
    let missing = needs.apply()
    let held = kept.filter { daemon_has_capability($0.number) != 0 }
    return .confined(
      spawner: spawner, account: Account.current.name, other: accountInsteadOfRoot, kept: held,
      exceptions: exceptions + [missing].compactMap(\.self))
  }

  /// The account that the program could use instead of root, or `nil` if it does not run as root or the file names the
  /// account.
  private var accountInsteadOfRoot: String? {
    guard geteuid() == 0, configuration.user == nil else { return nil }
    let own = DaemonProgram.current.name
    return Account(named: own) == nil ? "an account of this machine" : own
  }

  private func startSpawner(writable: [String]) -> pid_t {
    // The program that hashes the broker's password makes a temporary file in /tmp.
    let temporary = configuration.mqtt?.broker == .spawn ? ["/tmp"] : []
    let caches = [environment["XDG_CACHE_HOME"], environment["HOME"].map { $0 + "/.cache" }, "/var/cache"]
    // The real devices are below /dev and /sys; a test imitates them elsewhere.
    let imitated = configuration.claims.compactMap(\.pwm).filter { !$0.hasPrefix("/sys/") }.map(Self.folder)
    let found = caches.compactMap(\.self).filter { $0.hasPrefix("/") }.map(Self.existing)
    let folders = writable + temporary + imitated + found
    return Spawner.start(name: DaemonProgram.current.name, folders: folders)
  }

  /// The capabilities that are needed later, each with its reason.
  private var capabilities: [Capability] {
    var kept: [Capability] = []
    if configuration.claims.contains(where: { $0.resource.port.map { $0.number < 1024 } ?? false }) {
      kept.append((10, "net_bind_service", "a port below 1024"))
    }
    if usesDeadline {
      kept.append((23, "sys_nice", "SCHED_DEADLINE"))
    } else if !Self.lift(Self.realTimePriority) {
      kept.append((23, "sys_nice", "the limit of real-time priorities cannot be lifted"))
    }
    if !Self.lift(Self.lockedMemory) { kept.append((14, "ipc_lock", "the limit of locked memory cannot be lifted")) }
    if let path = foreignPath {
      let reason = "\(path) is not root's"
      kept += [(0, "chown", reason), (1, "dac_override", reason), (3, "fowner", reason)]
    }
    return kept
  }

  /// The numbers of RLIMIT_MEMLOCK and RLIMIT_RTPRIO, which Swift's Glibc module does not export.
  private static let (lockedMemory, realTimePriority) = (__rlimit_resource_t(8), __rlimit_resource_t(14))

  /// Returns whether a resource is unlimited or its limit could be lifted, so that no capability is needed for it.
  private static func lift(_ resource: __rlimit_resource_t) -> Bool {
    var none = rlimit(rlim_cur: .max, rlim_max: .max)
    if setrlimit(resource, &none) == 0 { return true }
    var now = rlimit()
    return getrlimit(resource, &now) == 0 && now.rlim_cur >= (resource == realTimePriority ? 99 : .max)
  }

  /// Whether a lane uses SCHED_DEADLINE, which needs a capability regardless of the limits.
  private var usesDeadline: Bool {
    found.values.contains { path, value in
      path.hasPrefix("runtime.") && path.hasSuffix(".scheduling") && value == .text("deadline")
    }
  }

  /// A file or folder of a daemon running as root that belongs to another account or lies in a folder of another
  /// account, or `nil` if no broker is started. If the daemon starts the broker, the value is the broker's configuration,
  /// which is given to the broker's account.
  private var foreignPath: String? {
    guard geteuid() == 0 else { return nil }
    if configuration.mqtt?.broker == .spawn { return "the broker's configuration" }
    let named = [configuration.file, configuration.tokenFile, configuration.logFile].compactMap(\.self)
    let files = folders + readable + named
    for var path in files.compactMap(Self.resolved) {
      while true {
        var status = stat()
        if stat(path, &status) == 0, status.st_uid != 0 { return path }
        guard path != "/" else { break }
        path = Self.folder(path)
      }
    }
    return nil
  }

  // MARK: files

  /// The files that are read after the start: the configuration and the files that it names.
  var filesRead: [String] {
    var tls: [String] = []
    if case .files(let certificate, let key)? = configuration.service?.tls { tls = [certificate, key] }
    if let authorities = configuration.service?.clients.authorities { tls.append(authorities) }
    if let mqtt = configuration.mqtt { tls += mqtt.files }
    return [configuration.file] + tls + configuration.systems.all.flatMap(\.files)
  }

  /// The folders of the files that are read after the start, and the files that the system's libraries read.
  private var readable: [String] {
    // Folders are named, since editors and certificate programs replace files by new ones; the targets of links are included.
    let named = filesRead
    let real = named.compactMap(Self.resolved)
    return (named + real).map(Self.folder) + ["/etc/fstab"] + resolver
  }

  /// The folders of the resolver's configuration. The C library reads the addresses of name servers again when they
  /// change, which replaces the file unless it is a link.
  private var resolver: [String] {
    // An account other than root cannot read the secrets there.
    guard geteuid() == 0 else { return ["/etc"] }
    guard let real = Self.resolved("/etc/resolv.conf") else { return [] }
    if Self.folder(real) != "/etc" { return [Self.folder(real)] }
    let asks =
      configuration.mqtt?.namesItsBroker == true || configuration.notify?.receivers.isEmpty == false
      || configuration.systems.all.contains(where: \.looksUpNames)
    return asks ? ["/etc"] : []
  }

  /// Returns the rules that allow files to be created in a folder, which is created if it is missing. For a file system
  /// that may be mounted later the rule names the parent of the mount point, because a rule applies only to the folder
  /// that is present now.
  private mutating func rules(_ folder: String) -> [String] {
    let mount = configuration.mounts(simulate: false, environment: environment).point(of: folder)
    let above = Self.folder(mount.path)
    if !mount.isMounted {
      if above == "/" { exceptions.append("all files, since \(mount.path) is not mounted yet") }
      return [above]
    }
    if made.contains(folder) { try? StoreFile.makeFolders(folder) }
    if access(folder, F_OK) != 0 {
      if folder == spare { return [] }
      let nearest = Self.existing(folder)
      exceptions.append("files below \(nearest), since \(folder) is missing")
      return [nearest]
    }
    return mount.path == "/" || above == "/" ? [folder] : [folder, above]
  }

  private static func folder(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Returns the folder, or its nearest parent that exists.
  private static func existing(_ path: String) -> String {
    var path = path
    while access(path, F_OK) != 0, path != "/" { path = folder(path) }
    return path
  }
}

extension ResourceClaim {
  /// The folder of a claimed PWM output, or `nil` for any other resource.
  fileprivate var pwm: String? { if case .pwm(let path) = resource { path } else { nil } }
}

extension Configuration.MQTT {
  /// The files that are read whenever the broker's connection is made.
  fileprivate var files: [String] {
    [security?.authorities, security?.certificate, security?.key].compactMap(\.self)
  }

  /// Whether the C library has to resolve the name of the broker.
  fileprivate var namesItsBroker: Bool {
    guard case .address(let host) = broker, host != "localhost" else { return false }
    var room = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET, host, &room) != 1 && inet_pton(AF_INET6, host, &room) != 1
  }
}
