#if MQTT
  import CMosquitto
  import Dispatch
  import Glibc
  import Synchronization
  import Tactus

  /// Debian's mosquitto as a child process on loopback, with a configuration that this program writes. It is restarted when it dies.
  ///
  /// One user may publish all topics. Clients without a name may do what the Plant-Tracker app does, and read.
  ///
  /// The broker ends with `stop`, and with the process that started it however that process ends. A launcher confines itself and
  /// becomes the broker. If started by root, the broker runs as `mosquitto`, the user of Debian's package, or as `nobody`.
  public final class MosquittoBroker: Sendable {
    /// The path at which Debian installs the broker.
    public static let standardPath = "/usr/sbin/mosquitto"

    /// The memory limit in bytes. Thirty clients that read nothing would make the broker hold 1.8 GB of other clients' messages;
    /// beyond this limit the client that causes the growth is disconnected.
    private static let memoryLimit = 64 << 20

    /// Returns the configuration of the broker. It reads its passwords and its access list from inherited descriptors, and creates
    /// a socket in an inherited folder. The broker ends if its port is taken.
    static func configuration(port: UInt16, payloadLimit: Int = 65_536) -> String {
      """
      # Written by tactus at every start.
      listener \(port) 127.0.0.1
      listener 0 /proc/self/fd/7/\(socketName)
      allow_anonymous true
      password_file /proc/self/fd/5
      acl_file /proc/self/fd/6
      persistence false
      set_tcp_nodelay true
      max_queued_messages 1000
      memory_limit \(memoryLimit)
      message_size_limit \(payloadLimit)
      log_dest none

      """
    }

    private static let socketName = "broker"

    /// Returns the access list, as in config/mosquitto.acl. In addition a client without a name may read everything, since only the
    /// local host can reach the broker.
    public static func accessList(user: String) -> String {
      """
      # Written by tactus at every start.
      topic write rpi/torpi
      topic read rpi/fromrpi
      topic read #

      user \(user)
      topic readwrite #

      """
    }

    /// The state of the broker's process as other threads see it.
    public struct Status: Sendable, Hashable {
      /// Whether the process has been started and has not ended. The broker may not accept connections yet.
      public internal(set) var isRunning = false
      /// The number of times the process was started, including restarts.
      public internal(set) var starts: Int64 = 0
      /// The reason why the process does not run, or how it last ended, or `nil` if it has not failed.
      public internal(set) var lastFailure: String?
    }

    private struct State {
      var status = Status()
      var process: pid_t = 0
    }

    /// The TCP port on 127.0.0.1, the only address on which the broker listens.
    public let port: UInt16
    private let path: String
    private let launcher: String
    /// The paths of the configuration, the passwords and the access list.
    private let files: [String]
    /// The descriptor of the folder in which the broker creates its socket. By it the socket is reached whatever the folder's path
    /// is; other users have no access to the folder.
    private let room: Int32
    private let portOwner: (@Sendable () -> String?)?
    private let state = Mutex(State())
    private let isStopping = Atomic<Bool>(false)
    /// The process id of the broker, or 0 while no broker runs.
    var process: pid_t { state.withLock { $0.process } }
    private let bell: Doorbell
    private let ended = DispatchGroup()

    /// The path at which Debian's package installs the program that hashes passwords.
    private static let passwordProgram = "/usr/bin/mosquitto_passwd"

    /// Writes the broker's files into `folder`, which must exist, and starts the broker. Blocks for some milliseconds while the password is hashed.
    ///
    /// - Parameters:
    ///   - launcher: the path of `tactus`.
    ///   - user, password: the credentials of the user who may publish all topics, which mosquitto's password file can carry (`BrokerText`).
    ///   - portOwner: returns the program that uses the port, for people, when the broker has ended by itself, or `nil` if it is unknown.
    /// - Throws: an error if the program does not exist or a file cannot be written. A port that is taken is reported in `status`.
    public init(
      port: UInt16, folder: String, launcher: String, user: String, password: String, path: String = standardPath,
      portOwner: (@Sendable () -> String?)? = nil
    ) throws(MQTTError) {
      for (name, part, text) in [("user", BrokerText.Part.user, user), ("password", .password, password)] {
        if let flaw = BrokerText.flaw(in: text, part, isSpawned: true) { throw .setting(name, reason: flaw) }
      }
      self.port = port
      (self.path, self.launcher, self.portOwner) = (path, launcher, portOwner)
      files = ["mosquitto.conf", "mosquitto.passwords", "mosquitto.acl"].map { folder + "/" + $0 }
      for program in [path, Self.passwordProgram] where access(program, X_OK) != 0 {
        throw .setting("broker: spawn", reason: "no \(program): apt install mosquitto")
      }
      do throws(RuntimeError) { bell = try Doorbell() } catch { throw .system(call: "eventfd", errno: errno) }
      try Self.write("\(user):\(password)\n", to: files[1])
      try Self.hash(files[1], of: user)
      try Self.write(Self.configuration(port: port), to: files[0])
      try Self.write(Self.accessList(user: user), to: files[2])
      room = try Self.makeRoom(folder + "/socket")
      declareLauncher()
      ended.enter()
      DispatchQueue(label: "mqtt-broker").async {
        self.run()
        self.ended.leave()
      }
    }

    deinit { close(room) }

    /// The socket to which this program's client connects (`MQTTSettings.localSocket`), and by which it accepts only
    /// this broker's process. On the port another program might listen, before the broker starts or after it has ended.
    public var localSocket: BrokerSocket {
      BrokerSocket(path: "/proc/self/fd/\(room)/\(Self.socketName)") { [self] in process }
    }

    /// A copy of the present state. The value may be read from any thread.
    public var status: Status { state.withLock { $0.status } }

    /// Ends the broker and waits for its end.
    public func stop() {
      isStopping.store(true, ordering: .releasing)
      state.withLock { if $0.process > 0 { _ = mqtt_send_signal($0.process, SIGTERM) } }
      bell.button.ring()
      ended.wait()
    }

    /// Writes a file that only the user of the broker may read.
    private static func write(_ text: String, to file: String) throws(MQTTError) {
      let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .system(call: "open \(file)", errno: errno) }
      defer { close(descriptor) }
      guard fchmod(descriptor, 0o600) == 0 else { throw .system(call: "fchmod \(file)", errno: errno) }
      guard fchown(descriptor, account.user, account.group) == 0 else {
        throw .system(call: "fchown \(file)", errno: errno)
      }
      let bytes = Array(text.utf8)
      guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw .system(call: "write \(file)", errno: errno)
      }
    }

    /// Creates a folder that only the user of the broker may use. Returns its descriptor.
    private static func makeRoom(_ folder: String) throws(MQTTError) -> Int32 {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .system(call: "mkdir \(folder)", errno: errno) }
      // The folder is opened for reading, which fchown and fchmod require.
      let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { throw .system(call: "open \(folder)", errno: errno) }
      guard fchmod(descriptor, 0o700) == 0, fchown(descriptor, account.user, account.group) == 0 else {
        let error = errno
        close(descriptor)
        throw .system(call: "fchown \(folder)", errno: error)
      }
      return descriptor
    }

    /// Replaces the password of a user in a file by its hash, without passing a password on a command line.
    private static func hash(_ file: String, of user: String) throws(MQTTError) {
      let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
      defer { close(null) }
      let (process, _) = start([passwordProgram, "-U", file], files: [null, null, null, null])
      guard process > 0 else { throw .system(call: passwordProgram, errno: -process) }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      guard status == 0 else {
        throw .setting("broker: spawn", reason: "\(passwordProgram) ended with status \(status >> 8 & 0xFF)")
      }
      // The file shows what the program has read. If it took a line for something else, no client could log in.
      guard isOneHash(file, of: user) else {
        throw .setting(
          "broker: spawn",
          reason: "\(passwordProgram) did not accept the user and the password as they were written for it")
      }
      // The program may have created the file anew, with another mode and owner.
      guard chmod(file, 0o600) == 0, chown(file, account.user, account.group) == 0 else {
        throw .system(call: "chown \(file)", errno: errno)
      }
    }

    /// Returns whether a file has one line, with a user and a hash.
    private static func isOneHash(_ file: String, of user: String) -> Bool {
      let descriptor = open(file, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 2 * BrokerText.mostBytes)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return false }
      let lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
      return lines.count == 1 && lines[0].starts(with: Array("\(user):$".utf8))
    }

    /// Starts the broker's process. Returns its process id or −errno, and the launcher's message if it could not become the broker,
    /// which is empty if it could.
    private static func start(_ words: [String], files: [Int32]) -> (process: pid_t, refusal: String) {
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var failure = [CChar](repeating: 0, count: 256)
      let process = mqtt_spawn(words[0], &arguments, files, &failure, failure.count)
      return (process, String(decoding: failure.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The command line of the launcher.
    private var words: [String] { [launcher, "broker", "\(getpid())", path, "-c", "/proc/self/fd/4"] }

    /// Declares the launcher's command line, since a confined program can start only declared programs.
    private func declareLauncher() {
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      _ = mqtt_declare(launcher, &arguments)
    }

    /// Runs the thread to which the child is bound. It waits for the child's end and restarts the broker.
    private func run() {
      var delay = Nanoseconds.seconds(1)
      while !isStopping.load(ordering: .acquiring) {
        let began = MonotonicClock.now
        guard let process = spawn() else { return }
        // The process is reaped under the lock, so that its number is not another process's while `stop` may send it a signal.
        var information = siginfo_t()
        while waitid(P_PID, id_t(clamping: process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let owner = portOwner?()
        state.withLock { state in
          var status: Int32 = 0
          waitpid(process, &status, 0)
          state.process = 0
          state.status.isRunning = false
          state.status.lastFailure = owner ?? Self.text(status)
        }
        // A broker that ran for more than ten seconds is started again after one second.
        delay = .seconds(10) < MonotonicClock.now - began ? .seconds(1) : min(delay * 2, .seconds(30))
        let until = MonotonicClock.now + delay
        while !isStopping.load(ordering: .acquiring), MonotonicClock.now < until {
          bell.wait(limit: until - MonotonicClock.now)
        }
      }
    }

    /// Starts the broker. Returns its process id, or `nil` if it cannot be started and should not be tried again.
    private func spawn() -> pid_t? {
      var descriptors: [Int32] = []
      defer { for descriptor in descriptors { close(descriptor) } }
      for file in files {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
          let reason = String(cString: strerror(errno))
          state.withLock { $0.status.lastFailure = "\(file): \(reason)" }
          return nil
        }
        descriptors.append(descriptor)
      }
      // The broker gets its files by descriptor, since its user may not be allowed to enter the folders above them.
      let (process, refusal) = Self.start(words, files: descriptors + [room])
      return state.withLock { state in
        guard process > 0 else {
          state.status.lastFailure = "\(launcher): \(String(cString: strerror(-process)))"
          return nil
        }
        guard refusal.isEmpty else {
          var status: Int32 = 0
          waitpid(process, &status, 0)
          state.status.lastFailure = refusal
          return nil
        }
        state.process = process
        state.status.isRunning = true
        state.status.starts += 1
        // `stop` may have been called before there was a process to end.
        if isStopping.load(ordering: .acquiring) { _ = mqtt_send_signal(process, SIGTERM) }
        return process
      }
    }

    /// The account as which the broker runs, which its launcher decides: the present user, unless that is root.
    private static var account: (user: uid_t, group: gid_t) {
      guard geteuid() == 0 else { return (geteuid(), getegid()) }
      for name in ["mosquitto", "nobody"] {
        if let entry = getpwnam(name) { return (entry.pointee.pw_uid, entry.pointee.pw_gid) }
      }
      // These are the numbers of nobody and nogroup on every Linux.
      return (65_534, 65_534)
    }

    private static func text(_ status: Int32) -> String {
      let signal = status & 0x7F
      if signal != 0 { return "mosquitto was ended by signal \(signal)" }
      let code = status >> 8 & 0xFF
      return "mosquitto ended with status \(code)"
    }
  }
#endif
