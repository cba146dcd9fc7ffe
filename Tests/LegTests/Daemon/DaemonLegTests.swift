import DaemonSupport
import Foundation
import FoundationNetworking
import Service
import TestSupport
import Testing

@testable import TactusDaemon

/// The whole program with simulated legs, driven by datagrams, watched through its log and the simulated bus.
///
/// Nothing here sleeps: every step waits for a line of the log, a datagram or an answer, with a limit. The deadman's time-out is long, and missed
/// releases are no fault: 200 ms, and three releases in a row, are not to be had on every machine that runs these tests.
@Suite("daemon with legs", .serialized)
final class DaemonLegTests {
  private let folder: TemporaryFolder
  private var daemon: TactusProcess
  private let socket: Int32

  init() throws {
    folder = try TemporaryFolder()
    socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    daemon = try Self.start(folder, deadmanMilliseconds: 5_000)
  }

  private static func start(_ folder: TemporaryFolder, deadmanMilliseconds: Int) throws -> TactusProcess {
    let config = try folder.write(
      """
      network: { leg_udp_port: 0, http_port: 0 }
      service: { auth: none }
      leg:
        backend: sim
        output_enable: GPIO22
        deadman_ms: \(deadmanMilliseconds)
        battery: { sensor: ads1115, fault_mv: 6400 }
      legs: [{ name: hip, channel: 2 }, { name: knee, channel: 3, max_us: 2000 }]
      runtime: { leg: { safe_state_after: 1000 } }
      """, to: "config.yaml")
    let daemon = try TactusProcess(["run", "--config", config])
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
    return daemon
  }

  deinit { close(socket) }

