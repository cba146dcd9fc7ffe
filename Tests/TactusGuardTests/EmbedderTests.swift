import Foundation
import TestSupport
import Testing

/// Every way in which an embedder's program ends, with its guard beside it. A test waits for what must come and never for a time.
@Suite("guard: an embedder's program", .ownThread)
struct EmbedderTests {
  @Test(
    "the program ends without a word: the safe state is written, and the guard ends",
    arguments: ["return", "exit", "throw", "abort", "trap", "terminate"])
  func ending(_ ending: String) throws {
    let probe = try GuardProbeProcess(ending)
    #expect(probe.isMadeSafe())
    let said = probe.finish()
    #expect(said.contains("the program is gone: every output was put into its safe state"), "\(said)")
    // The guard is the same executable, and does not run its main.
    #expect(said.components(separatedBy: "main of").count == 2, "\(said)")
  }

  @Test(
    "the program is killed, terminated or interrupted: the safe state is written",
    arguments: [SIGKILL, SIGTERM, SIGINT])
  func killed(signal: Int32) throws {
    let probe = try GuardProbeProcess("wait")
    #expect(probe.says("guarding"))
    probe.signal(signal)
    #expect(probe.isMadeSafe())
    #expect(probe.finish().contains("the program is gone"))
  }

  @Test(
    "the program is stopped: the safe state is written after the time-out; continued: the guard hears it again, and the program is told"
  )
  func stopped() throws {
    let probe = try GuardProbeProcess("wait", timeout: 300)
    #expect(probe.says("guarding"))
    probe.signal(SIGSTOP)
    #expect(probe.says("the program's heartbeat has lapsed: every output was put into its safe state"))
    #expect(probe.isMadeSafe())
    probe.signal(SIGCONT)
    #expect(probe.says("the program's heartbeat is back"))
    #expect(probe.says("told madeSafe"))
    probe.signal(SIGKILL)
    #expect(probe.says("the program is gone"))
  }

  @Test("a lane of the program hangs: the safe state is written after the time-out, though heartbeats come")
  func hang() throws {
    let probe = try GuardProbeProcess("hang", timeout: 3_000)
    #expect(probe.isMadeSafe())
    #expect(probe.says("the program's watched loop 0 does not advance: every output was put into its safe state"))
    probe.signal(SIGKILL)
    _ = probe.finish()
  }

  @Test("the program stops cleanly and dismisses its guard: nothing is written, nothing said, nobody left")
  func dismissal() throws {
    let probe = try GuardProbeProcess("stop")
    let said = probe.finish()
    #expect(said.contains("dismissed, dismissed") && !said.contains("guard of process"), "\(said)")
    #expect(probe.isUntouched)
  }

  @Test("the program asks for the safe state: it is written at once, the program goes on")
  func asked() throws {
    let probe = try GuardProbeProcess("ask")
    #expect(probe.isMadeSafe())
    #expect(probe.says("the program has asked for it: every output was put into its safe state"))
    probe.signal(SIGKILL)
    #expect(probe.isMadeSafe())
    _ = probe.finish()
  }

  @Test("the guard is killed: the program is told, and another can be had")
  func guardKilled() throws { try expectReplacement(after: SIGKILL, told: "told died") }

  @Test("the guard hangs: the program is told, and another can be had")
  func guardHangs() throws { try expectReplacement(after: SIGSTOP, told: "told hangs") }

  private func expectReplacement(after signal: Int32, told: String) throws {
    let probe = try GuardProbeProcess("replace", timeout: 10_000)
    #expect(probe.says("guarding"))
    let first = try #require(probe.guardIdentifier)
    kill(first, signal)
    #expect(probe.says(told))
    #expect(probe.says("replaced"))
    #expect(try #require(probe.guardIdentifier) != first)
    probe.signal(SIGKILL)
    #expect(probe.isMadeSafe())
    _ = probe.finish()
  }

  @Test("a program is to be run: it is, and its end is the confirmation")
  func program() throws {
    let probe = try GuardProbeProcess("program")
    #expect(probe.isMadeSafe())
    #expect(probe.says("the program is gone: every output was put into its safe state"))
    _ = probe.finish()
  }

  @Test("signals of a terminal or a service manager: the guard, in a session of its own, ignores them")
  func signals() throws {
    let probe = try GuardProbeProcess("wait")
    #expect(probe.says("guarding"))
    let guardian = try #require(probe.guardIdentifier)
    #expect(getsid(guardian) == guardian)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP] { kill(guardian, signal) }
    probe.signal(SIGKILL)
    #expect(probe.isMadeSafe())
    _ = probe.finish()
  }
}
