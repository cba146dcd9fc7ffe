import BusesLinux
import CDaemon
import Confinement
import Glibc
import Logging
import Service
import Store
import TactusGuard

/// A capability that is needed later.
typealias Capability = (number: Int32, name: String, reason: String)

/// What the daemon gives up before it hears a client: capabilities, files, system calls. What still needs them is done by a spawner.
///
/// All of it happens in the only thread, before a device, the store or a socket is open, so that every later thread has it: a thread of
/// its own keeps what it has been given. Devices are opened by the spawner from then on.
struct DaemonConfinement {
  /// What came of it, for the log.
  enum Outcome {
    /// Nothing was given up, and why.
    case none(reason: String)
    /// `account`: the account that it runs as. `other`: the account that it could be instead of root's. `kept`: capabilities. `exceptions`: what
    /// the kernel lacks, and what had to stay open.
    case confined(spawner: pid_t, account: String, other: String?, kept: [Capability], exceptions: [String])

    func tell(_ logger: Logger) {
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
  /// The store's file, or `nil` if nothing is kept.
  private let store: String?
  /// Folders in which files are made, and above which file systems may be mounted later.
  let folders: [String]
  /// Files that are made, changed and removed, in folders of the program's.
  let filesOfItsOwn: [String]
  let isSimulated: Bool
  /// Those of them that the program makes itself.
  private let made: Set<String>
  /// The one of them that nothing has to be in: notes of mounts are made there if it can be had. An account may have no home for it.
  private let spare: String?
  private var exceptions: [String] = []

  init(_ configuration: Configuration, _ options: Daemon.Options) {
    self.configuration = configuration
    found = options.found
    isSimulated = options.simulate
    environment = options.environment
    let tokens = TokenFile.standardPath(environment: options.environment)
    store = configuration.storePath(simulate: options.simulate, environment: options.environment)
    let tokenFile = configuration.tokenFile ?? tokens
    let own = [tokenFile, tokens, store]
    made = Set(own.compactMap(\.self).map(Self.folder))
    let others = [configuration.logFile, options.planFile?.path].compactMap(\.self).map(Self.folder)
    let certificate = configuration.service?.tls == .selfSigned ? Self.folder(tokenFile) + "/tls." : nil
    let broker = configuration.mqtt?.broker == .spawn ? Self.folder(tokens) + "/mosquitto-" : nil
    filesOfItsOwn = [tokenFile, store, options.planFile?.path, certificate, broker].compactMap(\.self)
    spare = filesOfItsOwn.map(Self.folder).contains(Self.folder(tokens)) ? nil : Self.folder(tokens)
    folders = made.union(others).union(configuration.systems.all.flatMap(\.folders)).sorted()
  }

  /// Starts the spawner and confines this process, whose only thread calls it.
  mutating func apply() -> Outcome {
    guard configuration.confine else { return .none(reason: "runtime.confine is false") }
    // A certificate of its own that can be kept nowhere else.
    var writable = configuration.service?.tls == .selfSigned ? ["/tmp", "/dev/shm"] : []
    for folder in folders { writable += rules(folder) }
    // What SQLite sorts, which would be in /tmp.
    if let store { setenv("SQLITE_TMPDIR", Self.folder(store), 0) }
    let spawner = startSpawner(writable: writable)
    guard spawner > 0 else {
      return .none(reason: "the spawner cannot be started: \(String(cString: strerror(-spawner)))")
    }
    LinuxDevices.setOpener(Spawner.open)
    for claim in configuration.claims {
      // One that is not plugged in now may be later.
      if case .serial(let path) = claim.resource, path.hasPrefix("/") { LinuxSerialPort.declare(path) }
    }
    var needs = Confinement([.daemon, .root, .network], descriptors: 0)
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

  /// Whose account root's program could be, or `nil` if it is not root's, or the file says that it shall be.
  private var accountInsteadOfRoot: String? {
    guard geteuid() == 0, configuration.user == nil else { return nil }
    let own = DaemonProgram.current.name
    return Account(named: own) == nil ? "an account of this machine" : own
  }

  private func startSpawner(writable: [String]) -> pid_t {
    // The program that hashes the broker's password has a file there.
    let temporary = configuration.mqtt?.broker == .spawn ? ["/tmp"] : []
    let caches = [environment["XDG_CACHE_HOME"], environment["HOME"].map { $0 + "/.cache" }, "/var/cache"]
    // Devices are below /dev and /sys, unless a test imitates them.
    let imitated = configuration.claims.compactMap(\.pwm).filter { !$0.hasPrefix("/sys/") }.map(Self.folder)
    let found = caches.compactMap(\.self).filter { $0.hasPrefix("/") }.map(Self.existing)
    let folders = writable + temporary + imitated + found
    return Spawner.start(name: DaemonProgram.current.name, folders: folders)
  }

  /// Capabilities that are needed later, each with its reason.
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

  /// RLIMIT_MEMLOCK and RLIMIT_RTPRIO, which Swift's Glibc does not show.
  private static let (lockedMemory, realTimePriority) = (__rlimit_resource_t(8), __rlimit_resource_t(14))

  /// Whether a limit is none, or could be lifted: no capability is needed then.
  private static func lift(_ resource: __rlimit_resource_t) -> Bool {
    var none = rlimit(rlim_cur: .max, rlim_max: .max)
    if setrlimit(resource, &none) == 0 { return true }
    var now = rlimit()
    return getrlimit(resource, &now) == 0 && now.rlim_cur >= (resource == realTimePriority ? 99 : .max)
  }

  /// SCHED_DEADLINE needs a capability whatever the limits are.
  private var usesDeadline: Bool {
    found.values.contains { path, value in
      path.hasPrefix("runtime.") && path.hasSuffix(".scheduling") && value == .text("deadline")
    }
  }

  /// A file or folder of root's daemon that belongs to another account, or lies in a folder that does; the broker's files, which it gets.
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

  /// What is read after the start: the configuration and what it names.
  var filesRead: [String] {
    var tls: [String] = []
    if case .files(let certificate, let key)? = configuration.service?.tls { tls = [certificate, key] }
    if let mqtt = configuration.mqtt { tls += mqtt.files }
    return [configuration.file] + tls + configuration.systems.all.flatMap(\.files)
  }

  /// The folders of these files, and what the system's libraries read.
  private var readable: [String] {
    // Folders, since editors and certificate programs put new files in the place of old ones. What a link leads to, too.
    let named = filesRead
    let real = named.compactMap(Self.resolved)
    return (named + real).map(Self.folder) + ["/etc/fstab"] + resolver
  }

  /// The C library reads the addresses of name servers anew when they change, which means another file where it is no link.
  private var resolver: [String] {
    // Secrets are not for this user to read then.
    guard geteuid() == 0 else { return ["/etc"] }
    guard let real = Self.resolved("/etc/resolv.conf") else { return [] }
    if Self.folder(real) != "/etc" { return [Self.folder(real)] }
    let asks = configuration.mqtt?.namesItsBroker == true || configuration.systems.all.contains(where: \.looksUpNames)
    return asks ? ["/etc"] : []
  }

  /// The rules under which files can be made in a folder, made if it is missing: of a file system that may be mounted later the folder
  /// above, since a rule belongs to the folder that is there now.
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

  /// The folder, or the next one above it that exists.
  private static func existing(_ path: String) -> String {
    var path = path
    while access(path, F_OK) != 0, path != "/" { path = folder(path) }
    return path
  }
}

extension ResourceClaim {
  /// The folder of the PWM output that is claimed; `nil` for anything else.
  fileprivate var pwm: String? { if case .pwm(let path) = resource { path } else { nil } }
}

extension Configuration.MQTT {
  /// Those that its connection reads whenever it is made.
  fileprivate var files: [String] {
    [security?.authorities, security?.certificate, security?.key, passwordFile].compactMap(\.self)
  }

  /// Whether the C library has to find out the broker's address.
  fileprivate var namesItsBroker: Bool {
    guard case .address(let host) = broker, host != "localhost" else { return false }
    var room = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET, host, &room) != 1 && inet_pton(AF_INET6, host, &room) != 1
  }
}
