import Buses
import BusesLinux
import DaemonSupport
import Foundation
import Robot
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot
@testable import RobotDaemon
@testable import TactusDaemon

@Suite("keys", .ownThread)
struct KeyTests {
  private func keys(_ bytes: String) -> [DriveKey] {
    var decoder = TerminalKeyDecoder()
    return decoder.keys(bytes.utf8).compactMap(DriveKey.init)
  }

  @Test("arrows and WASD: the four directions, whichever mode the terminal is in")
  func directions() {
    #expect(keys("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D") == [.forward, .back, .right, .left])
    #expect(keys("\u{1B}OA\u{1B}OB\u{1B}OC\u{1B}OD") == [.forward, .back, .right, .left])
    #expect(keys("wsadWSAD") == [.forward, .back, .left, .right, .forward, .back, .left, .right])
  }

  @Test("an arrow with a modifier, another sequence: the direction, or nothing")
  func modified() {
    #expect(keys("\u{1B}[1;5A") == [.forward])
    #expect(keys("\u{1B}[3~w") == [.forward])
    #expect(keys("\u{1B}\u{1B}[A") == [.forward])
  }

  @Test("space, r, q, Ctrl-C, digits, Enter")
  func others() {
    #expect(keys(" rq\u{3}\u{4}\r") == [.emergencyStop, .reset, .quit, .quit, .quit, .rest])
    #expect(keys("190") == [.speed(tenths: 1), .speed(tenths: 9), .speed(tenths: 10)])
    #expect(keys("zé\u{7F}") == [])
  }
}

@Suite("key stick", .ownThread)
struct KeyStickTests {
  private func at(_ milliseconds: Int64) -> TickInstant { .zero + .milliseconds(milliseconds) }

  @Test("one press: lapses after 700 ms")
  func onePress() {
    var stick = KeyStick()
    stick.press(.forward, at: at(0))
    stick.lapse(at: at(699))
    #expect(stick.input == .joystick(x: 0, y: 0.5))
    stick.lapse(at: at(700))
    #expect(stick.input == .rest)
  }

  @Test("a held key: lapses 250 ms after its last repeat")
  func heldKey() {
    var stick = KeyStick()
    for time in stride(from: Int64(0), through: 3000, by: 500) { stick.press(.forward, at: at(time)) }
    for time in stride(from: Int64(3040), through: 4000, by: 40) { stick.press(.forward, at: at(time)) }
    stick.lapse(at: at(4000 + 249))
    #expect(stick.input == .joystick(x: 0, y: 0.5))
    stick.lapse(at: at(4000 + 250))
    #expect(stick.input == .rest)
  }

  @Test("forward held, then left: a curve; all keys released: rest")
  func curve() {
    var stick = KeyStick()
    stick.press(.forward, at: at(0))
    stick.press(.speed(tenths: 10), at: at(10))
    for time in stride(from: Int64(500), through: 2000, by: 50) { stick.press(.left, at: at(time)) }
    #expect(stick.input == .joystick(x: -0.4, y: 1))
    stick.lapse(at: at(2700))
    #expect(stick.input == .rest)
  }

  @Test("the opposite direction: replaces at once; e-stop and rest: let go")
  func opposite() {
    var stick = KeyStick()
    stick.press(.forward, at: at(0))
    stick.press(.back, at: at(10))
    #expect(stick.input == .joystick(x: 0, y: -0.5))
    stick.press(.emergencyStop, at: at(20))
    #expect(stick.input == .rest)
  }

  @Test("off, as while nobody answers: what was held is let go, no direction is taken, and none comes back by itself")
  func off() {
    var stick = KeyStick()
    stick.press(.forward, at: at(0))
    stick.isOff = true
    #expect(stick.input == .rest)
    for key in [DriveKey.forward, .back, .left, .right] { stick.press(key, at: at(10)) }
    #expect(stick.input == .rest)
    stick.isOff = false
    #expect(stick.input == .rest)
    stick.press(.forward, at: at(20))
    #expect(stick.input == .joystick(x: 0, y: 0.5))
  }
}

@Suite("drive: what it shows")
struct DriveScreenTests {
  private func lines(
    _ state: OperatorState, _ connection: Connection, robot: RobotReply.State = .driving
  ) -> [String] {
    var shown = OperatorSnapshot()
    let speeds = WheelSpeeds(left: Percent(60), right: Percent(60))
    let reply = RobotReply(echo: 1, state: robot, speeds: speeds, age: .milliseconds(12))
    shown.heard = HeardReply(reply: reply, at: .zero, roundTrip: .milliseconds(2))
    (shown.state, shown.connection) = (state, connection)
    return DriveScreen.lines(shown, tenths: 5)
  }

  @Test("a robot that answers: its state is of now; one that has fallen silent: how long ago, and the stick is off")
  func age() {
    let alive = lines(.driving, .alive(roundTrip: .milliseconds(2)))
    #expect(alive[1].hasPrefix("robot   left  +60.0%") && alive[1].contains("driving"))
    #expect(!alive[0].contains("off"))
    let lost = lines(.driving, .lost(silence: .milliseconds(3_400)))
    #expect(lost[1].hasPrefix("robot   3 s AGO: left  +60.0%"), "\(lost[1])")
    #expect(lost[0].hasSuffix("off until the robot answers") && lost[2].contains("LOST for 3 s"))
  }

