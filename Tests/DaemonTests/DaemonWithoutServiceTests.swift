import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

/// The whole program with `service.enabled: false`: what its loops tell has no subscriber then, but a log.
@Suite("daemon without the service", .ownThread)
struct DaemonWithoutServiceTests {
  @Test("service off: every change that a loop tells of is logged all the same, a leg's and a robot's")
  func logged() throws {
    let folder = try TemporaryFolder()
    let config = try folder.write(
      """
      network: { motor_udp_port: 0, leg_udp_port: 0 }
      service: { enabled: false }
      motors: { backend: sim }
      leg: { backend: sim, deadman_ms: 5000 }
      runtime: { robot: { safe_state_after: 1000 }, leg: { safe_state_after: 1000 } }
      """, to: "config.yaml")
    let daemon = try TactusProcess(["run", "--config", config])
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
    let started = try #require(daemon.line(with: #""msg":"started""#))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(started.utf8)) as? [String: Any])
    let leg = try port(of: object["leg_listen"] as? String)
    for frame in [[1, 1, 0, 0], [1, 3, 2, 0, 0xDC, 5]] as [[UInt8]] { send(frame, port: leg) }
    #expect(daemon.waitFor("armed, pulse 1500 µs"), "\(daemon.said)")
    #expect(daemon.waitFor("fault: no command within the deadman's time-out"), "\(daemon.said)")
    // On a loaded machine a command may be too old when it is read: it is sent again until it is obeyed.
    let robot = try port(of: object["robot_listen"] as? String)
    var tries = 0
    repeat {
      send(Array(#"{"left": 30, "right": 30}"#.utf8), port: robot)
      tries += 1
    } while !daemon.waitFor(#""state":"driving"#, limit: 1_000) && tries < 60
    #expect(daemon.said.contains(#""state":"driving"#), "\(daemon.said)")
    #expect(daemon.waitFor(#""state":"stopped"#), "\(daemon.said)")
    #expect(!daemon.said.contains("serving http"))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }

  private func port(of endpoint: String?) throws -> UInt16 {
    try #require(endpoint?.split(separator: ":").last.flatMap { UInt16($0) })
  }

  private func send(_ bytes: [UInt8], port: UInt16) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let sent = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(sent == bytes.count)
  }
}
