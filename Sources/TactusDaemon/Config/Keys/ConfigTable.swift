/// All keys of the configuration file. The reader, `tactus check` and `config/reference.yaml` use this table.
///
/// Sources: the requirement's config.yaml, facts about the original program's file, and this program's own keys.
enum ConfigTable {
  /// The sections of the running program.
  static let sections = sections(of: .current)
  static let keys = keys(of: .current)
  /// The lists of mappings by path, with the greatest number of items of each.
  static let lists = lists(of: .current)
  static let listMeanings = listMeanings(of: .current)
  /// The keys of earlier versions by their old names, each with its present name.
  static let moved = DaemonProgram.current.kinds.reduce(into: [:]) { $0.merge($1.movedKeys) { first, _ in first } }

  /// The sections that precede those of the systems.
  private static let firstSections = [
    ConfigSection(name: "network", doc: "Where the program listens."),
    ConfigSection(
      name: "service",
      doc: "The door: HTTP API, WebSocket and console on network.http_port. It runs unless it is switched off here."),
  ]

  private static let lastSections = [
    ConfigSection(
      name: "mqtt",
      doc:
        "The MQTT broker on which every system tells its state, and takes commands where that is allowed. Used when this "
        + "section is present."),
    notifySection,
    ConfigSection(name: "safety", doc: "What happens when something fails."),
    ConfigSection(name: "runtime", doc: "How loops run: see `tactus doctor` for what this machine allows."),
    ConfigSection(name: "logging", doc: "Logs are JSON lines on standard error, unless this says otherwise."),
    ConfigSection(name: "performance", doc: "Sizes."),
  ]

  static func sections(of program: DaemonProgram) -> [ConfigSection] {
    let kinds = program.kinds
    let all =
      firstSections + kinds.flatMap(\.sections) + (kinds.contains { $0.keeping != nil } ? [storeSection] : [])
      + lastSections
    precondition(
      Set(all.map(\.name)).count == all.count,
      "a system is called like a section that there is, or like another system: "
        + all.map(\.name).joined(separator: ", "))
    return all
  }

  static func keys(of program: DaemonProgram) -> [ConfigKey] {
    let kinds = program.kinds
    let sections = Set(Self.sections(of: program).map(\.name))
    for key in kinds.flatMap(\.keys) {
      precondition(
        sections.contains(String(key.path.prefix { $0 != "." && $0 != "[" })), "\(key.path): there is no such section")
    }
    return network + service(of: program) + clients + kinds.flatMap(\.keys)
      + (kinds.contains { $0.keeping != nil } ? store(of: program) : []) + mqtt
      + notify + safety + runtime + logging + performance
  }

  /// Returns the names of the other sections of the same system.
  static func sections(beside section: some StringProtocol) -> [String] {
    let names = DaemonProgram.current.kinds.lazy.map { $0.sections.map(\.name) }
    return names.first { $0.contains { $0 == section } }?.filter { $0 != section } ?? []
  }

  static func lists(of program: DaemonProgram) -> [String: Int] {
    program.kinds.reduce(into: notifyLists.merging(clientLists) { first, _ in first }) {
      $0.merge($1.lists) { first, _ in first }
    }
  }

  /// Returns the descriptions, for the reference, of lists inside the sections of declared systems, by path.
  static func listMeanings(of program: DaemonProgram) -> [String: String] {
    program.systems.reduce(into: notifyMeanings.merging(clientMeanings) { first, _ in first }) {
      $0.merge(meanings(of: $1)) { first, _ in first }
    }
  }

  private static let network: [ConfigKey] = [
    ConfigKey(
      "network.bind_address", .address, .text("127.0.0.1"),
      "Address to listen on. 127.0.0.1 reaches this machine only; 0.0.0.0 every network it is on: there is no password "
        + "on ports of datagrams."),
    ConfigKey(
      "network.http_port", .integer(0...65535), .integer(8000),
      "TCP port of the console, the API and the WebSocket; 0 takes any free one."),
  ]

