import BusesLinux
import DaemonSupport
import Foundation
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

/// The whole program with an xgo-rider on a pseudo-terminal, and what the robot hears when the program meets its end.
///
/// Nothing here sleeps: every step waits for bytes on the terminal, or for a line of the log, with a limit. Every test ends
/// with the guard gone: one left alone tries its device again until it can write, and /dev/pts/7 is then another test's. Limits that a loaded
/// machine would exceed are long: of the guard, and of missed releases.
@Suite("daemon and guard", .serialized, .ownThread)
struct DaemonProcessTests {
  static let neutral = GuardProcessTests.neutral

  private let terminal: LinuxPTY
  private let daemon: TactusProcess
  private let folder: TemporaryFolder
  private var heard: [UInt8] = []

  init() throws {
    terminal = try LinuxPTY()
    folder = try TemporaryFolder()
    let config = try folder.write(
      """
      network: { motor_udp_port: 0, http_port: 0 }
      motors: { backend: xgo-rider, serial_device: \(terminal.path), acceleration: 0 }
      safety: { watchdog_timeout: 10 }
      runtime: { robot: { safe_state_after: 1000 } }
      """, to: "config.yaml")
    daemon = try TactusProcess(["run", "--config", config])
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
  }

  /// A number of the log line that says `started`.
  private func started(_ key: String) throws -> String {
    let line = try #require(daemon.line(with: #""msg":"started""#), "\(daemon.said)")
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    return "\(try #require(object?[key]))"
  }

