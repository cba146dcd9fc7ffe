import Foundation
import Sprinkler
import StoreSupport
import Tactus
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("A write-ahead log that is not whole", .ownThread)
struct LogFlawTests {
  /// A store as a kill leaves it: a file, and a log that was never folded into it, of `last` − 1 changes behind those of the opening.
  private struct Scene {
    let file: [UInt8]
    let log: [UInt8]
    let last = 20

    init() throws {
      let folder = try StoreFolder()
      let store = SprinklerStore(try folder.open().file)
      for run in 2...last { try store.apply([.counters(nextRun: UInt64(run), nextProgram: 1)]) }
      (file, log) = (try folder.bytes(folder.store), try folder.bytes(folder.store + "-wal"))
      try store.file.close()
    }

    /// How many changes are there, and what was said, of a store with this log; and of one that is opened once more.
    func open(_ log: [UInt8]) throws -> (kept: Int, report: StoreReport, isRecovered: Bool, aside: [[UInt8]]) {
      let folder = try StoreFolder()
      try FileManager.default.createDirectory(atPath: folder.path + "/data", withIntermediateDirectories: true)
      try folder.put(file, in: folder.store)
      try folder.put(log, in: folder.store + "-wal")
      let (store, report) = try folder.open()
      let isRecovered = store.isRecovered
      let kept = Int(try SprinklerStore(store).records().nextRun)
      let aside = try folder.names().filter { $0.contains("-wal.damaged-") }.map {
        try folder.bytes(folder.path + "/data/" + $0)
      }
      // As a kill leaves this one, too.
      let (again, rest) = (try folder.bytes(folder.store), try folder.bytes(folder.store + "-wal"))
      try store.close()
      try folder.put(again, in: folder.store)
      try folder.put(rest, in: folder.store + "-wal")
      let (_, second) = try folder.with { _ in }
      #expect(second.logFlaw == nil, "told once")
      return (kept, report, isRecovered, aside)
    }
  }

  @Test("whole, or cut off before the last change's end: nothing is said")
  func whole() throws {
    let scene = try Scene()
    let (kept, report, isRecovered, _) = try scene.open(scene.log)
    #expect(kept == scene.last && report.logFlaw == nil && !isRecovered && report.loss == nil)
    #expect(try scene.open(Array(scene.log.dropLast(1))).report.logFlaw == nil)
    #expect(try scene.open([]).report.logFlaw == nil)
  }

  @Test("the last change is torn: it is dropped, which is said, and is no loss")
  func torn() throws {
    let scene = try Scene()
    var log = scene.log
    log[log.count - 100] ^= 0xFF
    let (kept, report, isRecovered, aside) = try scene.open(log)
    #expect(kept == scene.last - 1)
    let flaw = try #require(report.logFlaw)
    #expect(flaw.transactions == 1 && !flaw.isLoss && !report.isLoss && !isRecovered && aside.isEmpty)
    #expect(report.lines.last?.contains("is not whole, as a power cut leaves it") == true, "\(report.lines)")
  }

  @Test("one byte flipped, 100 times at random: what is kept is what was before, what is lost is said, the log is kept")
  func flips() throws {
    let scene = try Scene()
    var random = SplitMix64(seed: 7)
    var losses = 0
    for _ in 0..<100 {
      let place = Int.random(in: 0..<scene.log.count, using: &random)
      var log = scene.log
      log[place] ^= UInt8.random(in: 1...255, using: &random)
      let (kept, report, isRecovered, aside) = try scene.open(log)
      let lost = scene.last - kept
      #expect(isRecovered == report.isLoss)
      guard lost > 1 else { continue }
      losses += 1
      let flaw = try #require(report.logFlaw, "byte \(place): \(lost) lost")
      #expect(report.isLoss && flaw.offset <= place && aside == [log], "byte \(place)")
      // A flipped mark of a transaction's end may count as one more, or one less.
      if kept > 1 { #expect(abs(flaw.transactions - lost) <= 1, "byte \(place): \(flaw), \(lost) lost") }
    }
    #expect(losses > 60)
  }

  @Test("random bytes in its place: everything in it is lost, which is said")
  func random() throws {
    let scene = try Scene()
    var random = SplitMix64(seed: 8)
    let log = scene.log.map { _ in UInt8.random(in: 0...255, using: &random) }
    let (kept, report, isRecovered, aside) = try scene.open(log)
    #expect(kept == 1 && report.isLoss && isRecovered && aside == [log])
    #expect(report.lines.last?.contains("-wal: its header is damaged: every change in it is lost") == true)
  }
}
