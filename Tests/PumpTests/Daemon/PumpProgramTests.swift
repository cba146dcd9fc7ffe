import Buses
import BusesLinux
import DaemonSupport
import Foundation
import Tactus
import TestSupport
import Testing

@testable import Pump
@testable import PumpDaemon
@testable import TactusDaemon

@Suite("the pump on a pseudo-terminal", .ownThread)
struct PumpProgramTests {
  /// `tactus sim pump --pty`, running, and where.
  private func simulated(_ options: [String] = []) throws -> (TactusProcess, String) {
    let pump = try TactusProcess(["sim", "pump", "--pty"] + options)
    let path = try #require(pump.line(with: "/dev/pts/"))
    return (pump, path)
  }

  /// Writes a line as any other program would; what comes back until `end` does.
  private func ask(_ line: String, on descriptor: Int32, until end: String) -> String {
    _ = Array(line.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    var text = ""
    while !text.contains(end) {
      guard let bytes = readWhenReady(descriptor), !bytes.isEmpty else { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  @Test("another program: ON is OK and PUMP:ON, STATUS has every key, OFF stops it; SIGTERM ends it with 0")
  func talks() throws {
    let (pump, path) = try simulated(["--seed", "3"])
    let line = try LinuxSerialPort(path: path, baudRate: 9_600)
    defer { withExtendedLifetime(line) {} }
    let pty = line.descriptor
    #expect(ask("SPEED:9\n", on: pty, until: "\n") == "ERROR:PUMP_NOT_RUNNING\r\n")
    #expect(ask("on\r\n", on: pty, until: "ON") == "OK\r\nPUMP:ON\r\n")
    let status = ask("STATUS\n", on: pty, until: "}\r\n")
    #expect(status.contains(/STATUS:{State:ON,Speed:70%,Runtime:[0-9]+m,Remaining:/), "\(status)")
    #expect(ask("JUMP\n", on: pty, until: "\n") == "ERROR:UNKNOWN_COMMAND\r\n")
    #expect(ask("OFF\n", on: pty, until: "OFF") == "OK\r\nPUMP:OFF\r\n")
    // Told at the end of the tick that has answered.
    #expect(pump.waitFor("pump: off"), "\(pump.said)")
    kill(pump.identifier, SIGTERM)
    #expect(pump.finish() == 0)
    #expect(pump.said.contains("pump: on, 70 %\npump: off"))
  }

  @Test("tactus pump: pumps for a while and turns it off, says what it does, and fails where nobody answers")
  func operates() throws {
    let (pump, path) = try simulated(["--dialect", "legacy"])
    let pumping = try TactusProcess(["pump", path, "--for", "300ms", "--speed", "200"])
    #expect(pumping.finish() == 0, "\(pumping.said)")
    #expect(pumping.said.contains("pump: on\n"), "\(pumping.said)")
    #expect(pumping.said.contains("shut down"), "\(pumping.said)")
    let status = try TactusProcess(["pump", path, "--status"])
    #expect(status.finish() == 0, "\(status.said)")
    #expect(status.said.contains("off, temperature 3"), "\(status.said)")
    let reset = try TactusProcess(["pump", path, "--reset"])
    #expect(reset.finish() == 1)
    #expect(reset.said.contains("there is nothing to reset"), "\(reset.said)")
    kill(pump.identifier, SIGTERM)
    #expect(pump.finish() == 0)
    #expect(pump.said.contains("pump: on, 70 %\npump: off"), "\(pump.said)")

    let nobody = try LinuxPTY()
    let alone = try TactusProcess(["pump", nobody.path, "--status"])
    #expect(alone.finish() == 1)
    #expect(alone.said.contains("is a pump listening there?"), "\(alone.said)")
  }

  @Test("tactus pump --off, and nobody answers: OFF is sent all the same, and is said not to be confirmed")
  func offWithoutAnswer() throws {
    var script = PumpScript(.off)
    var snapshot = PumpSnapshot()
    snapshot.contact = .answering
    snapshot.state = .on(since: .zero)
    #expect(script.mayPump && script.step(snapshot, refusal: nil).request == .turnOff)
    #expect(script.step(snapshot, refusal: .noContact).end != nil && script.mayPump)

    let nobody = try LinuxPTY()
    let off = try TactusProcess(["pump", nobody.path, "--off"])
    #expect(off.finish() == 1)
    #expect(off.said.contains("OFF is sent all the same, and is not confirmed"), "\(off.said)")
    let sent = String(decoding: readWhenReady(nobody.descriptor) ?? [], as: UTF8.self)
    #expect(sent.contains("OFF\n"), "\(sent)")
  }

  @Test("tactus pump --for, refused: the pump stays what it was; obeyed and interrupted, it is turned off")
  func refusedLeavesRunning() throws {
    var script = PumpScript(.pump(PumpSpeed(duty: 9), for: .seconds(9)))
    var snapshot = PumpSnapshot()
    #expect(!script.mayPump && script.step(snapshot, refusal: nil).request == nil)
    snapshot.contact = .answering
    snapshot.state = .on(since: .zero)
    #expect(script.step(snapshot, refusal: nil).request == .setSpeed(PumpSpeed(duty: 9)) && script.mayPump)
    var refused = script
    #expect(refused.step(snapshot, refusal: .noContact).end != nil && !refused.mayPump)

    let (pump, path) = try simulated()
    let pumping = try TactusProcess(["pump", path, "--for", "10m"])
    #expect(pumping.waitFor("pump: on"))
    kill(pumping.identifier, SIGINT)
    #expect(pumping.finish() == 1)
    #expect(pump.waitFor("pump: off"), "\(pump.said)")
    kill(pump.identifier, SIGTERM)
    #expect(pump.finish() == 0)
  }

  @Test("tactus pump --status: a pump that runs runs on")
  func leavesRunning() throws {
    let (pump, path) = try simulated()
    do {
      let line = try LinuxSerialPort(path: path, baudRate: 9_600)
      defer { withExtendedLifetime(line) {} }
      #expect(ask("ON\n", on: line.descriptor, until: "PUMP:ON").contains("PUMP:ON"))
    }
    let status = try TactusProcess(["pump", path, "--status"])
    #expect(status.finish() == 0, "\(status.said)")
    #expect(status.said.contains("on, 70 %"), "\(status.said)")
    let off = try TactusProcess(["pump", path, "--off"])
    #expect(off.finish() == 0, "\(off.said)")
    #expect(pump.waitFor("pump: off"), "\(pump.said)")
    kill(pump.identifier, SIGTERM)
    #expect(pump.finish() == 0)
    #expect(pump.said.hasSuffix("pump: on, 70 %\npump: off\n"), "\(pump.said)")
  }
}
