import BusesLinux
import DaemonSupport
import Foundation
import TestSupport
import Testing

/// A daemon of one declared system, `declared-probe`, as a program: its heater hangs on a pseudo-terminal, and hears one byte in every tick.
///
/// Nothing here sleeps: every step waits for bytes on the terminal, for an answer or for a line of the log, with a limit. The guard's time-out is
/// long: a loaded machine is to exceed it only where a test lets it.
@Suite("a declared system in a daemon", .serialized, .ownThread)
struct DeclaredProcessTests {
  static let program = TactusProcess.executable.deletingLastPathComponent().appending(path: "declared-probe")

  private let terminal: LinuxPTY
  private let daemon: TactusProcess
  private let folder: TemporaryFolder
  private let port: String

  init() throws {
    terminal = try LinuxPTY()
    folder = try TemporaryFolder()
    let config = try folder.write(Self.config(terminal.path), to: "config.yaml")
    daemon = try TactusProcess(
      executable: Self.program, ["run", "--config", config], environment: ["HOME": folder.path("home")])
    let line = try #require(daemon.line(with: "serving http"), "\(daemon.said)")
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    port = String(try #require((object?["listen"] as? String)?.split(separator: ":").last))
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
  }

  private static func config(_ device: String, _ more: String = "") -> String {
    """
    network: { http_port: 0 }
    service: { auth: none, bonjour: false }
    oven:
      device: \(device)
      \(more)
    safety: { watchdog_timeout: 10 }
    """
  }

  /// The program beside the daemon: its status, and what it said.
  private func command(_ arguments: String...) throws -> (status: Int32?, said: String) {
    let process = try TactusProcess(executable: Self.program, arguments)
    let status = process.finish()
    return (status, process.said)
  }

  private func call(_ arguments: String...) throws -> (status: Int32?, said: String) {
    let process = try TactusProcess(executable: Self.program, ["call", "--port", port, "--json"] + arguments)
    let status = process.finish()
    return (status, process.said)
  }

  /// Waits until the heater hears this.
  private func hear(_ power: UInt8, sourceLocation: SourceLocation = #_sourceLocation) {
    while let bytes = readWhenReady(terminal.descriptor), !bytes.isEmpty {
      if bytes.contains(power) { return }
    }
    Issue.record("the heater did not hear \(power)", sourceLocation: sourceLocation)
  }

  private func heat(_ power: Int) throws {
    let answer = try call("oven", "heat", "powerPercent=\(power)", "zone=left")
    try #require(answer.status == 0, "\(answer.said)")
    hear(UInt8(power))
  }

  private func end() {
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }

  @Test("heating, kill -9: the guard writes what the declaration says")
  func killed() throws {
    try heat(40)
    kill(daemon.identifier, SIGKILL)
    hear(0)
    #expect(daemon.waitFor("the daemon is gone: every actuator was sent its safe state; nothing confirms it on "))
    #expect(daemon.finish() == nil)
  }

  @Test("heating, SIGSTOP: the guard writes it after the time-out; SIGCONT: it heats only when it is told anew")
  func stopped() throws {
    try heat(40)
    kill(daemon.identifier, SIGSTOP)
    hear(0)
    #expect(
      daemon.waitFor(
        "the daemon's heartbeat has lapsed: every actuator was sent its safe state; nothing confirms it on "))
    tcflush(terminal.descriptor, TCIFLUSH)
    kill(daemon.identifier, SIGCONT)
    #expect(daemon.waitFor("the daemon's heartbeat is back"))
    var heard: [UInt8] = []
    while heard.count < 100, let bytes = readWhenReady(terminal.descriptor) { heard += bytes }
    // A tick that was stopped in its middle may write what it had decided, once.
    #expect(heard.count >= 100 && heard.filter { $0 == 40 }.count <= 1, "\(heard)")
    try heat(40)
    end()
    hear(0)
  }

  @Test(
    "commands: a refusal says why and how to leave it; e-stop and reset of all systems; values out of range name their range"
  )
  func commands() throws {
    try heat(60)
    #expect(daemon.waitFor("the oven heats with half of its power or more: 60 %"))
    #expect(try call("e-stop").status == 0)
    hear(0)
    let refused = try call("oven", "heat", "powerPercent=60", "zone=left")
    #expect(refused.status == 1 && refused.said.contains("emergency-stopped; reset it first"), "\(refused.said)")
    #expect(try call("reset").status == 0)
    // Nothing to reset is no error of the reset of all, and one of its own.
    #expect(try call("reset").status == 0)
    #expect(try call("oven", "reset").said.contains("the oven is not emergency-stopped"))
    let wrong = try call("oven", "heat", "powerPercent=101", "zone=left")
    #expect(wrong.status != 0 && wrong.said.contains("1…100"), "\(wrong.said)")
    let zone = try call("oven", "heat", "powerPercent=10", "zone=top")
    #expect(zone.status != 0 && zone.said.contains("left"), "\(zone.said)")
    end()
  }

