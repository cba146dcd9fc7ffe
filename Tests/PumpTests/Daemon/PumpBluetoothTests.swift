#if Bluetooth
  import BlueZSupport
  import DaemonSupport
  import Foundation
  import TestSupport
  import Testing

  @testable import TactusDaemon

  /// The whole program as the operator of a pump behind a serial module: daemon, BlueZ's D-Bus, FFE1, UART, pump.
  ///
  /// Nothing here sleeps: every step waits for a line of a log or for an answer, with a limit. The guard's time-out is long: a loaded machine is to
  /// exceed it only where a test lets it.
  @Suite(
    "daemon with a pump by Bluetooth", .serialized, .ownThread,
    .enabled(if: PrivateBus.isThere, "dbus-daemon is not installed"))
  final class PumpBluetoothTests {
    private let folder: TemporaryFolder
    private let pump: TactusProcess
    private let module: SerialModule

    init() throws {
      folder = try TemporaryFolder()
      pump = try TactusProcess(["sim", "pump", "--pty"])
      module = try SerialModule(pump: try #require(pump.line(with: "/dev/pts/")))
    }

    private func daemon(_ rest: String = "") throws -> TactusProcess {
      let config = try folder.write(
        """
        network: { http_port: 0 }
        service: { auth: none }
        store: { folder: '\(folder.path("state"))' }
        safety: { watchdog_timeout: 10 }
        pump: { device: 'ble:HMSoft', \(rest) }
        """, to: "config.yaml")
      let daemon = try TactusProcess(["run", "--config", config], environment: module.environment)
      try #require(daemon.waitFor("Ctrl-C stops the pump and the program"), "\(daemon.said)")
      try #require(daemon.waitFor(#""state":"off""#), "\(daemon.said)")
      return daemon
    }

    private func post(_ word: String, _ daemon: TactusProcess) throws -> [String: Any] {
      try ask("/api/pump/\(word)", of: endpoint(daemon), posting: "")
    }

    private func endpoint(_ daemon: TactusProcess) throws -> String {
      let line = try #require(daemon.line(with: "serving http"))
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require(object?["listen"] as? String)
    }

    @Test(
      "found by its name, operated in pieces of at most 20 bytes; shown in /api/pump; SIGTERM turns it off and lets go")
    func operates() throws {
      let daemon = try daemon()
      #expect(try post("on", daemon)["ok"] as? Bool == true)
      #expect(pump.waitFor("pump: on"), "\(pump.said)")
      #expect(daemon.waitFor(#""state":"on""#), "\(daemon.said)")
      let document = try ask("/api/pump", of: endpoint(daemon))
      #expect(document["contact"] as? String == "answering" && document["skinCelsius"] as? Double ?? 0 > 30)
      let link = try #require((document["links"] as? [[String: Any]])?.first)
      #expect(link["kind"] as? String == "bluetooth" && link["state"] as? String == "connected")
      #expect(link["device"] as? String == "ble:HMSoft")
      #expect(module.written.allSatisfy { (1...20).contains($0.count) })
      kill(daemon.identifier, SIGTERM)
      #expect(daemon.finish() == 0, "\(daemon.said)")
      #expect(pump.waitFor("pump: off"), "\(pump.said)")
      #expect(module.mock.on { $0.log.contains("\(SerialModule.path) Disconnect") })
    }

    @Test("connection lost: unknown, the pump runs on; back, it is seen to run and nothing is sent that stops it")
    func lostAndKept() throws {
      let daemon = try daemon()
      _ = try post("on", daemon)
      #expect(daemon.waitFor(#""state":"on""#), "\(daemon.said)")
      module.loseConnection()
      #expect(daemon.waitFor(#""state":"unknown""#), "\(daemon.said)")
      #expect(try post("speed", daemon)["ok"] as? Bool == false)
      module.comeBack()
      // Once more than before.
      #expect(daemon.waitFor(#""state":"on""#, times: 2), "\(daemon.said)")
      #expect(!pump.said.contains("pump: off"))
      #expect(try ask("/api/pump", of: endpoint(daemon))["state"] as? String == "on")
    }

    @Test("connection lost with on_link_loss: stop: OFF is the first command when it is back")
    func lostAndStopped() throws {
      let daemon = try daemon("on_link_loss: stop")
      _ = try post("on", daemon)
      #expect(daemon.waitFor(#""state":"on""#), "\(daemon.said)")
      module.loseConnection()
      #expect(daemon.waitFor(#""contact":"no connection""#), "\(daemon.said)")
      let before = module.written.count
      module.comeBack()
      #expect(pump.waitFor("pump: off"), "\(pump.said)")
      #expect(module.written.dropFirst(before).first == Array("OFF\n".utf8))
    }

    @Test("SIGKILL: the guard connects, and says OFF until the pump confirms it")
    func killed() throws {
      let daemon = try daemon()
      _ = try post("on", daemon)
      #expect(pump.waitFor("pump: on"), "\(pump.said)")
      kill(daemon.identifier, SIGKILL)
      #expect(pump.waitFor("pump: off"), "\(pump.said)")
      #expect(daemon.waitFor("the daemon is gone: every actuator was put into its safe state"), "\(daemon.said)")
    }

    @Test("SIGSTOP: the guard says OFF; SIGCONT: the pump stays off until a person resets it")
    func stopped() throws {
      let daemon = try daemon()
      _ = try post("on", daemon)
      #expect(pump.waitFor("pump: on"), "\(pump.said)")
      kill(daemon.identifier, SIGSTOP)
      #expect(pump.waitFor("pump: off"), "\(pump.said)")
      kill(daemon.identifier, SIGCONT)
      #expect(daemon.waitFor("the daemon's heartbeat is back"), "\(daemon.said)")
      #expect(daemon.waitFor("stopped from outside"), "\(daemon.said)")
      #expect(try post("on", daemon)["ok"] as? Bool == false)
      // Refused until the pump is connected again and has confirmed that it is off.
      var tries = 0
      while try post("reset", daemon)["ok"] as? Bool != true, tries < 20_000 { tries += 1 }
      // Once more than at the start: a reset is followed by an OFF, which the pump has to confirm.
      #expect(daemon.waitFor(#""state":"off""#, times: 2), "\(daemon.said)")
      let answer = try post("on", daemon)
      #expect(answer["ok"] as? Bool == true, "\(answer), \(daemon.said)")
      #expect(pump.waitFor("pump: on", times: 2), "\(pump.said)")
    }

    @Test("tactus pump ble:HMSoft: pumps for a while and turns it off, by name and by address")
    func command() throws {
      let pumping = try TactusProcess(
        ["pump", "ble:HMSoft", "--for", "300ms", "--speed", "200"], environment: module.environment)
      #expect(pumping.finish() == 0, "\(pumping.said)")
      #expect(pump.waitFor("pump: off"), "\(pump.said)")
      let status = try TactusProcess(
        ["pump", "ble:\(SerialModule.address)@hci0", "--status"], environment: module.environment)
      #expect(status.finish() == 0, "\(status.said)")
      #expect(status.said.contains("off, water"), "\(status.said)")
      // Interrupted, it leaves nothing running behind a connection that it ends.
      let interrupted = try TactusProcess(["pump", "ble:HMSoft", "--for", "5m"], environment: module.environment)
      #expect(pump.waitFor("pump: on", times: 2), "\(pump.said)")
      kill(interrupted.identifier, SIGINT)
      #expect(pump.waitFor("pump: off", times: 2), "\(pump.said)")
      #expect(interrupted.finish() == 1)
    }
  }
#endif