  private func logged(_ message: String) throws -> [String: Any] {
    let line = try #require(daemon.said.split(separator: "\n").first { $0.contains(#""msg":"\#(message)""#) })
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  private func send(_ bytes: [UInt8], leg: Int) throws {
    let listening = try #require(try logged("started")["listen"] as? String).split(separator: ", ")
    let endpoint = listening[leg]
    let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
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

  private static let arm: [UInt8] = [1, 1, 0, 0]
  private static let set1500: [UInt8] = [1, 3, 2, 0, 0xDC, 5]

  private func get(_ path: String) async throws -> [String: Any] {
    try await get(path, of: try #require(try logged("serving http")["listen"] as? String))
  }

  private func get(_ path: String, of endpoint: String) async throws -> [String: Any] {
    let client = try ServiceClient(try #require(ServiceAddress(endpoint)), token: nil)
    defer { client.stop() }
    let answer = try await withCheckedThrowingContinuation { continuation in
      client.get(path) { continuation.resume(with: $0) }
    }
    return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
  }

  private func post(_ path: String, _ body: String) async throws -> [String: Any] {
    let endpoint = try #require(try logged("serving http")["listen"] as? String)
    var request = URLRequest(url: try #require(URL(string: "http://\(endpoint)\(path)")))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let (data, _) = try await URLSession.shared.data(for: request)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  /// Writes to the channels' registers: `2 pulse 307`, `2 off`, `all off`; with the bus's instants.
  private func writes() async throws -> [(what: String, at: Int64)] {
    let bus = try await get("/api/sim/bus/leg-i2c-1?limit=4096")
    return try #require(bus["transactions"] as? [[String: Any]]).compactMap { transaction in
      guard let register = transaction["register"] as? Int, let bytes = transaction["bytes"] as? String,
        let at = transaction["monotonicNs"] as? Int64
      else { return nil }
      if register == 0xFD { return ("all off", at) }
      guard (6..<70).contains(register), bytes.count == 8 else { return nil }
      let isOff = bytes == "00000010"
      return ("\((register - 6) / 4) " + (isOff ? "off" : "pulse"), at)
    }
  }

  /// Arms and sets a leg and waits for its deadman; returns the time from its last pulse to the off on the bus, in nanoseconds.
  private func fallSilent() async throws -> Int64 {
    try send(Self.arm, leg: 0)
    try send(Self.set1500, leg: 0)
    #expect(daemon.waitFor("fault: no command within the deadman's time-out"), "\(daemon.said)")
    #expect(daemon.said.contains(#""name":"hip""#) && !daemon.said.contains(#""name":"knee""#))
    let seen = try await writes()
    let pulse = try #require(seen.last { $0.what == "2 pulse" })
    let off = try #require(seen.last { $0.what == "2 off" })
    let leg = try #require((try await get("/api/leg")["legs"] as? [[String: Any]])?.first)
    #expect(leg["state"] as? String == "fault" && leg["pulseUs"] is NSNull)
    return off.at - pulse.at
  }

  @Test("arm, set, then silence: the pulse ends after the last command, on the bus and in the log")
  func silence() async throws {
    #expect(try await fallSilent() > 0)
  }

  @Test("arm, set, then silence: the pulse ends 200 ms after the last command, on the bus", .realTime)
  func silenceInTime() async throws {
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
    daemon = try Self.start(folder, deadmanMilliseconds: 200)
    // Each write has its own stamp; that it is exact is shown in simulated time.
    #expect((100_000_000...300_000_000).contains(try await fallSilent()))
  }

  private func fault(_ body: String) async throws {
    let answer = try await post("/api/sim/fault", body)
    #expect(answer["ok"] as? Bool == true, "\(answer)")
  }

  private func chip() async throws -> [String: Any] {
    try #require(try await get("/api/leg")["chip"] as? [String: Any])
  }

  @Test(
    "output-enable line: inactive until a pulse is wanted, then low; gone, every leg is in fault and the log says why")
  func outputEnable() async throws {
    let enable = try #require(try await chip()["outputEnable"] as? [String: Any])
    #expect(enable["enabled"] as? Bool == false && enable["failures"] as? Int == 0)
    try send(Self.arm, leg: 0)
    try send(Self.set1500, leg: 0)
    #expect(daemon.waitFor("armed, pulse 1500 µs"), "\(daemon.said)")
    #expect(daemon.waitFor("fault: no command"), "\(daemon.said)")
    let gpio = try await get("/api/sim/bus/leg-gpio")
    let all = try #require(gpio["transactions"] as? [[String: Any]]).filter { $0["operation"] as? String != "read" }
    #expect(gpio["kind"] as? String == "gpio" && all.map { $0["operation"] as? String } == ["request", "set", "set"])
    #expect(all.allSatisfy { $0["lines"] as? [Int] == [22] } && all.map { $0["levels"] as? [Int] } == [[1], [0], [1]])
    try await fault(#"{"fault":"gone","bus":"leg-gpio"}"#)
    #expect(daemon.waitFor("the servos' chip fails"), "\(daemon.said)")
    #expect(daemon.waitFor(#""name":"knee""#) && daemon.said.contains("the GPIO chip is gone"), "\(daemon.said)")
    let failing = try await chip()
    #expect((failing["outputEnable"] as? [String: Any])?["lastFailure"] as? String == "the GPIO chip is gone")
    try await fault(#"{"fault":"clear"}"#)
    #expect(daemon.waitFor("the servos' chip answers"), "\(daemon.said)")
  }

  @Test("battery: measured through its divider; empty while armed, a fault")
  func battery() async throws {
    try send([1, 2, 0, 0], leg: 0)
    try await fault(#"{"fault":"voltage","bus":"leg-i2c-1","address":72,"channel":0,"mv":2100}"#)
    // Telemetry is the clock: ten frames a second.
    for _ in 0..<100 where try await millivolts() != 6300 { _ = readWhenReady(socket) }
    #expect(try await millivolts() == 6300)
    #expect(try await post("/api/leg/0/arm", "{}")["message"] as? String != nil)
    try await fault(#"{"fault":"clear"}"#)
    for _ in 0..<100 where try await millivolts() != 7400 { _ = readWhenReady(socket) }
    #expect(try await millivolts() == 7400)
  }

  private func millivolts() async throws -> Int? {
    (try await get("/api/leg")["legs"] as? [[String: Any]])?.first?["batteryMv"] as? Int
  }

  @Test("telemetry comes back to the sender, of the leg whose port it spoke to")
  func telemetry() throws {
    try send([1, 2, 0, 0], leg: 1)
    let frame = try #require(readWhenReady(socket))
    #expect(frame.count == 12 && frame[1] == 0x10 && frame[4] == 0)
  }

  @Test("driving, SIGTERM: every channel off, the chip asleep a period later, status 0", arguments: [SIGTERM, SIGINT])
  func terminated(signal: Int32) throws {
    try send(Self.arm, leg: 0)
    try send(Self.set1500, leg: 0)
    #expect(daemon.waitFor("armed, pulse 1500 µs"))
    kill(daemon.identifier, signal)
    #expect(daemon.finish() == 0, "\(daemon.said)")
    #expect(daemon.said.contains(#""msg":"stopped""#))
    #expect(!daemon.said.contains("not put to sleep"))
  }

  @Test("a robot besides: both are served, each with its state")
  func together() async throws {
    let config = try folder.write(
      """
      network: { motor_udp_port: 0, leg_udp_port: 0, http_port: 0 }
      service: { auth: none }
      motors: { backend: sim }
      leg: { backend: sim }
      runtime: { robot: { safe_state_after: 1000 }, leg: { safe_state_after: 1000 } }
      """, to: "both.yaml")
    let both = try TactusProcess(["run", "--config", config])
    try #require(both.waitFor("Ctrl-C stops the motors and the legs"), "\(both.said)")
    let line = try #require(both.said.split(separator: "\n").first { $0.contains("serving http") })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let endpoint = try #require(object["listen"] as? String)
    let health = try await get("/api/health", of: endpoint)
    #expect(health["systems"] as? [String: String] == ["robot": "stopped", "leg": "disarmed"])
    kill(both.identifier, SIGTERM)
    #expect(both.finish() == 0)
  }

  @Test("the guard is told what to write: the chip's all-off byte")
  func guardWrites() throws {
    let config = try folder.write("leg: { i2c_bus: 250 }", to: "guard.yaml")
    let program = try TactusProcess(["guard", "--once", "--config", config])
    #expect(program.finish() == 1)
    #expect(program.said.contains("/dev/i2c-250") && program.said.contains("the safe state is not confirmed"))
  }
}