  @Test("a parameter with a default may be left out, in documents and requests; one without may not")
  func defaults() throws {
    let answer = try call("oven", "heat", "powerPercent=40")
    #expect(answer.status == 0, "\(answer.said)")
    hear(40)
    let lacking = try call("oven", "heat", "zone=right")
    #expect(lacking.status != 0 && lacking.said.contains("powerPercent"), "\(lacking.said)")
    let listed = try command("call", "--port", port)
    #expect(listed.said.contains("powerPercent=INTEGER(1…100 %) [zone=left|right]"), "\(listed.said)")
    let declared = try call("systems")
    #expect(declared.said.contains(#""standard":"left""#), "\(declared.said)")
    end()
  }

  @Test(
    "reload: a tighter limit cuts what runs, a wider one waits for the safe state; wiring is refused with its place")
  func reload() throws {
    try heat(70)
    _ = try folder.write(Self.config(terminal.path, "most_percent: 30"), to: "config.yaml")
    let tighter = try command("reload", "--port", port)
    #expect(tighter.status == 0 && tighter.said.contains("oven.most_percent: 80 → 30"), "\(tighter.said)")
    hear(30)
    _ = try folder.write(Self.config(terminal.path, "most_percent: 90"), to: "config.yaml")
    let wider = try command("reload", "--port", port)
    #expect(wider.status == 0 && wider.said.contains("wider limits of oven take effect after the next safe state"))
    // It still heats with what was allowed.
    hear(30)
    #expect(try call("oven", "off").status == 0)
    hear(0)
    try heat(85)
    let same = try command("reload", "--port", port)
    #expect(same.status == 0 && same.said.contains("nothing has changed"), "\(same.said)")
    _ = try folder.write(Self.config("/dev/ttyS9", "most_percent: 50"), to: "config.yaml")
    let wired = try command("reload", "--port", port)
    #expect(
      wired.status == 1
        && wired.said.contains(
          "config.yaml:4:11: oven.device: expected \(terminal.path) until the next start, got /dev/ttyS9"),
      "\(wired.said)")
    // Nothing of it was taken.
    hear(85)
    _ = try folder.write(Self.config(terminal.path, "least_percent: 95"), to: "config.yaml")
    let wrong = try command("reload", "--port", port)
    #expect(wrong.status == 1 && wrong.said.contains("oven.most_percent: expected at least oven.least_percent (95)"))
    end()
  }

  @Test("check, reference, schema: of the declared keys, and of no system of tactus")
  func documents() throws {
    let reference = try command("check", "--reference").said
    #expect(reference.contains("  most_percent: 80\n") && reference.contains("`declared-probe reload` may change it."))
    #expect(!reference.contains("motors:") && !reference.contains("zones:") && !reference.contains("robot"))
    let file = try folder.write(
      "oven: { most_percent: 101, gian: 2 }\nruntime: { oven: { cpu: 0 } }\n", to: "wrong.yaml")
    let checked = try command("check", file)
    #expect(checked.status == 78)
    #expect(
      checked.said.contains("wrong.yaml:1:23: oven.most_percent: expected an integer 1…100, got 101"), "\(checked.said)"
    )
    #expect(checked.said.contains("oven.gian: expected a known key"))
    // A text that must be given, beside other errors, and beside none.
    let missing = "oven.device: expected text, got nothing: it has no default"
    #expect(checked.said.contains("wrong.yaml:1:1: \(missing)"), "\(checked.said)")
    let bare = try command("check", folder.write("network: { http_port: 0 }\noven:\n", to: "bare.yaml"))
    #expect(bare.status == 78 && bare.said.contains("bare.yaml:2:1: \(missing)"), "\(bare.said)")
    let empty = try command("check", folder.write("oven: { device: '' }\n", to: "empty.yaml"))
    #expect(empty.status == 78 && empty.said.contains("empty.yaml:1:17: oven.device: expected text"), "\(empty.said)")
    #expect(!empty.said.contains("no default"), "\(empty.said)")
    #expect(reference.contains("  # The serial line. It must be given. (text)\n  # device:\n"), "\(reference)")
    let slow = try folder.write(
      "oven: { device: /dev/ttyS9 }\nruntime: { oven: { scheduling: deadline, budget_us: 20000 } }\n", to: "slow.yaml")
    let budget = try command("check", slow)
    #expect(budget.status == 78)
    #expect(
      budget.said.contains(
        "slow.yaml:2:53: runtime.oven.budget_us: expected less than the period of 20000 µs, got 20000"),
      "\(budget.said)")
    let schema = try command("schema").said
    #expect(schema.contains("\"most_percent\"") && schema.contains("\"required\""))
    end()
  }
}
