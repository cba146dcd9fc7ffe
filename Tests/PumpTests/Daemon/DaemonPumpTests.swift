import DaemonSupport
import Foundation
import FoundationNetworking
import Tactus
import TactusGuard
import Testing

@testable import PumpDaemon
@testable import TactusDaemon

/// The whole program as the operator of a pump that another program plays: `tactus sim pump --pty`.
///
/// Nothing here sleeps: every step waits for a line of a log or for an answer, with a limit. The guard's time-out is long: a loaded machine is not to
/// exceed it.
@Suite("daemon with a pump", .serialized)
final class DaemonPumpTests {
  private let folder: TemporaryFolder
  private let pump: TactusProcess
  private let daemon: TactusProcess

  init() throws {
    folder = try TemporaryFolder()
    pump = try TactusProcess(["sim", "pump", "--pty"])
    let path = try #require(pump.line(with: "/dev/pts/"))
    let config = try folder.write(
      """
      network: { http_port: 0 }
      service: { auth: none }
      store: { folder: '\(folder.path("state"))' }
      safety: { watchdog_timeout: 10 }
      pump: { device: \(path) }
      """, to: "config.yaml")
    daemon = try TactusProcess(["run", "--config", config])
    try #require(daemon.waitFor("Ctrl-C stops the pump and the program"), "\(daemon.said)")
    try #require(daemon.waitFor(#""state":"off""#), "\(daemon.said)")
  }

  private func answer(
    _ path: String, method: String = "GET", _ body: String = ""
  ) async throws -> (Int, [String: Any]) {
    let line = try #require(daemon.said.split(separator: "\n").first { $0.contains(#""msg":"serving http""#) })
    let log = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let endpoint = try #require(log["listen"] as? String)
    var request = URLRequest(url: try #require(URL(string: "http://\(endpoint)\(path)")))
    request.httpMethod = method
    if !body.isEmpty {
      request.httpBody = Data(body.utf8)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (data, response) = try await URLSession.shared.data(for: request)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, object)
  }

  private func post(_ word: String, _ body: String = "") async throws -> (Int, [String: Any]) {
    try await answer("/api/pump/\(word)", method: "POST", body)
  }

  @Test("on, speed, off, e-stop, reset over HTTP; the pump obeys, refusals say why, status and metrics show it")
  func commands() async throws {
    #expect(try await post("speed", #"{"speedPercent": 50}"#).1["code"] as? String == "NOT_RUNNING")
    let began = MonotonicClock.now
    #expect(try await post("on", #"{"speedDuty": 200}"#).0 == 200)
    #expect(pump.waitFor("pump: on"), "\(pump.said)")
    #expect(daemon.waitFor(#""source":"app","state":"on""#), "\(daemon.said)")
    #expect(try await post("on").0 == 200)
    #expect(try await post("speed", #"{"speedPercent": 200}"#).0 == 422)
    #expect(try await post("speed", #"{"speedPercent": 50, "speedDuty": 1}"#).0 == 422)
    #expect(try await post("speed", #"{"speedPercent": 40}"#).0 == 200)
    var document = try await answer("/api/pump").1
    // On a loaded machine the pump may be silent for a while.
    while document["contact"] as? String != "answering", MonotonicClock.now - began < .seconds(60) {
      document = try await answer("/api/pump").1
    }
    #expect(document["state"] as? String == "on")
    #expect(document["contact"] as? String == "answering")
    // Of the half hour that it may run, what has passed meanwhile is gone, and no more.
    let left = try #require(document["leftS"] as? Double)
    #expect(left <= 1_800 && left >= 1_799 - (MonotonicClock.now - began).inSeconds, "\(left)")
    let systems = try #require(try await answer("/api/status").1["systems"] as? [String: Any])
    #expect((systems["pump"] as? [String: Any])?["state"] as? String == "on")

    #expect(try await post("e-stop").0 == 200)
    #expect(daemon.waitFor(#""state":"emergency stop""#), "\(daemon.said)")
    #expect(pump.waitFor("pump: off"), "\(pump.said)")
    #expect(try await post("on").1["code"] as? String == "EMERGENCY_STOPPED")
    #expect(try await answer("/api/reset", method: "POST").0 == 200)
    #expect(try await post("off").0 == 200)
    // Before the pump goes: a guard that is left alone tries its line until it is another test's.
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }

  @Test("SIGTERM: OFF, confirmed by the pump, status 0")
  func terminated() async throws {
    #expect(try await post("on").0 == 200)
    #expect(pump.waitFor("pump: on"), "\(pump.said)")
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
    #expect(pump.waitFor("pump: off"), "\(pump.said)")
  }

  @Test("SIGKILL: the guard writes OFF")
  func killed() async throws {
    #expect(try await post("on").0 == 200)
    #expect(pump.waitFor("pump: on"), "\(pump.said)")
    kill(daemon.identifier, SIGKILL)
    #expect(pump.waitFor("pump: off"), "\(pump.said)")
    #expect(daemon.finish() == nil)
  }
}

@Suite("configuration of the pump")
struct PumpConfigTests {
  @Test("an empty section: the defaults; the guard's OFF goes to its line, and nowhere when simulated")
  func defaults() throws {
    let configuration = try read("pump: { }")
    let pump = try #require(configuration.pump)
    #expect(pump.wiring.address == .serial(path: "/dev/ttyUSB0"))
    #expect(pump.rules.operating == .standard)
    #expect(
      configuration.summary.first == "pump on /dev/ttyUSB0 at 9600 bit/s, off after 30 min until it has rested 5 min")
    #expect(pump.safeWrites.map(\.description) == ["serial:9600:0a4f46460a4f46460a:/dev/ttyUSB0"])
    #expect(try #require(try read("pump: { backend: sim }").pump).safeWrites == [])
    #expect(try read("motors: { }\nleg: { }\npump: { }").whatDrives == "the motors, the legs and the pump")
  }