  /// Sends a command and waits until the robot has heard a frame that is not neutral. On a loaded machine the command may be too old when it is
  /// read: once a second it is sent again.
  private mutating func driveOff() throws {
    let port = try #require(UInt16(try started("listen").split(separator: ":").last ?? ""))
    let until = MonotonicClock.now + .seconds(60)
    var due = MonotonicClock.now
    while !heard.contains(Self.forward) {
      let now = MonotonicClock.now
      try #require(now < until, "no motion: \(heard.suffix(64))")
      if now >= due {
        send(#"{"left": 40, "right": 40}"#, port: port)
        due = now + .seconds(1)
      }
      heard += readWhenReady(terminal.descriptor, limit: 1_000) ?? []
    }
    heard = []
  }

  /// VX at 40 % of 1.5 m/s is 178.
  private static let forward: [UInt8] = [0x55, 0x00, 0x09, 0x01, 0x30, 178]

  private mutating func readUntil(_ condition: ([UInt8]) -> Bool) -> Bool {
    while !condition(heard) {
      guard let bytes = readWhenReady(terminal.descriptor) else { return false }
      heard += bytes
    }
    return true
  }

  /// Both neutral frames come, and no motion after them.
  private mutating func expectStop(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(readUntil { $0.contains(Self.neutral) }, "heard \(heard)", sourceLocation: sourceLocation)
  }

  private func send(_ text: String, port: UInt16) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let sent = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(socket, text, text.utf8.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(sent == text.utf8.count)
  }

  @Test("driving, kill -9: the guard writes both neutral frames")
  mutating func killed() throws {
    try driveOff()
    kill(daemon.identifier, SIGKILL)
    expectStop()
    #expect(daemon.waitFor("the daemon is gone: every actuator was sent its safe state"))
    #expect(daemon.finish() == nil)
  }

  @Test("driving, SIGSTOP: the guard writes both neutral frames after the time-out; SIGCONT: its heartbeat is back")
  mutating func stopped() throws {
    try driveOff()
    kill(daemon.identifier, SIGSTOP)
    expectStop()
    #expect(daemon.waitFor("the daemon's heartbeat has lapsed: every actuator was sent its safe state"))
    kill(daemon.identifier, SIGCONT)
    #expect(daemon.waitFor("the daemon's heartbeat is back"))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  @Test(
    "driving, SIGTERM or SIGINT: the motors stop, the guard ends without a word, status 0",
    arguments: [SIGTERM, SIGINT])
  mutating func terminated(signal: Int32) throws {
    try driveOff()
    kill(daemon.identifier, signal)
    expectStop()
    #expect(daemon.finish() == 0)
    #expect(daemon.said.contains(#""msg":"stopped""#))
    #expect(!daemon.said.contains(#""label":"guard""#))
  }

  @Test("driving, the sender falls silent: both neutral frames after the command time-out, the program goes on")
  mutating func silence() throws {
    try driveOff()
    expectStop()
    #expect(daemon.waitFor("the controlling source went silent"))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  /// What the health document says of it.
  private func expectGuard(replacements: Int) throws {
    let line = try #require(daemon.line(with: "serving http"), "\(daemon.said)")
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let health = try ask("/api/health", of: try #require(object?["listen"] as? String))
    let told = try #require(health["guard"] as? [String: Any])
    #expect(told["state"] as? String == "watching" && told["replacements"] as? Int == replacements)
  }

  @Test("the guard is killed: another takes over, and does its duty")
  mutating func guardKilled() throws {
    try expectGuard(replacements: 0)
    let first = try #require(pid_t(try started("guard")))
    kill(first, SIGKILL)
    #expect(daemon.waitFor("another guard is watching"))
    try expectGuard(replacements: 1)
    try driveOff()
    kill(daemon.identifier, SIGKILL)
    expectStop()
    #expect(daemon.waitFor("the daemon is gone"))
    #expect(daemon.finish() == nil)
  }

  @Test("the guard hangs: it is killed, another takes over, and does its duty")
  mutating func guardHangs() throws {
    let first = try #require(pid_t(try started("guard")))
    kill(first, SIGSTOP)
    #expect(daemon.waitFor("the guard process does not answer"))
    #expect(daemon.waitFor("another guard is watching"))
    try expectGuard(replacements: 1)
    try driveOff()
    kill(daemon.identifier, SIGKILL)
    expectStop()
    #expect(daemon.waitFor("the daemon is gone"))
    #expect(daemon.finish() == nil)
  }

  @Test("Ctrl-C at a terminal reaches the whole process group: the guard is not in it")
  func guardSession() throws {
    let guardProcess = try #require(pid_t(try started("guard")))
    #expect(getsid(guardProcess) == guardProcess)
    #expect(getpgid(guardProcess) != getpgid(daemon.identifier))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  @Test("HTTP port taken: the start ends with status 1 and says which, before anything was written to the motors")
  func busyPort() throws {
    let line = try #require(daemon.line(with: "serving http"), "\(daemon.said)")
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let endpoint = try #require(object?["listen"] as? String)
    let port = try #require(endpoint.split(separator: ":").last)
    let terminal = try LinuxPTY()
    let config = try folder.write(
      """
      network: { motor_udp_port: 0, http_port: \(port) }
      motors: { backend: xgo-rider, serial_device: \(terminal.path), acceleration: 0 }
      """, to: "second.yaml")
    let second = try TactusProcess(["run", "--config", config])
    #expect(second.finish() == 1)
    #expect(second.said.contains("network.http_port: TCP port \(port) is taken by "), "\(second.said)")
    #expect(readWhenReady(terminal.descriptor, limit: 0) == nil)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }
}

@Suite("program", .ownThread)
struct ProgramTests {
  @Test(
    "exit status: 0 done, 64 bad usage, 78 bad configuration, 1 anything else",
    arguments: [
      (["--version"], 0), (["--help"], 0), (["run", "--help"], 0), (["drive", "--help"], 0), (["nonsense"], 64),
      (["run"], 64), (["check"], 64), (["drive", "localhost", "--left", "3"], 64),
      (["drive", "localhost", "--left", "300", "--for", "1s"], 64),
      (["check", "/nonexistent.yaml"], 78), (["run", "--config", "/nonexistent.yaml"], 78),
      (["drive", "127.0.0.1", "--port", "9", "--left", "0", "--for", "1ms"], 1),
    ] as [([String], Int32)])
  func exitStatus(arguments: [String], expected: Int32) throws {
    let program = try TactusProcess(arguments)
    #expect(program.finish() == expected, "\(program.said)")
  }

  @Test("a device that is not there: status 1, with the reason and what to do")
  func noDevice() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let config = try folder.write(
      "network: { motor_udp_port: 0, http_port: 0 }\nmotors: { i2c_bus: 250 }", to: "config.yaml")
    let program = try TactusProcess(["run", "--config", config])
    #expect(program.finish() == 1)
    #expect(program.said.contains("/dev/i2c-250"))
    #expect(program.said.contains(#""level":"critical""#))
  }

  @Test("guard --once: writes the safe state of a configuration and ends")
  func guardOnce() throws {
    let terminal = try LinuxPTY()
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let config = try folder.write(
      "network: { motor_udp_port: 0, http_port: 0 }\nmotors: { backend: xgo-rider, serial_device: \(terminal.path) }",
      to: "config.yaml")
    let program = try TactusProcess(["guard", "--once", "--config", config])
    #expect(program.finish() == 0)
    #expect(readWhenReady(terminal.descriptor)?.starts(with: GuardProcessTests.neutral) == true)
  }

  @Test("NOTIFY_SOCKET: told when ready, fed while the loop advances, told when stopping")
  func serviceManager() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("notify")
    let descriptor = try boundSocket(path)
    defer { close(descriptor) }
    let config = try folder.write(
      "network: { motor_udp_port: 0, http_port: 0 }\nmotors: { backend: sim }", to: "config.yaml")
    let program = try TactusProcess(["run", "--config", config], environment: ["NOTIFY_SOCKET": path])
    func next() -> String { readWhenReady(descriptor).map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
    #expect(next().hasPrefix("READY=1\nSTATUS=runs robot; listens on http://127.0.0.1:"))
    #expect(next() == "WATCHDOG=1\n")
    #expect(next() == "WATCHDOG=1\n")
    kill(program.identifier, SIGTERM)
    var last = next()
    while last == "WATCHDOG=1\n" { last = next() }
    #expect(last == "STOPPING=1\n")
    #expect(program.finish() == 0)
  }
}
