import BusesLinux
import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import PumpDaemon
@testable import TactusDaemon

/// The whole program in place of a pump's microcontroller: an app on its line, a PWM unit that is files.
///
/// Nothing here sleeps: every step waits for bytes, a file, a line of a log or an answer, with a limit. The guard's time-out is long: a loaded
/// machine is to exceed it only where a test lets it.
@Suite("daemon that is a pump", .serialized, .ownThread)
final class DaemonPumpDeviceTests {
  private let folder: TemporaryFolder
  private let pwm: FakePWM
  /// The app's end of the line.
  private let app: LinuxPTY

  init() throws {
    folder = try TemporaryFolder()
    pwm = try FakePWM(in: folder)
    app = try LinuxPTY()
  }

  private func daemon(_ rest: String = "", _ arguments: [String] = []) throws -> TactusProcess {
    let config = try folder.write(
      """
      network: { http_port: 0 }
      service: { auth: none }
      store: { folder: '\(folder.path("state"))' }
      safety: { watchdog_timeout: 10 }
      pump: { role: device, device: \(app.path), pwm: { chip: '\(pwm.chip)' }, \(rest) }
      """, to: "config.yaml")
    let daemon = try TactusProcess(["run", "--config", config] + arguments)
    try #require(daemon.waitFor("Ctrl-C stops the pump and the program"), "\(daemon.said)")
    return daemon
  }

  /// Writes a line as an app would; what comes back until `end` does.
  @discardableResult
  private func say(_ line: String, until end: String) -> String {
    _ = Array(line.utf8).withUnsafeBytes { write(app.descriptor, $0.baseAddress, $0.count) }
    return hear(until: end)
  }