  @Test("every key reaches the rules")
  func keys() throws {
    let pump = try #require(
      try read("pump: { run_limit_min: 10, rest_min: 2, on_link_loss: stop, on_overheat: keep, baud: 115200 }").pump)
    #expect(pump.rules.operating.runLimit == .seconds(600))
    #expect(pump.rules.operating.rest == .seconds(120))
    #expect(pump.rules.operating.linkLoss == .stopsOnReturn)
    #expect(pump.rules.operating.overheatAction == .keepCooling)
    #expect(pump.wiring.baud == 115_200)
  }

  #if Bluetooth
    @Test("Bluetooth: by name or address, with the adapter or without; the guard knows it; nobody named is an error")
    func bluetooth() throws {
      let pump = try #require(try read("pump: { device: 'ble:HMSoft@hci1' }").pump)
      #expect(pump.wiring.address == .bluetooth(BluetoothPlace(.name("HMSoft"), adapter: "hci1")))
      #expect(pump.wiring.summary == "pump by Bluetooth, HMSoft@hci1")
      let writes = pump.safeWrites
      #expect(writes.map(\.description) == ["pump:HMSoft@hci1"])
      #expect(SafeStateWrite("pump:HMSoft@hci1", custom: [GuardRadio.name]) == writes.first)
      let errors = #expect(throws: ConfigErrors.self) { try read("pump:\n  device: 'ble:'\n") }
      #expect("\(try #require(errors))".contains("c.yaml:2:11: pump.device: expected /dev/… of a serial line"))
    }
  #endif

  @Test("the device itself: every key reaches its part; the guard turns its PWM off")
  func device() throws {
    let configuration = try read(
      """
      pump:
        role: device
        device: /dev/serial0
        silence_limit_s: 60
        dialect: legacy
        pwm: { chip: /sys/class/pwm/pwmchip2, channel: 1, frequency_hz: 500 }
        button: GPIO17
        adc: { i2c_bus: 3, i2c_address: 0x4A, skin_channel: 2, pot_channel: 0, supply_mv: 5000 }
      """)
    let pump = try #require(configuration.pump)
    let settings = pump.rules.own(pump.wiring)
    #expect(settings.silenceLimit == .seconds(60) && settings.dialect == .legacy)
    #expect(settings.rest == .seconds(300) && settings.pot == .whenMoved)
    let converter = try #require(pump.wiring.converter)
    #expect(converter.chip.address.value == 0x4A && converter.water == nil && converter.skin == 2)
    #expect(converter.chip.range == .millivolts6144 && converter.supply.count == 5_000_000)
    #expect(pump.wiring.pwmPeriod == .milliseconds(2))
    #expect(pump.wiring.buttonInput?.line.isActiveLow == true && pump.wiring.buttonInput?.pull == .up)
    let writes = pump.safeWrites
    #expect(writes == [.pwm(path: "/sys/class/pwm/pwmchip2/pwm1")])
    #expect(SafeStateWrite(writes[0].description) == writes[0])
    #expect(
      pump.wiring.summary.contains("motor on /sys/class/pwm/pwmchip2/pwm1, reached by /dev/serial0 at 9600 bit/s"))
  }

  @Test("the files in config/: read without an error", arguments: ["pump.yaml", "pump-device.yaml"])
  func shipped(name: String) throws {
    let folder = repository.appending(path: "config")
    let configuration = try Configuration.read(
      path: folder.appending(path: name).standardized.path(percentEncoded: false), environment: [:])
    #expect((configuration.pump?.wiring.role == .device) == (name == "pump-device.yaml"))
  }

  @Test(
    "keys of the other role, a line that is none, one input twice: refused",
    arguments: [
      ("silence_limit_s: 9", "pump.silence_limit_s: expected pump.role device with this key, got operator"),
      ("role: device, on_link_loss: stop", "pump.on_link_loss: expected pump.role operator with this key, got device"),
      ("role: device, device: serial0", "pump.device: expected /dev/… of a serial line"),
      (
        "role: device, adc: { water_channel: 1, skin_channel: 1 }",
        "expected another input than pump.adc.water_channel's"
      ),
      (
        "role: device, bluetooth: true, bluetooth_name: 123456789012345678901",
        "pump.bluetooth_name: expected 1…20 bytes"
      ),
    ])
  func refused(section: String, words: String) throws {
    let errors = #expect(throws: ConfigErrors.self) { try read("pump: { \(section) }") }
    let text = "\(try #require(errors))"
    #expect(text.contains(words), "\(text)")
  }

  @Test("one line for two systems: refused, naming both keys")
  func claims() throws {
    let errors = #expect(throws: ConfigErrors.self) {
      try read("motors: { backend: xgo-rider, serial_device: /dev/ttyAMA0 }\npump: { device: /dev/ttyAMA0 }")
    }
    let text = "\(try #require(errors))"
    #expect(text.contains("pump.device") && text.contains("motors.serial_device"), "\(text)")
  }
}
