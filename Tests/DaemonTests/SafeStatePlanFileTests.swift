import BusesLinux
import DaemonSupport
import Foundation
import Service
import Tactus
import TactusGuard
import TestSupport
import Testing

@testable import TactusDaemon

/// The plan that a daemon leaves for a stop hook, and what `tactus guard --once` makes of it: a pseudo-terminal stands for the serial line
/// of an xgo-rider.
@Suite("safe-state plan file", .serialized, .ownThread)
struct SafeStatePlanFileTests {
  /// Both frames twice, as the daemon's own plan has them.
  private static let stop = GuardProcessTests.neutral + GuardProcessTests.neutral
  private static let writes: [SafeStateWrite] = [
    .gpio(path: "/dev/gpiochip0", lines: [.init(offset: 17, isActiveLow: true)], descriptor: nil),
    .i2cByte(path: "/dev/i2c-10", address: 0x16, register: 2, byte: 0), .custom(name: "pump", text: "HMSoft@hci0"),
  ]

  private let terminal: LinuxPTY
  private let folder: TemporaryFolder
  private let motors: String
  /// What a person leaves who has not finished editing.
  private let broken: String

  init() throws {
    terminal = try LinuxPTY()
    folder = try TemporaryFolder()
    motors = "backend: xgo-rider, serial_device: \(terminal.path)"
    broken = try folder.write("motors: { \(motors), acceleration: soon }", to: "broken.yaml")
  }

  private func guardOnce(_ config: String, plan: String? = nil, _ more: [String: String] = [:]) throws -> TactusProcess
  {
    try TactusProcess(
      ["guard", "--once", "--config", config] + (plan.map { ["--plan", $0] } ?? []), environment: more)
  }

  private func plan(_ writes: [SafeStateWrite]) throws -> String {
    let file = try #require(SafeStatePlanFile(folder.path("safe-state"), environment: [:]))
    try file.replace(with: writes)
    return file.path
  }

  private func stop(on path: String) -> SafeStateWrite { .serial(path: path, baud: 115_200, bytes: Self.stop) }

  @Test("what was left is read again; the same file for two plans holds the second")
  func roundTrip() throws {
    let file = try #require(SafeStatePlanFile(try plan([]), environment: [:]))
    #expect(file.read() == .whole([]))
    try file.replace(with: Self.writes)
    #expect(file.read() == .whole(Self.writes))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == ["broken.yaml", "safe-state"])
  }

  @Test("its place: as given, or in the first runtime directory, or none")
  func place() {
    let environment = ["RUNTIME_DIRECTORY": "/run/tactus:/run/other"]
    #expect(SafeStatePlanFile("/x", environment: environment)?.path == "/x")
    #expect(SafeStatePlanFile(nil, environment: environment)?.path == "/run/tactus/safe-state")
    #expect(SafeStatePlanFile(nil, environment: [:]) == nil)
  }

  @Test("cut anywhere: damaged, and no line is taken that is not whole")
  func cut() throws {
    let path = try plan(Self.writes)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for length in 0..<text.count {
      guard case .damaged(let readable, _) = SafeStatePlanFile.contents(String(text.prefix(length))) else {
        Issue.record("\(length) characters of \(text.count) are taken for a plan")
        continue
      }
      #expect(Self.writes.starts(with: readable))
    }
  }