  private static func service(of program: DaemonProgram) -> [ConfigKey] {
    [
      ConfigKey("service.enabled", .boolean, .boolean(true), "Whether the service runs."),
      ConfigKey(
        "service.auth", .choice(["tokens", "none"]), .text("tokens"),
        "Who comes in: tokens (see `tactus token create`; TACTUS_TOKEN in the environment is one too), or none: everyone, "
          + "which needs a loopback network.bind_address."),
      ConfigKey(
        "service.tls", .choice(["off", "self-signed", "files"]), .text("off"),
        "HTTPS: off, with a certificate made on first use (self-signed), or with one from files."),
      ConfigKey(
        "service.tls_certificate", .file, nil,
        "PEM file of the certificate, with those that lead to a known authority."),
      ConfigKey("service.tls_key", .file, nil, "PEM file of the certificate's key."),
      ConfigKey(
        "service.allowed_origins", .texts, .texts([]),
        "Web pages of other origins that may use the API: [https://panel.example]."),
      ConfigKey(
        "service.allowed_hosts", .texts, .texts([]),
        "Names this machine is reached by, beside its addresses, localhost, its own name and that in .local."),
      ConfigKey(
        "service.frame_ancestors", .texts, .texts([]),
        "Web pages that may show the page in a frame: [http://homeassistant.local:8123]. Unless given, none may."),
      ConfigKey(
        "service.max_connections", .integer(1...10_000), .integer(2048),
        "Connections with a token at a time; one more is refused. Those that have not shown one have few places of their "
          + "own."),
      ConfigKey(
        "service.token_file", .text, nil,
        "File of the tokens that `\(program.name) token` makes. Unless given: $XDG_STATE_HOME/\(program.name)/tokens.json if that variable is "
          + "set, else /var/lib/\(program.name)/tokens.json where that folder may be written to, else "
          + "~/.local/state/\(program.name)/tokens.json."),
      ConfigKey(
        "service.jwt_key", .secret, nil,
        "Key of HS256 JSON web tokens, at least 32 bytes: ${NAME} takes it from the environment. Unless given, none are "
          + "accepted. Their exp lies at most 366 days ahead."),
      ConfigKey(
        "service.bonjour", .boolean, .boolean(true),
        "Announce the service as _tactus._tcp through Avahi, if that runs."),
    ]
  }

  private static let safety: [ConfigKey] = [
    ConfigKey("safety.emergency_stop_enabled", .alwaysTrue, .boolean(true), "The emergency stop; always on."),
    ConfigKey(
      "safety.watchdog_enabled", .boolean, .boolean(true),
      "The guard process, which stops every actuator when this program dies, hangs or is stopped."),
    ConfigKey(
      "safety.watchdog_timeout", .number(0.2...10), .number(1),
      "Seconds without a sign of life from the control loop after which the guard stops every actuator."),
  ]

  private static let runtime: [ConfigKey] = [
    ConfigKey(
      "runtime.strict", .boolean, .boolean(false),
      "Refuse to start when the real-time settings below cannot be had; otherwise say so once and run without."),
    ConfigKey(
      "runtime.confine", .boolean, .boolean(true),
      "Give up capabilities, files and system calls that are not needed before anything is opened. false is for finding faults only. A restart "
        + "changes it."),
    ConfigKey(
      "runtime.user", .text, nil,
      "Account that a program becomes which root has started, with all its groups, before it opens anything. Unless given: root stays root, and "
        + "so it does with root. A restart changes it."),
    ConfigKey("runtime.lock_memory", .boolean, .boolean(true), "Keep the program's memory from being swapped."),
    ConfigKey(
      "runtime.recorder_kilobytes", .integer(0...262_144), .integer(4096),
      "Memory of each system's lane for its flight recorder, which keeps what every tick read, decided and wrote; `tactus record` writes it to a "
        + "file. 0: nothing is recorded. A restart changes it."),
    ConfigKey(
      "runtime.watchdog", .text, nil,
      "Hardware watchdog that the guard holds and feeds: /dev/watchdog. It resets the board when program and guard are both gone, and when "
        + "a safe state cannot be confirmed. Only one process may have it, so systemd's RuntimeWatchdogSec= must not be set. A restart changes it."
    ),
    ConfigKey(
      "runtime.watchdog_timeout_s", .integer(5...3600), .integer(15),
      "Time without feeding after which the hardware watchdog resets the board, in seconds; the driver may have limits of its own, and what "
        + "is in effect is logged at the start."),
  ]

