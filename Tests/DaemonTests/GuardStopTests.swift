import BusesLinux
import DaemonSupport
import Foundation
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

/// What the guard of a real program has stopped stays stopped, over SIGCONT and over a restart: an xgo-rider on a pseudo-terminal.
///
/// Nothing here sleeps: every step waits for bytes on the terminal, or for a line of the log, with a limit. Missed releases are no fault here: that
/// one, which needs a reset, would come first. The guard's time-out is long: a loaded machine is to exceed it only where a test lets it.
@Suite("what the guard stopped", .serialized, .ownThread)
struct GuardStopTests {
  private static let neutral = GuardProcessTests.neutral
  /// VX at 40 % of 1.5 m/s is 178.
  private static let forward: [UInt8] = [0x55, 0x00, 0x09, 0x01, 0x30, 178]

  private let terminal: LinuxPTY
  private let folder: TemporaryFolder
  private let stick: Int32
  private let config: String

  init() throws {
    terminal = try LinuxPTY()
    folder = try TemporaryFolder()
    stick = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    config = try folder.write(
      """
      network: { motor_udp_port: 0, http_port: 0 }
      motors: { backend: xgo-rider, serial_device: \(terminal.path), acceleration: 0 }
      safety: { watchdog_timeout: 10 }
      runtime: { robot: { safe_state_after: 1000 } }
      """, to: "config.yaml")
  }

  private var note: SafeStateNote { SafeStateNote(beside: folder.path("safe-state")) }

  private func start() throws -> TactusProcess {
    let daemon = try TactusProcess(
      ["run", "--config", config], environment: ["RUNTIME_DIRECTORY": folder.path(".")])
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
    return daemon
  }

  private func port(of daemon: TactusProcess) throws -> UInt16 {
    let line = try #require(daemon.line(with: #""msg":"started""#), "\(daemon.said)")
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let listen = try #require(object?["listen"])
    return try #require(UInt16("\(listen)".split(separator: ":").last ?? ""))
  }

  private func send(_ percent: Int, to port: UInt16) {
    let text = #"{"left": \#(percent), "right": \#(percent)}"#
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let sent = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(stick, text, text.utf8.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(sent == text.utf8.count)
  }

  /// Reads the terminal until `condition` holds of all that came since; the bytes.
  private func hear(_ what: String, _ condition: ([UInt8]) -> Bool) throws -> [UInt8] {
    var heard: [UInt8] = []
    while !condition(heard) {
      // The loop writes its stop at every tick: some minutes of them.
      try #require(heard.count < 200_000, "no \(what)")
      let bytes = try #require(readWhenReady(terminal.descriptor), "no \(what): \(heard.suffix(64))")
      heard += bytes
    }
    return heard
  }

  /// Lets the stick go and holds it until the robot moves. On a loaded machine what was sent may be too old when it is read: once a second it is
  /// sent again.
  private func driveOff(_ port: UInt16) throws {
    var due = MonotonicClock.now
    _ = try hear("motion") { heard in
      if heard.contains(Self.forward) { return true }
      if MonotonicClock.now >= due {
        for percent in [0, 40] { send(percent, to: port) }
        due = MonotonicClock.now + .seconds(1)
      }
      return false
    }
  }

  /// A stick that is still held drives nothing; after a zero it does.
  private func holdInVain(_ port: UInt16) throws {
    tcflush(terminal.descriptor, TCIFLUSH)
    send(40, to: port)
    let heard = try hear("stops") { $0.count >= 40 * Self.neutral.count }
    #expect(!heard.contains(Self.forward))
    try driveOff(port)
  }

  @Test("driving, SIGSTOP, SIGCONT: a stick that is held drives no motor; after a zero it drives again")
  func held() throws {
    let daemon = try start()
    let port = try port(of: daemon)
    try driveOff(port)
    kill(daemon.identifier, SIGSTOP)
    #expect(daemon.waitFor("the daemon's heartbeat has lapsed: every actuator was sent its safe state"))
    send(40, to: port)
    kill(daemon.identifier, SIGCONT)
    #expect(daemon.waitFor("the guard wrote the safe state of every actuator: what it stopped stays stopped"))
    #expect(daemon.waitFor("from outside, because the program ended, or it or a loop of it hung"))
    try holdInVain(port)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
    close(stick)
  }

  @Test("kill -9: the guard notes what it wrote and when; the next start says so, an orderly end leaves no note")
  func noted() throws {
    var daemon = try start()
    #expect(note.read() == nil)
    let before = BootClock.now
    try driveOff(try port(of: daemon))
    kill(daemon.identifier, SIGKILL)
    #expect(daemon.waitFor("the daemon is gone: every actuator was sent its safe state"))
    #expect(daemon.finish() == nil)
    let left = try #require(note.read())
    #expect(left.boot == BootClock.boot && before < left.at && left.at < BootClock.now)
    #expect(left.cause.hasPrefix("the daemon is gone") && left.writes.count == 1)
    #expect(left.writes.first?.hasPrefix("serial:115200:5500") == true)
    daemon = try start()
    #expect(daemon.waitFor("the guard turned the actuators off after the last end of this program"))
    // A stick that is still held is no fresh command to the program that was started anew.
    let port = try port(of: daemon)
    try holdInVain(port)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
    #expect(access(note.path, F_OK) != 0)
    close(stick)
  }
}
