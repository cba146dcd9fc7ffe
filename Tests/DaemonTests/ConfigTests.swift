import Buses
import DaemonSupport
import Foundation
import Robot
import Tactus
import TestSupport
import Testing

@testable import RobotDaemon
@testable import TactusDaemon
@testable import VideoDaemon

@Suite("configuration")
struct ConfigTests {
  @Test("the requirement's config.yaml: accepted as it stands, with its meaning")
  func requirement() throws {
    let configuration = try read(
      """
      network:
        motor_udp_port: 5006
        rtsp_port: 8554

      camera:
        resolution: [640, 480]
        framerate: 30
        format: 'h264'

      motors:
        speed_limit: 90
        acceleration: 40
        i2c_address: 0x17

      logging:
        level: 'INFO'
        file: '/var/log/yahboom.log'
      """)
    let motors = try #require(configuration.motors)
    #expect(motors.wiring.port == 5006)
    #expect(motors.wiring.backend == .ybPcbCar)
    #expect(motors.rules.speedLimitPercent == 90)
    #expect(motors.rules.acceleration == 40)
    #expect(motors.wiring.address.value == 0x17)
    #expect(configuration.logLevel == "INFO")
    #expect(configuration.logFile == "/var/log/yahboom.log")
    #expect(configuration.unused == [])
    let video = try #require(configuration.video).settings
    #expect((video.width, video.height, video.framesPerSecond, video.port) == (640, 480, 30, 8554))
    #expect((video.source, video.encoder, video.keyFrameInterval) == (.automatic, .automatic, 30))
  }

  @Test("the original program's further keys: accepted")
  func original() throws {
    let configuration = try read(
      """
      network: { bind_address: 0.0.0.0 }
      motors: { i2c_bus: 3, command_timeout: 0.5, invert_left: yes, invert_right: false }
      camera: { bitrate: 2_000_000, rotation: 180, device: /dev/video0 }
      safety: { emergency_stop_enabled: true, safe_mode_speed_limit: 50, watchdog_enabled: true, watchdog_timeout: 2.0 }
      performance: { worker_threads: 2, udp_buffer_size: 1024 }
      """)
    let motors = try #require(configuration.motors)
    #expect(configuration.bindAddress == "0.0.0.0")
    #expect(motors.wiring.i2cBus == 3)
    #expect(motors.rules.commandTimeoutSeconds == 0.5)
    #expect(motors.wiring.invertLeft && !motors.wiring.invertRight)
    #expect(configuration.guardTimeoutSeconds == 2)
  }

  @Test("service: on by default, with tokens, without TLS; switched off by one key")
  func service() throws {
    let service = try #require(try read("motors:\n").service)
    #expect(service.port == 8000)
    #expect(service.auth == .tokens)
    #expect(service.tls == .off)
    #expect(service.jwtKey == nil)
    #expect(try read("service: { enabled: false }\n").service == nil)
  }

