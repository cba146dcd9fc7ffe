import DaemonSupport
import Foundation
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon
@testable import TactusGuard

@Suite("the guard's note", .ownThread)
struct SafeStateNoteTests {
  private let folder: TemporaryFolder
  private let note: SafeStateNote
  private let file: Int32
  private let writes: [SafeStateWrite] = [.serial(path: "/dev/ttyAMA0", baud: 115_200, bytes: [0x55, 0x00])]

  init() throws {
    folder = try TemporaryFolder()
    note = SafeStateNote(beside: folder.path("safe-state"))
    file = open(note.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
    try #require(file >= 0)
  }

  private func report(_ subject: GuardReport.Subject, ago: Nanoseconds = .zero) -> GuardReport {
    GuardReport(subject: subject, failures: [], attempt: 1, began: MonotonicClock.now - ago)
  }

  @Test("silence, then death: the first write counts, as nothing ran after it")
  func first() throws {
    var writer = SafeStateNote.Writer(file, writes, of: "the daemon")
    let before = BootClock.now
    writer.receive(report(.madeSafe(.lapse), ago: .seconds(100)))
    let after = BootClock.now
    let first = try #require(note.read())
    #expect(first.writes == writes.map(\.description) && first.cause.hasPrefix("the daemon's heartbeat has lapsed"))
    // The two clocks are read one after the other.
    let slack = Nanoseconds.seconds(1)
    #expect(before - first.at <= .seconds(100) + slack && .seconds(100) - slack <= after - first.at)
    writer.receive(report(.madeSafe(.death)))
    let last = try #require(note.read())
    #expect(last.at == first.at && last.cause.hasPrefix("the daemon is gone"))
    #expect(first.last == first.at && .seconds(90) < last.last - last.at)
    // A stop hook is another write.
    note.noteHook(writes, began: MonotonicClock.now + .seconds(100))
    let hooked = try #require(note.read())
    #expect(hooked.at == first.at && .seconds(90) < hooked.last - last.last && hooked.cause == last.cause)
    close(file)
  }

  @Test("the program is back: the note is over, and a later write is another one")
  func over() throws {
    var writer = SafeStateNote.Writer(file, writes, of: "the daemon")
    writer.receive(report(.madeSafe(.lapse), ago: .seconds(100)))
    writer.receive(report(.back))
    #expect(note.read() == nil && access(note.path, F_OK) == 0)
    let before = BootClock.now
    writer.receive(report(.madeSafe(.death)))
    #expect(before - (try #require(note.read())).at < .seconds(90))
    close(file)
  }

  @Test("an orderly end leaves nothing, unless a store did not take how the outputs ended: then when that was")
  func orderly() throws {
    close(file)
    note.end(unkept: [.zero + .seconds(7), .zero + .seconds(8)])
    let left = try #require(note.read())
    #expect(left.isOrderly && left.boot == BootClock.boot && left.writes.isEmpty)
    #expect(left.instants(in: BootClock.boot) == [.zero + .seconds(7), .zero + .seconds(8)])
    #expect(left.instants(in: BootID("1")).isEmpty)
    #expect(!note.isOfOthers)
    note.noteHook(writes, began: MonotonicClock.now)
    #expect(note.read() == left, "a stop hook follows an orderly end, too")
    note.end()
    #expect(note.read() == nil && access(note.path, F_OK) != 0)
    let (before, now) = (TickInstant.zero + .seconds(3), TickInstant.zero + .seconds(9))
    #expect(KeptOutcome.ends([.known, .known], before: [before], now: now) == [])
    #expect(KeptOutcome.ends([.known, .unknown, .unknownBefore], before: [before], now: now) == [now])
    #expect(KeptOutcome.ends([.known, .unknownBefore], before: [before, before], now: now) == [before, before])
    #expect(KeptOutcome.ends([.unknownBefore], before: [], now: now) == [now])
  }

  @Test("a note that was cut short or is of another kind: none")
  func damaged() throws {
    let whole = MadeSafe(
      boot: nil, at: .zero + .seconds(5), time: "2026-02-03T04:05:06Z", cause: "c", writes: ["a", "b"]
    ).note()
    #expect(MadeSafe(note: whole)?.writes == ["a", "b"])
    for count in 0..<whole.utf8.count {
      #expect(MadeSafe(note: String(whole.prefix(count))) == nil, "\(count) bytes")
    }
    close(file)
  }
}
