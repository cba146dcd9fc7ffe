/// Every key the configuration file knows: the reader, `tactus check` and `config/reference.yaml` all come from here.
///
/// Sources: the requirement's config.yaml, facts about the original program's file, and this program's own keys.
enum ConfigTable {
  /// Those of this program.
  static let sections = sections(of: .current)
  static let keys = keys(of: .current)

  /// A section's name and what the reference says above it.
  static let everySection: [(name: String, doc: String)] = [
    ("network", "Where the program listens."),
    (
      "service",
      "The door: HTTP API, WebSocket and console on network.http_port. It runs unless it is switched off here."
    ),
    ("motors", "The robot's motors. The robot runs when this section is present."),
    (
      "leg",
      "What all servo legs share. They run when this section or legs is present; this one alone: one leg on channel 0."
    ),
    ("legs", "The legs, 1…16, each on a channel of its own. Their order is that of their UDP ports and of the API."),
    (
      "sprinkler",
      "The sprinkler controller, which runs when this section is present. What zones are called and do is the first content "
        + "of its store; afterwards the API changes them, and the store decides."
    ),
    ("pump", "The cooling pump: this program operates one, or is one. It runs when this section is present."),
    (
      "plants",
      "Plants, their soil probes and the host of the Plant-Tracker app, which run when this section is present."
    ),
    (
      "mqtt",
      "The MQTT broker on which every system tells its state, and takes commands where that is allowed. Used when this section "
        + "is present."
    ),
    (
      "store",
      "What survives the program: one file for every system that keeps something (sprinkler, plants, pump), checked when it is "
        + "opened, and copies of it. There is none when no such system runs."
    ),
    ("safety", "What happens when something fails."),
    ("runtime", "How loops run: see `tactus doctor` for what this machine allows."),
    ("camera", "The camera, its picture and its encoder. Video runs when this section or video is present."),
    ("video", "How the picture is shown: RTSP on network.rtsp_port, and streams of the service."),
    ("logging", "Logs are JSON lines on standard error."),
    ("performance", "Sizes."),
  ]

  static let everyKey: [ConfigKey] =
    network + service + motors + leg + legs + sprinkler + pump + plants + mqtt + store + safety + runtime + runtimeLeg
    + runtimeSprinkler + camera + video + logging + performance

  /// What is a list of mappings, with the most items of each. The keys of an item are `section[].key` or
  /// `section.part[].key`.
  static let lists = [
    "legs": 16, "sprinkler.groups": 15, "sprinkler.zones": 64, "plants.sensors": 16, "plants.watering": 64,
  ]

  private static let network: [ConfigKey] = [
    ConfigKey(
      "network.bind_address", .address, .text("127.0.0.1"),
      "Address to listen on. 127.0.0.1 reaches this machine only; 0.0.0.0 every network it is on: there is no password "
        + "on the motors' port."),
    ConfigKey(
      "network.motor_udp_port", .integer(0...65535), .integer(5005), "UDP port of motor commands; 0 takes any free one."
    ),
    ConfigKey(
      "network.leg_udp_port", .integer(0...65535), .integer(5010),
      "UDP port of the first leg's frames; the second leg's is one higher, and so on. 0 takes any free ones."),
    ConfigKey(
      "network.rtsp_port", .integer(0...65535), .integer(8554),
      "TCP port of the video stream, rtsp://HOST:PORT/stream; 0 takes any free one."),
    ConfigKey(
      "network.http_port", .integer(0...65535), .integer(8000),
      "TCP port of the console, the API and the WebSocket; 0 takes any free one."),
  ]

