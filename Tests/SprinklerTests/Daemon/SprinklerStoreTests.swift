import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Sprinkler store", .ownThread)
struct SprinklerStoreTests {
  @Test(
    "400 random lists of changes, reopened now and then: records and log are those of a model", arguments: [1, 2, 3, 4])
  func roundTrip(seed: UInt64) throws {
    let folder = try StoreFolder()
    var changes = RandomChanges(seed: seed)
    var model = ModelStore()
    // What the scheduler takes a change to mean.
    var scheduled = SprinklerRecords()
    for _ in 0..<10 {
      for _ in 0..<10 {
        let (_, report) = try folder.with { store in
          let list = changes.list()
          try store.apply(list)
          for change in list {
            model.make(change)
            scheduled.apply(change)
          }
          let kept = ModelStore.comparable(try store.records())
          #expect(kept == ModelStore.comparable(scheduled), "seed \(seed), after \(list)")
          #expect(kept == ModelStore.comparable(model.records), "seed \(seed), after \(list)")
        }
        #expect(!report.isLoss, "seed \(seed): \(report.lines)")
      }
      let (kept, _) = try folder.with { store in try (store.records(), store.log(limit: 10_000).records) }
      #expect(ModelStore.comparable(kept.0) == ModelStore.comparable(model.records), "seed \(seed)")
      #expect(kept.1 == model.sortedLog(newestFirst: true), "seed \(seed)")
    }
  }

  @Test("a change of a list cannot be kept: none of them is")
  func allOrNothing() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = SprinklerStore(file)
    try store.apply([.levels(SprinklerLevels(seasonalPercent: 70))])
    let nan = SprinklerChange.ran(ZoneID(index: 0), seconds: .nan, day: LocalDate(year: 2026, month: 1, day: 1))
    #expect(throws: StoreError.self) { try store.apply([.levels(SprinklerLevels(seasonalPercent: 10)), nan]) }
    #expect(try store.records().levels.seasonalPercent == 70)
    #expect(try store.records().day == nil)
  }

  @Test("deficits and flows outlive a new opening; a program that goes by none is the row that older versions write")
  func deficits() throws {
    let folder = try StoreFolder()
    let deficit = ZoneDeficit(zone: ZoneID(index: 2), through: LocalDate(year: 2026, month: 6, day: 30))
    do {
      let (file, _) = try folder.open()
      try SprinklerStore(file).apply([.deficits([deficit]), .flows([ZoneFlow(zone: ZoneID(index: 3))])])
    }
    let (file, _) = try folder.open()
    #expect(try SprinklerStore(file).records().deficits == [deficit])
    #expect(try SprinklerStore(file).records().flows == [ZoneFlow(zone: ZoneID(index: 3))])
    var program = Program(id: 1, name: "a", days: .odd, starts: [], steps: [])
    let old = try SprinklerTables.text(program)
    #expect(!old.contains("adjustment"))
    #expect(try SprinklerTables.value(Program.self, old, "sprinkler_program") == program)
    program.adjustment = .deficit
    #expect(try SprinklerTables.value(Program.self, SprinklerTables.text(program), "sprinkler_program") == program)
  }

  @Test("reading while another thread writes: every reader sees whole transactions")
  func concurrentReader() async throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = SprinklerStore(file)
    try store.apply([.counters(nextRun: 1, nextProgram: 1)])
    try await withThrowingTaskGroup { group in
      group.addTask {
        for run in 1...150 as ClosedRange<UInt64> {
          try store.apply([
            .levels(SprinklerLevels(seasonalPercent: Int(run % 250))), .counters(nextRun: run, nextProgram: Int(run)),
          ])
        }
      }
      group.addTask {
        var last: UInt64 = 0
        while last < 150 {
          let records = try store.records()
          guard records.nextRun >= last, records.nextProgram == Int(records.nextRun),
            records.levels.seasonalPercent == Int(records.nextRun % 250) || records.nextRun == 1
          else {
            Issue.record("\(records) after \(last)")
            return
          }
          last = records.nextRun
        }
      }
      try await group.waitForAll()
    }
  }
}
