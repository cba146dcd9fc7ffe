import Confinement
import DaemonSupport
import Foundation
import Glibc
import Logging
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

/// What a child's thread told, for a test to wait for.
private final class Witness: Sendable {
  let reports = Mutex<[ChildReport]>([])
  let words = Mutex<[String]>([])
  private let bell: Doorbell

  init() throws { bell = try Doorbell() }

  func child(_ program: ChildProgram, settings: String? = nil) throws -> Child<ChildLines> {
    try Child(
      program, settings: settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      heard: { [self] word in
        words.withLock { $0.append(word) }
        bell.button.ring()
      },
      changed: { [self] report in
        reports.withLock { $0.append(report) }
        bell.button.ring()
      })
  }

  /// A shell that runs a script.
  func shell(_ script: String, settings: String? = nil, silence: Nanoseconds? = nil) throws -> Child<ChildLines> {
    try child(ChildProgram("/bin/sh", ["-c", script], called: "the shell", silence: silence), settings: settings)
  }

  func waits(_ condition: () -> Bool) -> Bool {
    let until = MonotonicClock.now + .seconds(60)
    while !condition() {
      guard MonotonicClock.now < until else { return false }
      bell.wait(limit: .milliseconds(200))
    }
    return true
  }

  func hears(_ word: String) -> Bool { waits { words.withLock { $0.contains(word) } } }

  func report(_ condition: (ChildReport) -> Bool) -> ChildReport? {
    _ = waits { reports.withLock { $0.contains(where: condition) } }
    return reports.withLock { $0.last(where: condition) }
  }
}

@Suite("a program beside the daemon", .ownThread, .serialized)
struct ChildTests {
  /// Says what it is told first, and each order with its number.
  private static let echo =
    "read -r first <&3; echo \"set $first\" >&3; while read -r line <&3; do echo \"$$ $line\" >&3; done"

  @Test(
    "a shell: told its settings, then orders; each is answered; with other settings it is another process, which is told them"
  )
  func talks() throws {
    let witness = try Witness()
    let child = try witness.shell(Self.echo, settings: "one")
    child.start()
    defer { child.stop() }
    #expect(witness.hears("set one"))
    let first = try #require(witness.report { $0.process != nil }?.process)
    child.send("hello")
    #expect(witness.hears("\(first) hello"))
    let isTold = Mutex(false)
    child.replace("two") { isTold.withLock { $0 = true } }
    #expect(witness.hears("set two"))
    #expect(isTold.withLock { $0 })
    let second = try #require(witness.report { $0.starts == 2 && $0.process != nil })
    #expect(second.process != first && second.ends == 1 && second.cause == nil)
  }

  @Test("it ends: its last words say why, and it is started anew; orders while none runs are lost")
  func ends() throws {
    let witness = try Witness()
    let child = try witness.shell("echo 'the sensor is gone' >&2; exit 3")
    child.send("lost")
    child.start()
    defer { child.stop() }
    let ended = try #require(witness.report { $0.ends == 1 && $0.process == nil })
    #expect(ended.cause == "it ended with status 3: the sensor is gone" && ended.nextStart != nil)
    #expect(witness.report { $0.starts == 2 } != nil)
  }

  @Test("it says nothing although it should: killed, and started anew; one that need not say anything lives")
  func silent() throws {
    let witness = try Witness()
    let child = try witness.shell("sleep 100; :", silence: .milliseconds(300))
    child.start()
    let ended = try #require(witness.report { $0.ends == 1 })
    #expect(ended.cause?.contains("said nothing") == true)
    child.stop()
    let quiet = try Witness()
    let other = try quiet.shell("exec 4<&3; read -r line <&4; echo \"$line\" >&3; sleep 100")
    other.start()
    defer { other.stop() }
    _ = quiet.report { $0.process != nil }
    other.send("still there")
    #expect(quiet.hears("still there") && quiet.reports.withLock { $0.allSatisfy { $0.ends == 0 } })
  }

  @Test("nonsense: killed for it")
  func nonsense() throws {
    let witness = try Witness()
    let child = try witness.shell("head -c 200000 /dev/zero >&3; sleep 100")
    child.start()
    defer { child.stop() }
    let report = try #require(witness.report { $0.cause != nil })
    #expect(report.process == nil && report.cause?.contains("a line of more than 65536 bytes") == true)
  }

  @Test("a file for it: made here and handed over open; one that exists already is not, and why is said")
  func files() throws {
    let folder = try TemporaryFolder()
    let witness = try Witness()
    let child = try witness.shell("while read -r line <&3; do echo \"$line\" >&3; done")
    child.start()
    defer { child.stop() }
    _ = witness.report { $0.process != nil }
    let reason = Mutex("")
    child.send("record", withNewFile: folder.path("a")) { why in reason.withLock { $0 = why } }
    child.sendBehindFiles("stop")
    #expect(witness.hears("record") && witness.hears("stop"))
    #expect(FileManager.default.fileExists(atPath: folder.path("a")))
    child.send("again", withNewFile: folder.path("a")) { why in reason.withLock { $0 = why } }
    #expect(witness.waits { reason.withLock { $0.contains("exists") } })
    #expect(!witness.words.withLock { $0.contains("again") })
  }

  @Test("stop: the process is gone when it returns")
  func stop() throws {
    let witness = try Witness()
    let child = try witness.shell("sleep 100; :")
    child.start()
    let process = try #require(witness.report { $0.process != nil }?.process)
    child.stop()
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }

  @Test("confined: it reads the system's programs, writes nothing, and hears and says all the same")
  func confined() throws {
    let folder = try TemporaryFolder()
    let witness = try Witness()
    let script =
      "touch \(folder.path("made")) 2>/dev/null; read -r line <&3; echo \"$line $(grep -c NoNewPrivs:.1 /proc/self/status)\" >&3; sleep 100"
    let words = ConfinedChild.arguments(readable: [], devices: [])
    // The program of the tests is not the daemon's, which is the one that a declaration starts.
    let declared = ChildProgram.confined(["/bin/sh", "-c", script], called: "the shell")
    #expect(declared.arguments == ["child"] + words + ["/bin/sh", "-c", script])
    let child = try witness.child(
      ChildProgram(
        TactusProcess.executable.path(percentEncoded: false), ["child"] + words + ["/bin/sh", "-c", script],
        called: "the shell"))
    child.start()
    defer { child.stop() }
    _ = witness.report { $0.process != nil }
    child.send("confined:")
    #expect(witness.hears("confined: 1"))
    if Confinement.landlockVersion > 0 { #expect(!FileManager.default.fileExists(atPath: folder.path("made"))) }
  }

  @Test("lines: cut where they end, byte by byte; a line without an end is refused")
  func lines() throws {
    var lines = ChildLines()
    var found: [String] = []
    for byte in Array("one\n\ntwo\nrest".utf8) {
      lines.append([byte])
      while let line = try lines.next() { found.append(line) }
    }
    #expect(found == ["one", "", "two"])
    lines.append([UInt8](repeating: 0x61, count: ChildLines.limit))
    #expect(throws: ChildLines.LineTooLong.self) { try lines.next() }
    #expect(ChildLines.bytes(of: "a\nb") == Array("ab\n".utf8))
  }
}