  private static let service: [ConfigKey] = [
    ConfigKey("service.enabled", .boolean, .boolean(true), "Whether the service runs."),
    ConfigKey(
      "service.auth", .choice(["tokens", "none"]), .text("tokens"),
      "Who comes in: tokens (see `tactus token create`; TACTUS_TOKEN in the environment is one too), or none: everyone, "
        + "which needs a loopback network.bind_address."),
    ConfigKey(
      "service.tls", .choice(["off", "self-signed", "files"]), .text("off"),
      "HTTPS: off, with a certificate made on first use (self-signed), or with one from files."),
    ConfigKey(
      "service.tls_certificate", .text, nil, "PEM file of the certificate, with those that lead to a known authority."),
    ConfigKey("service.tls_key", .text, nil, "PEM file of the certificate's key."),
    ConfigKey(
      "service.allowed_origins", .texts, .texts([]),
      "Web pages of other origins that may use the API: [https://panel.example]."),
    ConfigKey(
      "service.allowed_hosts", .texts, .texts([]),
      "Names this machine is reached by, beside its addresses, localhost, its own name and that in .local."),
    ConfigKey(
      "service.max_connections", .integer(1...10_000), .integer(2048),
      "Connections with a token at a time; one more is refused. Those that have not shown one have few places of their "
        + "own."),
    ConfigKey(
      "service.token_file", .text, nil,
      "File of the tokens that `tactus token` makes. Unless given: /var/lib/tactus/tokens.json where that folder may be "
        + "written to, else ~/.local/state/tactus/tokens.json."),
    ConfigKey(
      "service.jwt_key", .text, nil,
      "Key of HS256 JSON web tokens, at least 32 bytes: ${NAME} takes it from the environment. Unless given, none are "
        + "accepted. Their exp lies at most 366 days ahead."),
    ConfigKey(
      "service.bonjour", .boolean, .boolean(true), "Announce the service as _tactus._tcp through Avahi, if that runs."),
  ]

  private static let motors: [ConfigKey] = [
    ConfigKey(
      "motors.backend", .choice(["yb-pcb-car", "raspbot-v2", "xgo-rider", "sim"]), .text("yb-pcb-car"),
      "The board: yb-pcb-car (I2C 0x16), raspbot-v2 (I2C 0x2B), xgo-rider (serial) or sim (no hardware)."),
    ConfigKey("motors.i2c_bus", .integer(0...255), .integer(1), "Number N of /dev/i2c-N."),
    ConfigKey(
      "motors.i2c_address", .integer(0x08...0x77), nil,
      "The board's I2C address. Unless given: 0x16, or 0x2B for raspbot-v2."),
    ConfigKey("motors.serial_device", .text, .text("/dev/ttyAMA0"), "The xgo-rider's serial device, 115200 8N1."),
    ConfigKey(
      "motors.speed_limit", .number(0...100), .number(100), "Fastest wheel speed accepted, in percent of full speed."),
    ConfigKey(
      "motors.acceleration", .number(0...100), .number(50),
      "Ramp: speed rises by 4 × this many percent per second (50: from 0 to 100 in half a second); 0 means no ramp."),
    ConfigKey(
      "motors.command_timeout", .number(0.1...10), .number(1),
      "Seconds without a valid newer command after which the motors stop."),
    ConfigKey("motors.invert_left", .boolean, .boolean(false), "The left motor is wired the other way round."),
    ConfigKey("motors.invert_right", .boolean, .boolean(false), "The right motor is wired the other way round."),
    ConfigKey("motors.max_duty", .integer(1...255), .integer(255), "Board value of 100 %."),
    ConfigKey(
      "motors.min_duty", .integer(0...255), .integer(0),
      "Smallest board value of a turning wheel: gear motors stall below about 30."),
    ConfigKey(
      "motors.legacy_register", .boolean, .boolean(false),
      "Write speeds to register 0x00 in percent as the original script did, instead of the board's register 0x01."),
  ]

