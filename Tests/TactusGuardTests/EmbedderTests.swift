import Foundation
import Tactus
import TactusGuard
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
    #expect(said.contains("the program is gone: every output was sent its safe state"), "\(said)")
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
    #expect(probe.says("the program's heartbeat has lapsed: every output was sent its safe state"))
    #expect(probe.isMadeSafe())
    probe.signal(SIGCONT)
    #expect(probe.says("the program's heartbeat is back"))
    #expect(probe.says("told madeSafe"))
    probe.signal(SIGKILL)
    #expect(probe.says("the program is gone"))
  }

  @Test("a stopped program comes back: its loops are asked for their safe state")
  func continued() throws {
    let probe = try GuardProbeProcess("wait", timeout: 300)
    #expect(probe.says("guarding"))
    probe.signal(SIGSTOP)
    #expect(probe.isMadeSafe())
    probe.signal(SIGCONT)
    #expect(probe.says("the loop was asked for its safe state"))
    probe.signal(SIGKILL)
    _ = probe.finish()
  }

  @Test("a lane of the program hangs: the safe state is written after the time-out, though heartbeats come")
  func hang() throws {
    let probe = try GuardProbeProcess("hang", timeout: 3_000)
    #expect(probe.isMadeSafe())
    #expect(probe.says("the program's watched loop 0 does not advance: every output was sent its safe state"))
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
    #expect(probe.says("the program has asked for it: every output was sent its safe state"))
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

  @Test("standard error is closed, and the program prints to it: the guard takes that for no message")
  func printing() throws {
    let probe = try GuardProbeProcess("talk", redirections: "2>&-")
    #expect(probe.finish().contains("dismissed, dismissed"))
    #expect(probe.isUntouched)
  }

  @Test("all standard streams are closed: the safe state is written, and what the guard says goes to no device")
  func closedStreams() throws {
    let probe = try GuardProbeProcess("return", redirections: "0<&- 1>&- 2>&-")
    _ = probe.finish()
    #expect(probe.isMadeSafe())
    #expect(probe.isUntouched)
  }

  /// What stands in the place of the guard's end of the socket pair.
  enum Impostor: String, CaseIterable {
    case nothing, streamPair, listenersClient
  }

  @Test("somebody else gives a program a guard's arguments: refused, nothing written", arguments: Impostor.allCases)
  func refused(_ impostor: Impostor) throws {
    var pair: [Int32] = [-1, -1]
    switch impostor {
    case .nothing: pair = [open("/dev/null", O_RDONLY), -1]
    case .streamPair: socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
    case .listenersClient: pair = try connectionWithName()
    }
    defer { for descriptor in pair where descriptor >= 0 { close(descriptor) } }
    let said = Pipe()
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "exec \"$@\" 3<&0", "sh", GuardProbeProcess.program.path, "--tactus-guard", "--descriptor", "3",
      "--timeout-ms", "60000", SafeStateWrite.program(["/bin/echo", "SAFE"]).description,
    ]
    process.standardInput = FileHandle(fileDescriptor: pair[0])
    process.standardOutput = said
    process.standardError = said
    try process.run()
    try said.fileHandleForWriting.close()
    // What would be the program's end: a guard would write now.
    if pair[1] >= 0 { shutdown(pair[1], Int32(SHUT_RDWR)) }
    let text = String(decoding: try said.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 64)
    #expect(text.hasPrefix("--tactus-guard: only this program itself starts its guard"), "\(text)")
    #expect(!text.contains("SAFE"))
  }

  /// Both ends of a connection to a listening socket of this very user.
  private func connectionWithName() throws -> [Int32] {
    let kind = Int32(SOCK_SEQPACKET.rawValue)
    let listener = socket(AF_UNIX, kind, 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The kernel chooses an abstract name.
    var size = socklen_t(MemoryLayout<sa_family_t>.size)
    let client = socket(AF_UNIX, kind, 0)
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, size)
        listen(listener, 1)
        size = socklen_t(MemoryLayout<sockaddr_un>.size)
        getsockname(listener, pointer, &size)
        connect(client, pointer, size)
      }
    }
    let served = accept(listener, nil, nil)
    try #require(served >= 0)
    return [client, served]
  }

  @Test("more loops than a guard can watch: refused, and none of that runtime is watched")
  func tooManyLoops() throws {
    let outputs = try Guard([.program(["/bin/true"])], timeout: .seconds(600))
    defer { outputs.dismiss() }
    let runtime = { (count: Int) in
      try Runtime(lockMemory: false) {
        Lane("motion") { for index in 0..<count { Loop("loop-\(index)", every: .hertz(100)) { Idle() } } }
      }
    }
    try outputs.watch(runtime(40))
    #expect(throws: GuardError.tooManyLoops(65)) { try outputs.watch(runtime(25)) }
    try outputs.watch(runtime(24))
  }

  private struct Idle: ~Copyable, ControlLoop, NoOutput {
    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {}
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