  @Test("e-stop: confirmed only while the robot answers that it stands in one")
  func emergencyStop() {
    let alive = Connection.alive(roundTrip: .milliseconds(2))
    #expect(lines(.emergencyStopped, alive)[0].hasSuffix("E-STOP sent, NOT CONFIRMED"))
    #expect(lines(.emergencyStopped, alive, robot: .emergencyStop)[0].contains("E-STOP confirmed"))
    for connection in [Connection.lost(silence: .seconds(2)), .noReplyYet] {
      #expect(lines(.emergencyStopped, connection, robot: .emergencyStop)[0].hasSuffix("NOT CONFIRMED"))
    }
  }
}

@Suite("command line values", .ownThread)
struct CommandLineValueTests {
  @Test(
    "time spans", arguments: [("2s", 2_000), ("1.5s", 1_500), ("500ms", 500), ("2m", 120_000), ("3", 3_000)])
  func spans(text: String, milliseconds: Int64) {
    #expect(TimeSpan(argument: text)?.nanoseconds == .milliseconds(milliseconds))
  }

  @Test("anything else: refused", arguments: ["", "s", "-1s", "0", "2 s", "1d", "inf", "nan", "25h"])
  func badSpans(text: String) {
    #expect(TimeSpan(argument: text) == nil)
  }

  @Test("numeric hosts: their endpoint")
  func hosts() throws {
    #expect(try HostName.resolve("192.168.1.20", port: 5005) == .ipv4(192, 168, 1, 20, port: 5005))
    #expect(try HostName.resolve("::1", port: 7) == Endpoint(high: 0, low: 1, port: 7))
    #expect(throws: HostName.Failure.self) { try HostName.resolve("no.such.host.invalid", port: 1) }
  }

  @Test(
    "where a daemon listens: whether that is every network, and where this machine reaches it",
    arguments: [
      ("0.0.0.0", true, "127.0.0.1", "AF_INET"), ("::", true, "::1", "AF_INET6"),
      ("127.0.0.1", false, "127.0.0.1", "AF_INET"), ("::1", false, "0:0:0:0:0:0:0:1", "AF_INET6"),
      ("10.0.0.7", false, "10.0.0.7", "AF_INET"), ("1.0.0.0", false, "1.0.0.0", "AF_INET"),
    ])
  func reachable(address: String, isEverywhere: Bool, host: String, family: String) throws {
    let endpoint = ReachableEndpoint(try HostName.resolve(address, port: 5005))
    #expect((endpoint.isEverywhere, endpoint.host, endpoint.family) == (isEverywhere, host, family))
  }
}

/// `tactus drive` in a terminal, against `tactus run` on a simulated robot.
@Suite("what who drives is shown on a narrow terminal", .ownThread)
struct NarrowDriveScreenTests {
  @Test("a terminal of 40 columns: state, cause and age are all there, and drawn over when there are fewer lines")
  func narrow() {
    var screen = DriveScreen()
    let long = screen.frame(
      [
        "stick   left  +30.0%  right  +30.0%   at 50 %   E-STOP sent until you reset (r)",
        "robot   left   +0.0%  right   +0.0%   E-STOP: an operator   command 12 ms old",
        "link    alive   round trip 1.23 ms   12345 sent, 12345 answered",
      ], width: 40)
    let rows = long.replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "").replacing("\r\n", with: "\n")
      .replacing("\r", with: "").split(separator: "\n").map(String.init)
    #expect(rows.allSatisfy { $0.count < 40 }, "\(rows)")
    for words in ["E-STOP sent until you reset (r)", "E-STOP: an operator", "command 12 ms old", "12345 answered"] {
      #expect(rows.contains { $0.contains(words) }, "\(words) in \(rows)")
    }
    let short = screen.frame(["stick", "robot", "link"], width: 40)
    #expect(short.hasPrefix("\r\u{1B}[\(rows.count - 1)A") && short.hasSuffix("\u{1B}[J"))
  }
}

@Suite("drive in a terminal", .serialized, .ownThread)
struct TerminalDriveTests {
  private let folder: TemporaryFolder
  private let robot: TactusProcess
  private let port: String
  private let terminal: LinuxPTY
  private let near: Int32
  private let before: termios

  init() throws {
    folder = try TemporaryFolder()
    // Limits that a loaded machine would exceed are long: of silence, and of missed releases.
    let config = try folder.write(
      """
      network: { motor_udp_port: 0, http_port: 0 }
      motors: { backend: sim, command_timeout: 3 }
      runtime: { robot: { safe_state_after: 1000 } }
      """, to: "config.yaml")
    robot = try TactusProcess(["run", "--config", config])
    try #require(robot.waitFor("Ctrl-C stops"))
    port = try #require(robot.said.firstMatch(of: /UDP 127\.0\.0\.1:(\d+)/).map { String($0.output.1) })
    terminal = try LinuxPTY()
    near = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var settings = try terminalSettings(near)
    settings.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    try #require(tcsetattr(near, TCSANOW, &settings) == 0)
    before = settings
  }