  @Test("service: lists of texts, and a port that any free one replaces")
  func serviceLists() throws {
    let service = try #require(
      try read(
        """
        network: { http_port: 0 }
        service: { allowed_hosts: [robot.example, pi], allowed_origins: ['https://panel.example'],
          frame_ancestors: ['http://homeassistant.local:8123'] }
        """
      ).service)
    #expect(service.port == 0)
    #expect(service.allowedHosts == ["robot.example", "pi"])
    #expect(service.allowedOrigins == ["https://panel.example"])
    #expect(service.frameAncestors == ["http://homeassistant.local:8123"])
  }

  @Test("service: what cannot go together names both lines, what cannot match is named")
  func serviceErrors() {
    #expect(
      errors("network:\n  bind_address: 0.0.0.0\nservice:\n  auth: none\n") == [
        "c.yaml:4:9: service.auth: expected tokens while line 2: network.bind_address is 0.0.0.0: none needs 127.0.0.1 "
          + "or ::1, got none"
      ])
    #expect(errors("network: { bind_address: '::1' }\nservice: { auth: none }\n") == [])
    #expect(
      errors("service: { allowed_origins: [panel] }\n") == [
        "c.yaml:1:29: service.allowed_origins: expected https://NAME or http://NAME:PORT, got panel"
      ])
    for entry in ["panel", "https://home.example/lovelace", "https://a b", "https://a; script-src *"] {
      #expect(
        errors("service: { frame_ancestors: ['\(entry)'] }\n") == [
          "c.yaml:1:29: service.frame_ancestors: expected https://NAME or http://NAME:PORT, got \(entry)"
        ])
    }
    #expect(
      errors("service: { allowed_hosts: panel }\n") == [
        "c.yaml:1:27: service.allowed_hosts: expected a list of texts, got panel"
      ])
    #expect(errors("service: { jwt_key: short }\n").first?.contains("at least 32 bytes, got 5") == true)
  }

  @Test("an empty file: every default, and no system runs")
  func empty() throws {
    let configuration = try read("# nothing\n")
    #expect(configuration.motors == nil)
    #expect(configuration.bindAddress == "127.0.0.1")
    #expect(configuration.guardEnabled && configuration.guardTimeoutSeconds == 1)
  }

  @Test("many errors: all are reported, each with file, line, column, key and what was expected")
  func allErrors() {
    let found = errors(
      """
      network:
        rtsp_port: 99999
      motors:
        speed_limit: fast
        invert_left: 3
        backend: lego
      camera:
        resolution: [640]
      logging: 3
      """)
    #expect(
      found == [
        "c.yaml:2:14: network.rtsp_port: expected an integer 0…65535, got 99999",
        "c.yaml:4:16: motors.speed_limit: expected a number 0…100, got fast",
        "c.yaml:5:16: motors.invert_left: expected true or false, got 3",
        "c.yaml:6:12: motors.backend: expected one of yb-pcb-car, raspbot-v2, xgo-rider, sim, got lego",
        "c.yaml:8:15: camera.resolution: expected a list of 2 integers 16…8192, got [640]",
        "c.yaml:9:10: logging: expected a mapping of keys, got 3",
      ])
  }

  @Test(
    "an unknown key: an error that suggests the nearest known one, and the same name of another section",
    arguments: [
      (
        "motors: { speed_limt: 3 }",
        "c.yaml:1:11: motors.speed_limt: expected a known key (speed_limit?), got speed_limt"
      ),
      ("netwrok: {}", "c.yaml:1:1: netwrok: expected a known key (network?), got netwrok"),
      (
        "runtime: { robot: { prioritty: 3 } }",
        "c.yaml:1:21: runtime.robot.prioritty: expected a known key (priority?), got prioritty"
      ),
      (
        "logging: { zebra: 3 }",
        "c.yaml:1:12: logging.zebra: expected a known key (one of level, file, console, format), got zebra"
      ),
      (
        "video: { source: test }",
        "c.yaml:1:10: video.source: expected a known key (camera.source?), got source"
      ),
      (
        "camera: { viewers: 3 }",
        "c.yaml:1:11: camera.viewers: expected a known key (video.viewers?), got viewers"
      ),
      (
        "camera: { detector: { model: m.onnx } }",
        "c.yaml:1:11: camera.detector: expected a known key (video.detector?), got detector"
      ),
      (
        "motors: { scheduling: fifo }",
        "c.yaml:1:11: motors.scheduling: expected a known key (one of backend, i2c_bus, i2c_address, serial_device, "
          + "invert_left, invert_right, max_duty, min_duty, legacy_register, wheel_base_m, top_speed_m_per_s, stop_within_mm, battery_low_percent, battery_stop_percent, tilt_stop_deg, "
          + "accelerometer, gyroscope, inertial_forward, inertial_up, pan_min_deg, pan_max_deg, tilt_min_deg, tilt_max_deg, pan_tilt_deg_per_s, invert_pan, invert_tilt, line_sensor, rosbridge, speed_limit, "
          + "acceleration, command_timeout), "
          + "got scheduling"
      ),
    ])
  func unknownKey(text: String, expected: String) {
    #expect(errors(text) == [expected])
  }

  @Test("a value out of the environment: used, and hidden when it is wrong")
  func environment() throws {
    #expect(try read("logging: { file: '/log/${ROBOT}.log' }", environment: ["ROBOT": "a1"]).logFile == "/log/a1.log")
    #expect(
      try read("network:\n  motor_udp_port: ${PORT}\nmotors:\n", environment: ["PORT": "7"]).motors?.wiring.port == 7)
    #expect(try read("logging: { file: '$${ROBOT}' }").logFile == "${ROBOT}")
    #expect(
      errors("network:\n  motor_udp_port: ${PORT}", environment: ["PORT": "hunter2"])
        == [
          "c.yaml:2:19: network.motor_udp_port: expected an integer 0…65535, got the (hidden) value of ${PORT}"
        ])
    #expect(
      errors("logging: { file: '${NOPE}' }")
        == ["c.yaml:1:18: logging.file: expected the environment variable NOPE, got none of that name"])
    #expect(
      errors("logging: { file: '${NOPE' }")
        == ["c.yaml:1:18: logging.file: expected ${NAME}, got a '${' without a name and '}'"])
  }

  @Test("a list item out of the environment: hidden when it is wrong")
  func environmentInList() {
    let found = errors("camera: { resolution: ['${SECRET}', 480] }", environment: ["SECRET": "hunter2"])
    #expect(found.count == 1 && !found[0].contains("hunter2"))
  }

  @Test("a password in brackets, a list to YAML: refused without its text")
  func bracketed() {
    #expect(
      errors("service:\n  jwt_key: [sesame]\n") == ["c.yaml:2:12: service.jwt_key: expected text, got a list"])
  }

  @Test("not YAML: its place, in words of people")
  func notYAML() {
    let found = [
      "motors:\n\tspeed_limit: 3\n", "motors: { backend: sim\nlogging: { level: INFO }\n", "motors:\n  backend: @sim\n",
      "motors:\n  backend: a: b\n", "motors:\n  backend\n  i2c_bus: 1\n", "logging: { file: 'open\n", "store: *x\n",
      "logging: { file: \"\\q\" }\n", "store: \u{1}\n", "motors: [\n",
    ].map { errors($0).first ?? "" }
    #expect(
      found == [
        "c.yaml:2:1: expected spaces, got a tab (YAML indents with spaces only)",
        "c.yaml:1:9: expected ',' or '}' in the list or mapping that begins here, got ':' in line 2",
        "c.yaml:2:12: expected a value, got '@', with which none begins: put the value between quotes",
        "c.yaml:2:13: expected the end of the value, got ':': put a value that has one between quotes, or see whether the "
          + "indentation is that of the lines above",
        "c.yaml:3:10: expected the end of the value, got ':': put a value that has one between quotes, or see whether the "
          + "indentation is that of the lines above",
        "c.yaml:1:18: expected a quote that ends the text which begins here, got the end of the file",
        "c.yaml:1:8: expected a value, got '*' and a name that nothing has: put the value between quotes",
        "c.yaml:1:19: expected \\n, \\t, \\\" or another escape between double quotes, got an unknown one: single quotes take it "
          + "as it is",
        "c.yaml:1:8: expected text, got a control character",
        "c.yaml:2:1: expected a value, got the end of the file",
      ])
  }

  @Test("more than a file may hold, however few characters stand for it: refused in words, with the place")
  func tooMuch() {
    func many(_ count: Int, _ line: (Int) -> String) -> String { (0..<count).map(line).joined() }
    let words = "abcdefghi".map(String.init)
    // Each a list of nine of the one before: 9 to the power of 9.
    let bomb = zip(words, [""] + words).map { name, before in
      "\(name): &\(name) [" + Array(repeating: before.isEmpty ? "x" : "*\(before)", count: 9).joined(separator: ",")
        + "]\n"
    }.joined()
    let levels = "expected at most 32 levels of mappings and lists within each other, got more"
    for (text, found) in [
      (many(800_000) { "key\($0): \($0)\n" }, "c.yaml: expected at most 128 KB, got more"),
      ("sprinkler:\n" + many(501) { "  k\($0): 1\n" }, "c.yaml:2:3: expected at most 500 keys here, got 501"),
      ("sprinkler:\n  pins: [" + many(10_000) { "\($0)," } + "]\n", "expected at most 10000 keys and values, got more"),
      (bomb, "expected at most 10000 keys and values, got more"),
      (String(repeating: "[", count: 5_000), levels), (String(repeating: "- ", count: 5_000) + "1\n", levels),
      ("motors: " + String(repeating: "{a: ", count: 40) + "1" + String(repeating: "}", count: 40) + "\n", levels),
      (many(300) { String(repeating: " ", count: $0) + "a:\n" }, levels),
    ] {
      let errors = errors(text)
      #expect(errors.count == 1 && errors[0].hasPrefix("c.yaml:") && errors[0].contains(found), "\(errors.prefix(3))")
    }
    // One key a thousand times: each is told that can be told, and it ends.
    #expect((1...30).contains(errors("motors:\n" + many(1_000) { _ in "  i2c_bus: 1\n" }).count))
  }

  @Test("thousands of errors in a file of any size: the first 500 are told, and that there are more")
  func thousands() throws {
    let legs = (0..<16).map { _ in
      "- name: a\n" + (0..<200).map { "  chanel\($0): 1\n" }.joined()
    }
    let errors = errors("legs:\n" + legs.joined())
    try #require(errors.count == 501)
    #expect(errors[0].hasPrefix("c.yaml:3:3: legs[0].chanel0: expected a known key"))
    #expect(errors[500] == "c.yaml:505:3: expected fewer errors: these are the first 500, more begin here")
  }

  @Test("a file that is too long: refused by its size; what never ends is no file, and is not read at all")
  func endless() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("long.yaml")
    try Data(repeating: 0x20, count: 128 * 1024 + 1).write(to: URL(fileURLWithPath: path))
    let long = #expect(throws: ConfigErrors.self) { try YAMLFile(path: path) }
    #expect(long.map { "\($0)" } == "\(path): expected at most 128 KB, got more")
    let endless = #expect(throws: ConfigErrors.self) { try YAMLFile(path: "/dev/zero") }
    #expect(endless.map { "\($0)" } == "/dev/zero: cannot be read: is not a file but a device")
  }

  @Test("a quote or a bracket that is not closed: told where it opens, however far below the parser notices it")
  func unclosed() {
    let below = "  speed_limit: 3\nlogging:\n  level: INFO\n"
    let quoted = "expected a quote that ends the text which begins here, got the end of the file"
    #expect(errors("motors:\n  backend: \"sim\n" + below) == ["c.yaml:2:12: " + quoted])
    #expect(errors("motors:\n  backend: 'sim\n" + below) == ["c.yaml:2:12: " + quoted])
    #expect(
      errors("sprinkler:\n  pins: [5, 6\n  backend: sim\nleg: { backend: simm }\n") == [
        "c.yaml:2:9: expected ',' or ']' in the list or mapping that begins here, got ':' in line 3",
        "c.yaml:4:17: leg.backend: expected one of pca9685, sim (sim?), got simm",
      ])
  }

  @Test("a word that is none of the choices: the one that may have been meant, for every key that has choices")
  func choices() {
    var tried = 0
    for key in ConfigTable.keys where !key.path.contains("[") {
      guard case .choice(let words) = key.kind,
        let word = words.first(where: { $0.count > 3 && $0.contains(where: \.isLetter) }), words.count > 1
      else { continue }
      let text = String(word.dropLast())
      let error = key.kind.expectation(insteadOf: text)
      #expect(error.hasSuffix(" (\(word)?)") || words.contains(text), "\(key.path): \(error)")
      tried += 1
    }
    #expect(tried > 10)
    #expect(
      errors("motors: { backend: simm }")
        == ["c.yaml:1:20: motors.backend: expected one of yb-pcb-car, raspbot-v2, xgo-rider, sim (sim?), got simm"])
    #expect(errors("motors: { backend: zzzzzzz }").first?.contains("?") == false)
  }

  @Test("a key twice, or three times: each but the first, with the line of the first, and what else is wrong")
  func doubled() {
    #expect(
      errors("motors:\n  i2c_bus: 1\n  i2c_bus: 2\nlogging:\n  levl: INFO\nmotors: {}\n  # end\n") == [
        "c.yaml:3:3: motors.i2c_bus: expected each key once, got it again: line 2 has it first",
        "c.yaml:5:3: logging.levl: expected a known key (level?), got levl",
        "c.yaml:6:1: motors: expected each key once, got it again: line 1 has it first",
      ])
    #expect(
      errors("store: { \"folder\": a, 'folder': b, folder: c }\n") == [
        "c.yaml:1:23: store.folder: expected each key once, got it again: line 1 has it first",
        "c.yaml:1:36: store.folder: expected each key once, got it again: line 1 has it first",
      ])
  }

  @Test("many equal keys: refused after two readings of the text; a file of an ordinary length has twenty")
  func manyDoubled() {
    let many = "motors:\n" + String(repeating: "  i2c_bus: 1\n", count: 4_000)
    #expect(RecoverableText(many).most == 2)
    let found = errors(many)
    #expect(found.count == 1 && found[0].hasSuffix("i2c_bus: expected each key once, got it twice"), "\(found)")
    let ordinary = String(repeating: "# a: b, c: d\n", count: 5_000) + String(repeating: "a:\n", count: 400)
    #expect(RecoverableText(ordinary).most == 20)
  }

  @Test("errors of every kind in one file: all are told that can be known, none that may go with another")
  func everyKind() {
    let text = """
      network:
        rtsp_port: 99999
        rtsp_port: 8554
      motors:
      \tbackend: sim
      leg:
        i2c_address: 0x40
        battery: { sensor: ads1115, i2c_address: 0x40 }
      logging:
        levl: INFO
      service: { auth: none, allowed_origins: [panel] }
      """
    #expect(
      errors(text) == [
        "c.yaml:2:14: network.rtsp_port: expected an integer 0…65535, got 99999",
        "c.yaml:3:3: network.rtsp_port: expected each key once, got it again: line 2 has it first",
        "c.yaml:5:1: expected spaces, got a tab (YAML indents with spaces only)",
        "c.yaml:8:44: leg.battery.i2c_address: expected an integer 72…75, got 0x40",
        "c.yaml:10:3: logging.levl: expected a known key (level?), got levl",
        "c.yaml:11:41: service.allowed_origins: expected https://NAME or http://NAME:PORT, got panel",
      ])
    // What is wrong between keys is told beside what is wrong with others.
    let found = errors("motors: { min_duty: 90, max_duty: 10 }\nlogging: { levl: INFO }\n")
    #expect(found.count == 2 && found[0].contains("motors.min_duty: expected at most motors.max_duty (10), got 90"))
    // …but not what may come of a value that could not be read.
    #expect(errors("motors: { min_duty: 90, max_duty: ten }\n").count == 1)
  }

  @Test("the reference with lines missing, doubled, cut and out of place: errors or none, never the end of the program")
  func mutated() {
    var random = SplitMix64(seed: 26)
    let lines = ConfigReference.text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // Everything that is commented out is given.
      String(
        line.hasPrefix("#") && line.contains(":") ? line.dropFirst().drop { $0 == " " && !line.hasPrefix("#  ") } : line
      )
    }
    for _ in 0..<100 {
      var some = lines
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let index = Int.random(in: 0..<some.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: some.remove(at: index)
        case 1: some.insert(some[index], at: index)
        case 2: some[index] = String(some[index].prefix(Int.random(in: 0...some[index].count, using: &random)))
        case 3: some[index] = " \t[]{}'\"&*@%:-".randomElement(using: &random).map { String($0) + some[index] } ?? ""
        default: some.swapAt(index, Int.random(in: 0..<some.count, using: &random))
        }
      }
      for error in errors(some.joined(separator: "\n")) { #expect(error.hasPrefix("c.yaml"), "\(error)") }
    }
  }

  @Test("a key with nothing behind it: an error")
  func nothing() {
    #expect(
      errors("motors:\n  i2c_bus:\n")
        == ["c.yaml:2:11: motors.i2c_bus: expected an integer 0…255, got nothing"])
  }

  @Test("keys that contradict each other: an error at the key")
  func together() {
    #expect(
      errors("motors: { min_duty: 200, max_duty: 100 }")
        == ["c.yaml:1:21: motors.min_duty: expected at most motors.max_duty (100), got 200"])
    #expect(
      errors("runtime: { robot: { scheduling: deadline, rate_hz: 200, budget_us: 5000 } }\nmotors:\n")
        == ["c.yaml:1:68: runtime.robot.budget_us: expected less than the period of 5000 µs, got 5000"])
  }

  @Test(
    "two keys that contradict each other, of which the file gives one: that one is blamed, and the other's default told",
    arguments: [
      ("motors: { max_duty: 20, min_duty: 30 }", "motors.min_duty: expected at most motors.max_duty (20), got 30"),
      (
        "runtime: { robot: { scheduling: deadline, rate_hz: 1000 } }\nmotors:\n",
        "runtime.robot.rate_hz: expected at most 499 with runtime.robot.budget_us (2000 µs unless given), got 1000"
      ),
      (
        "legs: [{ min_us: 2500 }]",
        "legs[0].min_us: expected at least 10 less than legs[0].max_us (2500 unless given), got 2500"
      ),
      (
        "legs: [{ max_us: 500 }]",
        "legs[0].max_us: expected at least 10 more than legs[0].min_us (500 unless given), got 500"
      ),
      (
        "plants: { read_period_s: 3000 }",
        "plants.read_period_s: expected at most half of plants.stale_after_s (120 unless given), got 3000"
      ),
      (
        "plants: { wet_percent: 10 }",
        "plants.wet_percent: expected more than plants.dry_percent (20.0 unless given), got 10.0"
      ),
      (
        "network: { motor_udp_port: 5010 }\nmotors:\nleg:\n",
        "network.motor_udp_port: expected one owner of UDP port 5010, got two: line 1: network.leg_udp_port (by default) has it"
      ),
      ("sprinkler: { longitude: 4 }", "sprinkler.longitude: expected sprinkler.latitude with it, got none"),
      (
        "mqtt: { tls: true, tls_certificate: /c }\nmotors:\n",
        "mqtt.tls_certificate: expected mqtt.tls_key with it, got none"
      ),
      (
        "sprinkler: { zones: [{ pin: 16 }, {}] }",
        "sprinkler.zones[1].pin: expected a pin of its own, got 16 by its place, which line 1: sprinkler.zones[0].pin has"
      ),
    ])
  func oneGiven(text: String, expected: String) {
    let found = errors(text)
    #expect(found.count == 1 && found[0].hasSuffix(": " + expected), "\(found)")
  }

  @Test("what is wrong with one key alone is told beside any other error of its section")
  func besideOthers() {
    let found = errors("sprinkler: { time_zone: Europe/Berlim, bogus: 1, latitude: 50 }")
    #expect(found.count == 2 && found[0].contains("time_zone: expected an IANA time zone (Europe/Berlin?)"), "\(found)")
    #expect(errors("plants: { app: { host_name: 'a:b', bogus: 1 } }").count == 2)
    #expect(errors("camera: { resolution: [641, 480], bogus: 1 }").count == 2)
  }

  @Test("the e-stop: cannot be switched off")
  func emergencyStop() {
    #expect(
      errors("safety: { emergency_stop_enabled: false }")
        == ["c.yaml:1:35: safety.emergency_stop_enabled: expected true (it cannot be switched off), got false"])
  }

  @Test(
    "integers: as YAML 1.1 writes them, nothing else",
    arguments: [
      ("12", 12), ("0x16", 22), ("0X2b", 43), ("-3", -3), ("+3", 3), ("2_000_000", 2_000_000), ("0b11", 3),
      ("0o17", 15),
      ("", nil), ("0x", nil), ("1.0", nil), ("_1", nil), ("1_", nil), ("--1", nil), ("0x-1", nil), ("1e3", nil),
      ("99999999999999999999", nil),
    ] as [(String, Int?)])
  func integers(text: String, expected: Int?) {
    #expect(ScalarReader.integer(text) == expected)
  }

  @Test("numbers: finite decimals only", arguments: ["nan", "inf", "-inf", "0x1p3", "1e999", "", "1,5", "."])
  func badNumbers(text: String) {
    #expect(ScalarReader.number(text) == nil)
  }
}