  private func hear(until end: String) -> String {
    var text = ""
    while !text.contains(end) {
      guard let bytes = readWhenReady(app.descriptor), !bytes.isEmpty else { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  private func endpoint(_ daemon: TactusProcess) throws -> String {
    let line = try #require(daemon.line(with: "serving http"))
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    return try #require(object?["listen"] as? String)
  }

  private func post(_ path: String, _ body: String = "", _ daemon: TactusProcess) throws -> [String: Any] {
    try ask(path, of: endpoint(daemon), posting: body)
  }

  /// What the pump does after a command, as its answer says.
  private func state(after answer: [String: Any]) -> String? {
    (answer["pump"] as? [String: Any])?["state"] as? String
  }

  @Test("start: whatever was left is off, upright and at its period; an app's ON, SPEED and OFF are duties")
  func lines() throws {
    let daemon = try daemon()
    #expect(pwm.duty == 0 && pwm.value("period") == 1_000_000 && pwm.isEnabled)
    #expect(try String(contentsOfFile: pwm.chip + "/pwm0/polarity", encoding: .utf8).hasPrefix("normal"))
    #expect(say("SPEED:9\n", until: "\n").contains("ERROR:PUMP_NOT_RUNNING"))
    #expect(say("ON\n", until: "PUMP:ON").contains("OK\r\nPUMP:ON"))
    #expect(pwm.duty == 180 * 1_000_000 / 255)
    say("SPEED:255\n", until: "SPEED:255")
    #expect(pwm.duty == 1_000_000)
    // What another does is told: here the service.
    #expect(try post("/api/pump/off", "", daemon)["ok"] as? Bool == true)
    #expect(hear(until: "PUMP:OFF").contains("PUMP:OFF"))
    #expect(pwm.duty == 0)
    let document = try ask("/api/pump", of: endpoint(daemon))
    #expect(document["role"] as? String == "device" && document["state"] as? String == "off")
    #expect(document["source"] as? String == "app" && document["waterCelsius"] is NSNull)
    #expect(daemon.waitFor(#""source":"app","state":"on, 70 %""#), "\(daemon.said)")
  }

  @Test("over HTTP: on with a speed, refusals with their reason, sessions in the store")
  func service() throws {
    let daemon = try daemon("log_days: 30")
    #expect(try post("/api/pump/speed", #"{"speedPercent": 50}"#, daemon)["code"] as? String == "NOT_RUNNING")
    #expect(state(after: try post("/api/pump/on", #"{"speedDuty": 51}"#, daemon)) == "on")
    #expect(pwm.duty == 200_000)
    #expect(hear(until: "PUMP:ON").contains("PUMP:ON"))
    #expect(state(after: try post("/api/pump/off", "", daemon)) == "off")
    #expect(daemon.waitFor(#""state":"off"#), "\(daemon.said)")
    // Kept by a thread of its own, after the log.
    var (sessions, asked) = ([[String: Any]](), 0)
    while sessions.isEmpty, asked < 1_000 {
      sessions = try ask("/api/pump/sessions", of: endpoint(daemon))["sessions"] as? [[String: Any]] ?? []
      asked += 1
    }
    #expect(sessions.count == 1)
    #expect(sessions.first?["startedBy"] as? String == "app")
  }

  @Test("silence: no command for the limit stops the motor")
  func silence() throws {
    let daemon = try daemon("silence_limit_s: 1")
    say("ON\n", until: "PUMP:ON")
    #expect(hear(until: "ERROR:LINK_SILENT").contains("ERROR:LINK_SILENT"))
    #expect(pwm.duty == 0)
    #expect(daemon.waitFor("no command for the silence limit"), "\(daemon.said)")
  }

  @Test("fault: a sensor that reads what cannot be stops the motor, and why and the way out are told")
  func fault() throws {
    let daemon = try daemon("adc: { water_channel: 0, skin_channel: 1 }", ["--simulate"])
    #expect(state(after: try post("/api/pump/on", "", daemon)) == "on")
    #expect(try ask("/api/sim/pump", of: endpoint(daemon))["duty"] as? Int == 180)
    _ = try post("/api/sim/fault", #"{"fault":"sensor-open","bus":"pump","sensor":"skin"}"#, daemon)
    #expect(daemon.waitFor("the skin sensor reads -77.4 °C"), "\(daemon.said)")
    #expect(try ask("/api/sim/pump", of: endpoint(daemon))["duty"] as? Int == 0)
    let document = try ask("/api/pump", of: endpoint(daemon))
    #expect(document["fault"] as? String == "sensor-fault")
    #expect(document["wayOut"] as? String == "check the sensor and its wires, then reset")
    #expect(try post("/api/pump/reset", "", daemon)["code"] as? String == "CAUSE_PERSISTS")
    _ = try post("/api/sim/fault", #"{"fault":"clear"}"#, daemon)
  }

  @Test("e-stop: the motor off at once and latched, whatever the line says; a reset leads out")
  func emergencyStop() throws {
    let daemon = try daemon()
    say("ON\n", until: "PUMP:ON")
    #expect(try post("/api/e-stop", "", daemon)["ok"] as? Bool == true)
    #expect(pwm.duty == 0)
    #expect(hear(until: "EMERGENCY_STOP").contains("ERROR:EMERGENCY_STOP"))
    #expect(say("ON\n", until: "START_FAILED").contains("ERROR:PUMP_START_FAILED"))
    #expect(try post("/api/pump/on", "", daemon)["code"] as? String == "EMERGENCY_STOPPED")
    #expect(pwm.duty == 0)
    #expect(try post("/api/reset", "", daemon)["ok"] as? Bool == true)
    #expect(say("ON\n", until: "PUMP:ON").contains("PUMP:ON"))
  }

  @Test("SIGTERM: off, told, disabled, status 0")
  func terminated() throws {
    let daemon = try daemon()
    say("ON\n", until: "PUMP:ON")
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
    #expect(pwm.duty == 0 && !pwm.isEnabled)
    #expect(hear(until: "PUMP:OFF").contains("PUMP:OFF"))
  }

  @Test("SIGKILL: the guard turns the motor off")
  func killed() throws {
    let daemon = try daemon()
    say("ON\n", until: "PUMP:ON")
    kill(daemon.identifier, SIGKILL)
    #expect(pwm.wait { $0.duty == 0 })
    #expect(daemon.waitFor("the daemon is gone: every actuator was put into its safe state"), "\(daemon.said)")
  }

  @Test("SIGSTOP: the guard turns the motor off; SIGCONT: the pump can be used again")
  func hanging() throws {
    let daemon = try daemon()
    say("ON\n", until: "PUMP:ON")
    kill(daemon.identifier, SIGSTOP)
    #expect(pwm.wait { $0.duty == 0 })
    // Its last heartbeat may be from long before the stop: the loop, too, has to miss what makes it a fault.
    #expect(readWhenReady(app.descriptor, limit: 600) == nil)
    kill(daemon.identifier, SIGCONT)
    #expect(daemon.waitFor("the daemon's heartbeat is back"), "\(daemon.said)")
    // Nobody believes it to run.
    #expect(daemon.waitFor("stopped from outside"), "\(daemon.said)")
    say("OFF\n", until: "PUMP:OFF")
    // For two seconds an ON is refused, since it may have lain in the line meanwhile.
    var (said, tries) = ("", 0)
    while !said.contains("PUMP:ON"), tries < 20_000 {
      said = say("ON\n", until: "\r\n")
      tries += 1
    }
    #expect(said.contains("PUMP:ON"))
    #expect(pwm.duty != 0 && pwm.isEnabled)
  }

  @Test("releases missed are a fault before the guard acts, whatever its time-out", arguments: [0.2, 0.5, 1, 10])
  func faultBeforeGuard(timeout: Double) {
    let releases = Pump.safeStateAfter(guardTimeoutSeconds: timeout)
    #expect(releases >= 2 && Double(releases) * 0.05 < timeout)
  }
}