  private func drive() throws -> TactusProcess {
    try TactusProcess(
      ["drive", "127.0.0.1", "--port", port], terminal: FileHandle(fileDescriptor: near, closeOnDealloc: false))
  }

  private func type(_ keys: String) { _ = write(terminal.descriptor, keys, keys.utf8.count) }

  /// Reads the screen until it shows `text`.
  private func see(_ text: String) -> Bool {
    var seen = ""
    while !seen.contains(text) {
      guard let bytes = readWhenReady(terminal.descriptor), !bytes.isEmpty else { return false }
      seen += String(decoding: bytes, as: UTF8.self)
    }
    return true
  }

  /// Presses forward until the robot drives: a key that is not held is let go after 700 ms, which a loaded machine may take to show what it did.
  private func driveOff() -> Bool {
    var seen = ""
    let until = MonotonicClock.now + .seconds(60)
    var due = MonotonicClock.now
    while !seen.contains("driving") {
      let now = MonotonicClock.now
      guard now < until else { return false }
      if now >= due {
        type("w")
        due = now + .milliseconds(500)
      }
      guard let bytes = readWhenReady(terminal.descriptor, limit: 500) else { continue }
      guard !bytes.isEmpty else { return false }
      seen += String(decoding: bytes, as: UTF8.self)
    }
    return true
  }

  private var changes: [String] { get throws { try terminalSettings(near).changes(since: before) } }

  @Test("forward, e-stop, reset, quit: shown as they happen; the terminal is as before")
  func keys() throws {
    let drive = try drive()
    #expect(see("alive"))
    #expect(try changes != [])
    #expect(driveOff())
    type(" ")
    #expect(see("E-STOP"))
    type("q")
    #expect(drive.finish() == 0)
    #expect(try changes == [])
    #expect(robot.waitFor("emergency stop by 127.0.0.1"))
    close(near)
  }

  @Test("the daemon is stopped for a while: what it said last is old, an e-stop is not confirmed until it goes on")
  func silence() throws {
    let drive = try drive()
    #expect(see("alive"))
    #expect(driveOff())
    kill(robot.identifier, SIGSTOP)
    #expect(see("off until the robot answers") && see("AGO: ") && see("LOST for"))
    type("w ")
    #expect(see("E-STOP sent, NOT CONFIRMED"))
    kill(robot.identifier, SIGCONT)
    #expect(see("E-STOP confirmed"))
    type("q")
    #expect(drive.finish() == 0)
    #expect(robot.waitFor("emergency stop by 127.0.0.1"))
    close(near)
  }

  @Test("SIGTERM, SIGINT, SIGHUP: the terminal is as before", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(signal: Int32) throws {
    let drive = try drive()
    #expect(see("alive"))
    #expect(try changes != [])
    kill(drive.identifier, signal)
    #expect(drive.finish() == 0)
    #expect(try changes == [])
    close(near)
  }

  @Test("a script that is refused because another drives, and one that only resets, do not stop that one")
  func refusedScript() throws {
    func drive(_ arguments: [String]) throws -> TactusProcess {
      try TactusProcess(["drive", "127.0.0.1", "--port", port] + arguments)
    }
    let first = try drive(["--left", "20", "--for", "10m"])
    #expect(robot.waitFor("driving"))
    let second = try drive(["--left", "-20", "--for", "2s"])
    let refused = "robot driving: another source controls the robot"
    #expect(second.finish() == 1 && second.said.contains(refused), "\(second.said)")
    // Each says what the robot does after the one before it has gone.
    for _ in 0..<2 {
      let reset = try drive(["--reset"])
      #expect(reset.finish() == 0 && reset.said.contains("robot driving"), "\(reset.said)")
    }
    let stop = try drive(["--left", "0", "--for", "2s"])
    #expect(stop.finish() == 0 && robot.waitFor("stopped: by"), "\(robot.said)")
    kill(first.identifier, SIGINT)
    #expect(first.finish() == 1)
    close(near)
  }

  @Test("a script's e-stop and reset: confirmed by the robot")
  func script() throws {
    // Long enough for an answer on a loaded machine.
    func drive(_ arguments: [String]) throws -> Int32? {
      try TactusProcess(["drive", "127.0.0.1", "--port", port] + arguments).finish()
    }
    #expect(try drive(["--left", "20", "--right", "-20", "--for", "2s"]) == 0)
    #expect(try drive(["--estop"]) == 0)
    #expect(try drive(["--left", "20", "--for", "2s"]) == 1)
    // Refused until the stick has been at rest for three seconds, and tried for five.
    var (isReset, tries) = (false, 0)
    while !isReset, tries < 10 {
      isReset = try drive(["--reset"]) == 0
      tries += 1
    }
    #expect(isReset)
    #expect(try drive(["--left", "20", "--for", "2s"]) == 0)
    close(near)
  }
}