  @Test(
    "a line that is no write of a plan: damaged, the reason names it, the others are readable",
    arguments: ["i2c-byte:16:02:0:/dev/i2c-1", "program:/bin/sh -c true", "gpio:4:17:/dev/gpiochip0", "other:text"])
  func foreignLine(line: String) {
    let text = "tactus safe-state plan 1\n\(line)\npwm:/sys/class/pwm/pwmchip0/pwm0\nend 2\n"
    #expect(
      SafeStatePlanFile.contents(text)
        == .damaged(
          readable: [.pwm(path: "/sys/class/pwm/pwmchip0/pwm0")],
          reason: "line 2: expected a write, got \"\(line)\""))
  }

  @Test("it cannot be written: the old one is gone, since it is not in effect")
  func unwritable() throws {
    // No room for the name of the file beside it that is to take its place.
    let old = try folder.write("tactus safe-state plan 1\nend 0\n", to: String(repeating: "n", count: 250))
    let file = try #require(SafeStatePlanFile(old, environment: [:]))
    #expect(file.read() == .whole([]))
    #expect(throws: (any Error).self) { try file.replace(with: Self.writes) }
    #expect(file.read() == .missing)
  }

  @Test("lines held by the daemon: each a write of its own, without the daemon's descriptor")
  func heldLines() throws {
    let one = SafeStatePlan.write(for: .init(offset: 17, isActiveLow: true), of: "/dev/gpiochip0")
    #expect(one.description == "gpio:-:!17:/dev/gpiochip0")
  }

  @Test("configuration broken, plan whole: the plan is written, status 0")
  func brokenConfiguration() throws {
    let program = try guardOnce(broken, plan: try plan([stop(on: terminal.path)]))
    #expect(program.finish() == 0, "\(program.said)")
    #expect(readWhenReady(terminal.descriptor) == Self.stop)
    #expect(program.said.contains("every actuator was sent its safe state"))
  }

  @Test(
    "the hook notes when it turned what off, beside when the guard first did; an orderly end leaves no note, and gets none"
  )
  func note() throws {
    let plan = try plan([stop(on: terminal.path)])
    let note = SafeStateNote(beside: plan)
    let before = BootClock.now
    for text in ["", "tactus guard wrote the safe state 1\nboot"] {
      _ = try folder.write(text, to: "safe-state-written")
      #expect(try guardOnce(broken, plan: plan).finish() == 0)
      let left = try #require(note.read())
      #expect(left.at >= before && left.at <= BootClock.now && left.boot == BootClock.boot)
      #expect(left.cause.contains("stop hook") && left.writes == [stop(on: terminal.path).description])
    }
    let guards = MadeSafe(boot: BootClock.boot, at: before, time: "t", cause: "the daemon is gone", writes: [])
    _ = try folder.write(guards.note(), to: "safe-state-written")
    #expect(try guardOnce(broken, plan: plan).finish() == 0)
    var left = try #require(note.read())
    #expect(before < left.last && left.last <= BootClock.now)
    left.last = before
    #expect(left == guards)
    // One of another boot says nothing of this one.
    var others = guards
    others.boot = BootID("1")
    _ = try folder.write(others.note(), to: "safe-state-written")
    #expect(try guardOnce(broken, plan: plan).finish() == 0)
    #expect(note.read()?.boot == BootClock.boot && note.read()?.cause.contains("stop hook") == true)
    note.end()
    #expect(try guardOnce(broken, plan: plan).finish() == 0)
    #expect(note.read() == nil && !FileManager.default.fileExists(atPath: note.path))
  }

  @Test("no configuration, a plan with nothing to write: status 0, nothing said")
  func emptyPlan() throws {
    let program = try guardOnce(folder.path("none.yaml"), plan: try plan([]))
    #expect(program.finish() == 0)
    #expect(program.said == "")
  }

  @Test(
    "configuration broken, no plan: status 78, names the key, the plan that is missing, and that nothing was written")
  func nothingThere() throws {
    let program = try guardOnce(broken, plan: folder.path("none"))
    #expect(program.finish() == 78)
    #expect(program.said.contains("broken.yaml:1:") && program.said.contains("acceleration"))
    #expect(
      program.said.contains(
        "nothing was written to any actuator: there is no safe-state plan at \(folder.path("none")), and the configuration "
          + "cannot be used"))
    #expect(readWhenReady(terminal.descriptor, limit: 0) == nil)
  }

  @Test("plan damaged: says so, and the configuration's writes are made")
  func damaged() throws {
    let config = try folder.write("motors: { \(motors) }", to: "config.yaml")
    let path = try folder.write("tactus safe-state plan 1\nserial:115200:55", to: "safe-state")
    let program = try guardOnce(config, plan: path)
    #expect(program.finish() == 0)
    #expect(program.said.contains("the safe-state plan is damaged: what can be read of it is written, then"))
    #expect(readWhenReady(terminal.descriptor) == Self.stop)
  }

  @Test("plan damaged, the configuration has other motors since: both boards are told to stop")
  func damagedAndOther() throws {
    let other = try LinuxPTY()
    let config = try folder.write(
      "motors: { \(motors.replacing(terminal.path, with: other.path)) }", to: "config.yaml")
    let path = try folder.write(
      "tactus safe-state plan 1\n\(stop(on: terminal.path))\nserial:115200:55", to: "safe-state")
    #expect(try guardOnce(config, plan: path).finish() == 0)
    #expect(readWhenReady(terminal.descriptor) == Self.stop)
    #expect(readWhenReady(other.descriptor) == Self.stop)
  }

  @Test("plan damaged, configuration broken: what can be read of the plan is written, status 78")
  func bothBroken() throws {
    let path = try folder.write(
      "tactus safe-state plan 1\n\(stop(on: terminal.path))\nserial:115200:55", to: "safe-state")
    let program = try guardOnce(broken, plan: path)
    #expect(program.finish() == 78)
    #expect(readWhenReady(terminal.descriptor) == Self.stop)
    #expect(program.said.contains("neither the plan nor the configuration can be used as a whole"))
  }

  @Test("the daemon leaves its plan before it touches the motors; the hook makes it though the file is broken since")
  func daemonLeavesIt() throws {
    let text = "network: { motor_udp_port: 0, http_port: 0 }\nmotors: { \(motors) }\n"
    let config = try folder.write(text, to: "config.yaml")
    let environment = ["RUNTIME_DIRECTORY": folder.path("")]
    let daemon = try TactusProcess(["run", "--config", config], environment: environment)
    try #require(readWhenReady(terminal.descriptor) != nil, "\(daemon.said)")
    let file = try #require(SafeStatePlanFile(nil, environment: environment))
    #expect(file.read() == .whole([stop(on: terminal.path)]))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
    while readWhenReady(terminal.descriptor, limit: 0) != nil {}

    _ = try folder.write(text + "nonsense: true\n", to: "config.yaml")
    let hook = try guardOnce(config, environment)
    #expect(hook.finish() == 0, "\(hook.said)")
    #expect(readWhenReady(terminal.descriptor) == Self.stop)
  }

  @Test("the daemon simulates: its plan has nothing to write")
  func simulated() throws {
    let path = try plan([stop(on: terminal.path)])
    let config = try folder.write(
      "network: { motor_udp_port: 0, http_port: 0 }\nmotors: { \(motors) }", to: "config.yaml")
    let daemon = try TactusProcess(["run", "--config", config, "--simulate", "--plan", path])
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
    #expect(SafeStatePlanFile(path, environment: [:])?.read() == .whole([]))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }
}