  private static let safety: [ConfigKey] = [
    ConfigKey("safety.emergency_stop_enabled", .alwaysTrue, .boolean(true), "The emergency stop; always on."),
    ConfigKey(
      "safety.watchdog_enabled", .boolean, .boolean(true),
      "The guard process, which stops the motors when this program dies, hangs or is stopped."),
    ConfigKey(
      "safety.watchdog_timeout", .number(0.2...10), .number(1),
      "Seconds without a sign of life from the control loop after which the guard stops the motors."),
    ConfigKey(
      "safety.safe_mode", .boolean, .boolean(false),
      "The robot drives no faster than safety.safe_mode_speed_limit, whatever motors.speed_limit says."),
    ConfigKey(
      "safety.safe_mode_speed_limit", .number(0...100), .number(50),
      "Fastest wheel speed in the safe mode, in percent of full speed."),
  ]

  private static let runtime: [ConfigKey] = [
    ConfigKey(
      "runtime.strict", .boolean, .boolean(false),
      "Refuse to start when the real-time settings below cannot be had; otherwise say so once and run without."),
    ConfigKey("runtime.lock_memory", .boolean, .boolean(true), "Keep the program's memory from being swapped."),
    ConfigKey(
      "runtime.robot.rate_hz", .integer(5...1000), .integer(20), "Ticks per second of the motors' loop, in hertz."),
    ConfigKey(
      "runtime.robot.scheduling", .choice(["fifo", "deadline", "normal"]), .text("fifo"),
      "Kernel scheduling of the motors' lane: fifo (SCHED_FIFO), deadline (SCHED_DEADLINE) or normal."),
    ConfigKey("runtime.robot.priority", .integer(1...98), .integer(80), "Priority under fifo."),
    ConfigKey(
      "runtime.robot.budget_us", .integer(20...1_000_000), .integer(2000),
      "Execution time granted per period under deadline, in microseconds; less than the period."),
    ConfigKey(
      "runtime.robot.safe_state_after", .integer(2...1000), .integer(10),
      "Ticks missed in a row after which the robot stops and is in fault until a reset."),
    ConfigKey("runtime.robot.cpu", .cpus, nil, "The only CPUs the lane may use; any unless given."),
  ]

  private static let logging: [ConfigKey] = [
    ConfigKey(
      "logging.level", .choice(["TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL"]), .text("INFO"),
      "Least important level that is logged."),
    ConfigKey(
      "logging.file", .text, nil,
      "File that gets the log lines too; reopened on SIGHUP, so that logrotate can move it."),
  ]

  private static let performance: [ConfigKey] = [
    ConfigKey(
      "performance.udp_buffer_size", .integer(64...1024), .integer(1024),
      "Longest motor datagram in bytes; a longer one is malformed."),
    ConfigKey(
      "performance.worker_threads", .integer(1...64), nil,
      "Threads that serve HTTP and WebSocket; no control loop runs on them. Unless given: 2, or 1 on a machine with up to two "
        + "processors."),
  ]
}

extension ConfigTable {
  static let byPath = Dictionary(uniqueKeysWithValues: keys.map { ($0.path, $0) })
  private static let everyByPath = byPath.merging(everyKey.map { ($0.path, $0) }) { own, _ in own }

  /// The same of every key there is: what a program does not have keeps its default.
  static func anyKey(_ path: String) -> ConfigKey? { everyByPath[generic(path)] }

  /// The key of a path in a file: that of `legs[2].channel` is `legs[].channel`.
  static func key(_ path: String) -> ConfigKey? { byPath[generic(path)] }

  /// The known names directly below a path: sections below "", keys and parts below a section or a list's item.
  static func names(below path: String) -> [String] {
    let prefix = path.isEmpty ? "" : generic(path) + "."
    var names: [String] = []
    for key in keys where key.path.hasPrefix(prefix) {
      let name = key.path.dropFirst(prefix.count).prefix { $0 != "." && $0 != "[" }
      if names.last != String(name) { names.append(String(name)) }
    }
    return names
  }

  /// The keys and parts of that name in any section, if there are one or two: somebody may have meant them. A name that more
  /// sections have says nothing.
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

  /// Without the indices.
  private static func generic(_ path: String) -> String {
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
