import BlueZSupport
import Buses
import BusesLinux
import DaemonSupport
import Foundation
import Leg
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

/// The whole program with a leg that is reached by links beside its UDP port, simulated and real ones.
///
/// Nothing here sleeps: every step waits for a line of a log, bytes or an answer, with a limit.
@Suite("daemon with a leg on links", .serialized, .ownThread)
final class DaemonLegLinkTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func daemon(
    _ leg: String, _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> TactusProcess {
    let config = try folder.write(
      """
      network: { leg_udp_port: 0, http_port: 0 }
      service: { auth: none }
      leg: { backend: sim, \(leg) }
      runtime: { leg: { safe_state_after: 1000 } }
      """, to: "config.yaml")
    let daemon = try TactusProcess(["run", "--config", config] + arguments, environment: environment)
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
    return daemon
  }

  private static func member(_ name: String, of line: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    return try #require(object?[name] as? String, "\(line)")
  }

  private func endpoint(_ daemon: TactusProcess) throws -> String {
    try Self.member("listen", of: try #require(daemon.line(with: "serving http")))
  }

  private func leg(_ daemon: TactusProcess) throws -> [String: Any] {
    try #require((try ask("/api/leg", of: endpoint(daemon))["legs"] as? [[String: Any]])?.first)
  }

  /// The link beside its UDP port and the service's socket, which every leg has.
  private func link(_ daemon: TactusProcess) throws -> [String: Any] {
    let links = try #require(try leg(daemon)["links"] as? [[String: Any]])
    #expect(links.map { $0["kind"] as? String } == ["udp", links[1]["kind"] as? String, "websocket"])
    return links[1]
  }

  /// For a leg that a program drives here: 200 ms are not to be had on every machine that runs these tests.
  private static let patientDeadman = "deadman_ms: 5000"

  private static let arm = "01010000"
  private static let set1500 = "01030200dc05"

  // MARK: a simulated radio

  @Test(
    "simulated: a central connects, arms and sets; the link lost, the pulse is off and the leg in fault; back, disarmed"
  )
  func simulated() throws {
    let daemon = try daemon("bluetooth: true, deadman_ms: 10000", ["--simulate"])
    let endpoint = try endpoint(daemon)
    func play(_ body: String) throws -> [String: Any] {
      try ask("/api/sim/link/leg-bluetooth", of: endpoint, posting: body)
    }
    #expect(try link(daemon)["state"] as? String == "advertising")
    #expect(try play(#"{"message":"\#(Self.arm)"}"#)["code"] as? String == "NOT_CONNECTED")
    #expect(try play(#"{"message":"0x"}"#)["field"] as? String == "message")
    #expect(try play("{}")["field"] as? String == "connected")
    #expect(
      try ask("/api/sim/link/leg-udp-0", of: endpoint, posting: #"{"connected":true}"#)["code"] as? String
        == "NOT_FOUND"
    )
    #expect(try play(#"{"connected":true,"message":"\#(Self.arm)"}"#)["connected"] as? Bool == true)
    #expect(daemon.waitFor("armed, nothing set yet"))
    _ = try play(#"{"message":"\#(Self.set1500)"}"#)
    #expect(daemon.waitFor("armed, pulse 1500 µs"))
    let driven = try leg(daemon)
    #expect(driven["lastSender"] as? String == "bluetooth" && driven["pulseUs"] as? Int == 1500)
    let connected = try link(daemon)
    #expect(connected["state"] as? String == "connected" && connected["framesReceived"] as? Int == 2)
    let faults = try ask("/api/sim/fault", of: endpoint, posting: #"{"fault":"link-loss","bus":"leg-bluetooth"}"#)
    #expect((faults["faults"] as? [[String: Any]])?.first?["fault"] as? String == "link-loss")
    #expect(daemon.waitFor("fault: the link is lost"), "\(daemon.said)")
    #expect(try leg(daemon)["pulseUs"] is NSNull)
    let world = try ask("/api/sim/leg", of: endpoint)
    #expect((world["legs"] as? [[String: Any]])?.first?["pulseUs"] is NSNull)
    _ = try ask("/api/sim/fault", of: endpoint, posting: #"{"fault":"clear"}"#)
    #expect(daemon.waitFor(#""state":"disarmed""#))
    let buses = try #require(try ask("/api/sim/bus", of: endpoint)["buses"] as? [[String: Any]])
    #expect(buses.contains { $0["name"] as? String == "leg-bluetooth" && $0["kind"] as? String == "link" })
    let log = try #require(
      try ask("/api/sim/bus/leg-bluetooth", of: endpoint)["transactions"] as? [[String: Any]])
    let received = log.filter { $0["operation"] as? String == "received" }
    #expect(received.compactMap { $0["bytes"] as? String } == [Self.arm, Self.set1500])
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }

  // MARK: a serial line

  @Test("simulated serial line: tactus leg serial:… arms the leg and moves it; killed, the pulse ends by the deadman")
  func simulatedLine() throws {
    let daemon = try daemon("serial: /dev/ttyS9, \(Self.patientDeadman)", ["--simulate"])
    let device = try Self.member("device", of: try #require(daemon.line(with: "the serial line is simulated")))
    let script = try TactusProcess(["leg", "serial:\(device)", "--arm", "--set", "1500", "--for", "300ms"])
    #expect(script.finish() == 0, "\(script.said)")
    #expect(daemon.waitFor("armed, pulse 1500 µs"))
    #expect(try leg(daemon)["lastSender"] as? String == "serial")
    let killed = try TactusProcess(["leg", "serial:\(device)", "--arm", "--set", "1800", "--for", "1m"])
    #expect(daemon.waitFor("armed, pulse 1800 µs"), "\(killed.said)")
    kill(killed.identifier, SIGKILL)
    #expect(daemon.waitFor("fault: no command within the deadman's time-out"), "\(daemon.said)")
    let refused = try TactusProcess(["leg", "serial:\(device)", "--arm", "--for", "1s"])
    #expect(refused.finish() == 1 && refused.said.contains("the leg is in fault"), "\(refused.said)")
    #expect(try leg(daemon)["state"] as? String == "fault", "what was refused has changed nothing")
    let disarming = try TactusProcess(["leg", "serial:\(device)", "--disarm"])
    #expect(disarming.finish() == 0, "\(disarming.said)")
    #expect(try leg(daemon)["state"] as? String == "disarmed")
  }

  @Test(
    "serial line: frames are obeyed and telemetry comes back; the device gone, the daemon goes on, says so, and takes it when it is back"
  )
  func line() throws {
    var terminal: LinuxPTY? = try LinuxPTY()
    let device = folder.path("line")
    try FileManager.default.createSymbolicLink(atPath: device, withDestinationPath: terminal!.path)
    let daemon = try daemon("serial: \(device), serial_baud: 57600, deadman_ms: 10000")
    for text in [Self.arm, Self.set1500] { send(text, on: terminal!) }
    #expect(daemon.waitFor("armed, pulse 1500 µs"), "\(daemon.said)")
    #expect(readWhenReady(terminal!.descriptor)?.isEmpty == false)
    let link = try link(daemon)
    #expect(link["kind"] as? String == "serial" && link["state"] as? String == "open")
    #expect(link["device"] as? String == device)
    #expect(link["framesReceived"] as? Int == 2 && link["framesLost"] as? Int == 0, "\(link)")
    // The link first: the next terminal of that number may be another test's, which the daemon would set raw.
    try FileManager.default.removeItem(atPath: device)
    terminal = nil
    #expect(daemon.waitFor("serial line is gone"), "\(daemon.said)")
    #expect(try self.link(daemon)["state"] as? String == "gone")
    let other = try LinuxPTY()
    try FileManager.default.createSymbolicLink(atPath: device, withDestinationPath: other.path)
    #expect(daemon.waitFor("serial line is back"), "\(daemon.said)")
    send("01020000", on: other)
    #expect(daemon.waitFor(#""state":"disarmed""#), "\(daemon.said)")
    #expect(readWhenReady(other.descriptor)?.isEmpty == false)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }

  /// A frame from its bytes in hexadecimal, as a microcontroller's line carries it.
  private func send(_ text: String, on line: LinuxPTY) {
    let message = stride(from: 0, to: text.count, by: 2).map { UInt8(text.dropFirst($0).prefix(2), radix: 16)! }
    var frame = [UInt8](repeating: 0, count: LegSerialFrame.maximumEncodedLength)
    let count = message.withUnsafeBytes { bytes in
      frame.withUnsafeMutableBytes { LegSerialFrame.encode(bytes, into: $0) }
    }
    #expect(write(line.descriptor, frame, count) == count)
  }

  @Test("serial line that is not there: the daemon does not start, and says which")
  func noLine() throws {
    let config = try folder.write(
      "network: { leg_udp_port: 0, http_port: 0 }\nleg: { backend: sim, serial: /dev/not-there }", to: "no.yaml")
    let daemon = try TactusProcess(["run", "--config", config])
    #expect(daemon.finish() == 1)
    #expect(daemon.said.contains("/dev/not-there"), "\(daemon.said)")
  }

  // MARK: BlueZ

  #if Bluetooth
    private static let busIsThere = PrivateBus.isThere

    /// A bus, two radios, the daemon advertising on the first.
    private func bluetooth() throws -> (PrivateBus, MockBlueZ, TactusProcess) {
      let bus = try PrivateBus()
      let radios = try MockBlueZ(on: bus.address)
      let daemon = try daemon(
        "bluetooth: true, bluetooth_adapter: hci0, \(Self.patientDeadman)",
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
      try #require(daemon.waitFor("advertising on hci0"), "\(daemon.said)")
      return (bus, radios, daemon)
    }

    private func leg(_ bus: PrivateBus, _ arguments: String...) throws -> TactusProcess {
      try TactusProcess(["leg"] + arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
    }

    @Test(
      "no bluetoothd: the daemon runs, says why, and advertises as soon as there is one",
      .enabled(if: busIsThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
    func absent() throws {
      let bus = try PrivateBus()
      let daemon = try daemon("bluetooth: true", environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
      #expect(daemon.waitFor("bluetoothd is not running"), "\(daemon.said)")
      let link = try link(daemon)
      #expect(link["state"] as? String == "waiting")
      #expect((link["reason"] as? String)?.contains("bluetoothd is not running") == true)
      let radios = try MockBlueZ(on: bus.address)
      #expect(daemon.waitFor("advertising on hci0"), "\(daemon.said)")
      // The document follows at the loop's next tick.
      let until = MonotonicClock.now + .seconds(60)
      var state: String?
      while state != "advertising", MonotonicClock.now < until { state = try self.link(daemon)["state"] as? String }
      #expect(state == "advertising")
      #expect(try self.link(daemon)["device"] as? String == "hci0")
      kill(daemon.identifier, SIGTERM)
      #expect(daemon.finish() == 0, "\(daemon.said)")
      #expect(radios.on { $0.applications.isEmpty && $0.advertisements.isEmpty })
      radios.stop()
    }

    @Test(
      "tactus leg ble:NAME and ble:ADDRESS: found, armed, moved, disarmed; gone, the leg is in fault until the next one comes",
      .enabled(if: busIsThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
    func operated() throws {
      let (bus, radios, daemon) = try bluetooth()
      for place in ["ble:LegCtrl@hci1", "ble:00:aa:01:00:00:00@hci1"] {
        let script = try leg(bus, place, "--arm", "--set", "1500", "--for", "300ms")
        #expect(script.finish() == 0, "\(script.said)")
        #expect(script.said.contains("obeyed"))
        #expect(daemon.waitFor("fault: the link is lost"), "\(daemon.said)")
      }
      #expect(daemon.said.contains("armed, pulse 1500 µs") && daemon.said.contains("connected to 00:AA:01:00:00:01"))
      radios.stop()
    }

    @Test(
      "driving over Bluetooth: operator killed, central gone, bluetoothd gone: no pulse, and the leg in fault",
      .enabled(if: busIsThere, "dbus-daemon is not installed (Debian: dbus-daemon)"),
      arguments: ["operator", "central", "bluetoothd"])
    func lost(what: String) throws {
      let (bus, radios, daemon) = try bluetooth()
      let script = try leg(bus, "ble:LegCtrl@hci1", "--arm", "--set", "1500", "--for", "1m")
      try #require(daemon.waitFor("armed, pulse 1500 µs"), "\(daemon.said) \(script.said)")
      #expect(try link(daemon)["peer"] as? String == "00:AA:01:00:00:01")
      switch what {
      case "operator":
        kill(script.identifier, SIGKILL)
        // The radios stay connected: it is the silence that tells.
        #expect(daemon.waitFor("fault: no command within the deadman's time-out"), "\(daemon.said)")
      case "central":
        radios.on { $0.disconnect(MockBlueZ.path("/org/bluez/hci1", $0.address("/org/bluez/hci0"))) }
        #expect(daemon.waitFor("fault: the link is lost"), "\(daemon.said)")
      default:
        radios.stop()
        #expect(daemon.waitFor("fault: the link is lost"), "\(daemon.said)")
      }
      #expect(try leg(daemon)["pulseUs"] is NSNull)
      if what != "bluetoothd" { radios.stop() }
    }

    @Test(
      "tactus leg without bluetoothd: says so at once",
      .enabled(if: busIsThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
    func nobody() throws {
      let bus = try PrivateBus()
      let script = try leg(bus, "ble:LegCtrl", "--disarm")
      #expect(script.waitFor("bluetoothd is not running"), "\(script.said)")
    }
  #endif
}
