import Foundation
import Sprinkler
import StoreSupport
import Tactus
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("kill -9", .ownThread)
struct KillTests {
  /// Keeps the processor busy for about so many hundred nanoseconds.
  private func wait(_ turns: Int) {
    var sum: UInt64 = 0
    for turn in 0..<UInt64(turns) { sum = sum &* 31 &+ turn }
    #expect(sum != 1)
  }

  /// What must be there after the last acknowledged transaction; the one after it may be, whole.
  private func check(_ records: SprinklerRecords, _ log: [WateringRecord], acknowledged: UInt64, _ context: String) {
    let run = records.nextRun - 1
    guard run == acknowledged || run == acknowledged + 1 else {
      Issue.record("acknowledged \(acknowledged), kept \(run); \(context)")
      return
    }
    guard run > 0 else { return }
    #expect(records.pending.map(\.run) == [run], "\(context)")
    #expect(records.levels.seasonalPercent == Int(run % 250) && records.nextProgram == Int(run), "\(context)")
    #expect(records.ranToday[ZoneID(index: Int(run % 64))] == Double(run), "\(context)")
    // The probe prunes lines that are more than 50 transactions old.
    let expected = Array((1...run).suffix(min(50, Int(run))).reversed())
    #expect(Array(log.map(\.run).prefix(expected.count)) == expected, "\(context)")
    #expect(log.allSatisfy { $0.ranSeconds == Double($0.run) && $0.zoneName == "Zone \($0.run)" }, "\(context)")
  }

  @Test(
    "300 kills while it writes, snapshots and prunes: the file is sound and all that was acknowledged is there",
    arguments: [1, 2, 3])
  func writing(seed: UInt64) throws {
    let folder = try StoreFolder()
    var random = SplitMix64(seed: seed)
    var acknowledged: UInt64 = 0
    for round in 0..<100 {
      let probe = try ProbeProcess([folder.store])
      let target = acknowledged + UInt64.random(in: 0...12, using: &random)
      while acknowledged < target, let line = probe.line() {
        if let number = UInt64(line) { acknowledged = number } else { #expect(!line.contains("lost"), "\(line)") }
      }
      wait(Int.random(in: 0...20_000, using: &random))
      probe.kill()
      // What it had said before it was killed counts as well.
      while let line = probe.line() { if let number = UInt64(line) { acknowledged = number } }
      let context = "seed \(seed), round \(round)"
      let (kept, report) = try folder.with { try ($0.records(), $0.log(limit: 1000).records) }
      #expect(report.setAside.isEmpty && !report.isLoss, "\(context): \(report.lines)")
      check(kept.0, kept.1, acknowledged: acknowledged, context)
      acknowledged = kept.0.nextRun - 1
    }
    #expect(acknowledged > 300)
  }

  @Test("60 kills while the file is made: either none of it is there or a sound one, and nothing is called lost")
  func making() throws {
    var random = SplitMix64(seed: 7)
    for round in 0..<60 {
      let folder = try StoreFolder()
      let probe = try ProbeProcess([folder.store])
      wait(Int.random(in: 0...400_000, using: &random))
      probe.kill()
      var acknowledged: UInt64 = 0
      while let line = probe.line() { acknowledged = UInt64(line) ?? acknowledged }
      let (kept, report) = try folder.with { try ($0.records(), $0.log(limit: 1000).records) }
      #expect(report.setAside.isEmpty && !report.isLoss, "round \(round): \(report.lines)")
      check(kept.0, kept.1, acknowledged: acknowledged, "round \(round)")
    }
  }

  @Test("60 kills while a snapshot takes a damaged file's place: it is there at last, and the damaged one is kept")
  func fallingBack() throws {
    var random = SplitMix64(seed: 8)
    let folder = try StoreFolder()
    try folder.with { store in
      try store.apply([.counters(nextRun: 1000, nextProgram: 1)])
      try store.file.snapshot(at: StoreFolder.noon)
    }
    for round in 0..<60 {
      try folder.put(Array("damaged \(round)".utf8), in: folder.store)
      let probe = try ProbeProcess([folder.store])
      wait(Int.random(in: 0...300_000, using: &random))
      probe.kill()
      let (records, _) = try folder.with { try $0.records() }
      #expect(records.nextRun >= 1000, "round \(round)")
      let aside = try folder.names().filter { $0.hasPrefix("store.sqlite.damaged") }
      let contents = try aside.map { String(decoding: try folder.bytes("\(folder.path)/data/\($0)"), as: UTF8.self) }
      #expect(contents == ["damaged \(round)"], "round \(round)")
      for name in aside { try FileManager.default.removeItem(atPath: "\(folder.path)/data/\(name)") }
    }
  }
}