  private static let logging: [ConfigKey] = [
    ConfigKey(
      "logging.level", .choice(["TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"]), .text("INFO"),
      "Least important level that is logged.", mayChange: true),
    ConfigKey(
      "logging.file", .textOrNothing, nil,
      "File that gets the log lines too; reopened on SIGHUP, so that logrotate can move it. null: none."),
    ConfigKey(
      "logging.console", .boolean, .boolean(true),
      "Whether standard error gets the log lines. Without it and without a file they are only in /api/logs; the guard and errors of a start "
        + "that fails are on standard error all the same."),
    ConfigKey(
      "logging.format", .logFormat, nil,
      "How a line looks, as Python's logging has it: '%(asctime)s - %(name)s - %(levelname)s - %(message)s'. Unless given: JSON. "
        + "`run --log-format` goes before it."),
  ]

  private static let performance: [ConfigKey] = [
    ConfigKey(
      "performance.worker_threads", .integer(1...64), nil,
      "Threads that serve HTTP and WebSocket; no control loop runs on them. Unless given: 2, or 1 on a machine with up to two "
        + "processors."),
    ConfigKey(
      "performance.enable_monitoring", .boolean, .boolean(false),
      "Log once a minute what the loops and the process have needed. /metrics, /api/runtime and `tactus top` have it at any time."
    ),
  ]
}

extension ConfigTable {
  static let byPath = Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0) })

  /// Returns the key of a path in a file: the path `legs[2].channel` has the key `legs[].channel`. Returns `nil` if there is no such key.
  static func key(_ path: String) -> ConfigKey? { byPath[generic(path)] }

  /// Returns the greatest number of items of the list at a path, which may be inside an item of another list, or `nil`
  /// if the path is not that of a list.
  static func most(of path: String) -> Int? { lists[generic(path)] }

  /// Returns the known names directly below a path: the sections below "", the keys and parts below a section or a list's item.
  static func names(below path: String) -> [String] {
    if path.isEmpty { return sections.map(\.name) }
    let prefix = generic(path) + "."
    var names: [String] = []
    for key in keys where key.path.hasPrefix(prefix) {
      let name = key.path.dropFirst(prefix.count).prefix { $0 != "." && $0 != "[" }
      if !names.contains(String(name)) { names.append(String(name)) }
    }
    return names
  }

  /// Returns the paths of the keys and parts with this name in any section, if there are one or two, since the user may
  /// have meant them. Returns none if more sections have the name.
  static func elsewhere(_ name: String) -> [String] {
    var paths: [String] = []
    for key in keys {
      let parts = key.path.split(separator: ".")
      for (index, part) in parts.enumerated().dropFirst() where part == name || part == name + "[]" {
        let path = parts[...index].joined(separator: ".")
        if !paths.contains(path) { paths.append(path) }
      }
    }
    return paths.count <= 2 ? paths : []
  }

  /// Returns the path without the indices.
  static func generic(_ path: String) -> String {
    guard path.contains("[") else { return path }
    var isWithin = false
    return String(
      path.filter { character in
        if character == "]" { isWithin = false }
        defer { if character == "[" { isWithin = true } }
        return !isWithin
      })
  }
}
