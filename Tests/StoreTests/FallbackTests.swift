import Foundation
import Sprinkler
import StoreSupport
import Tactus
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Damaged files", .ownThread)
struct FallbackTests {
  /// A folder with an old snapshot of `old`, a newer one of `good`, and a file of `last` and 60 lines.
  struct Scene {
    let folder: StoreFolder
    let old: SprinklerRecords
    let good: SprinklerRecords
    let last: SprinklerRecords
    let log: [WateringRecord]
    let bytes: [UInt8]
    /// Of the snapshots, the older first.
    let snapshots: [Snapshot]

    init(seed: UInt64 = 1) throws {
      folder = try StoreFolder()
      var changes = RandomChanges(seed: seed)
      let (file, _) = try folder.open()
      let store = SprinklerStore(file)
      for program in 1...9 {
        var one = changes.program()
        one.id = program
        try store.apply([.program(one)])
      }
      try store.apply([.zones(changes.zones()), .counters(nextRun: 1, nextProgram: 1)])
      old = try store.records()
      try file.snapshot(at: StoreFolder.noon)
      try store.apply([.counters(nextRun: 2, nextProgram: 1)])
      good = try store.records()
      try file.snapshot(at: StoreFolder.noon + 60)
      for _ in 0..<60 { try store.apply([.log(changes.record())]) }
      try store.apply([.counters(nextRun: 3, nextProgram: 1)])
      last = try store.records()
      log = try store.log(limit: 1000).records
      snapshots = try file.snapshots()
      try file.close()
      bytes = try folder.bytes(folder.store)
    }

    func open() throws -> (SprinklerRecords, [WateringRecord], StoreReport) {
      let (kept, report) = try folder.with(at: StoreFolder.noon + 120) {
        try ($0.records(), $0.log(limit: 1000).records)
      }
      return (kept.0, kept.1, report)
    }
  }

  @Test("one byte flipped, 200 times at random: either nothing is missing, or the snapshot is there and it is said")
  func flips() throws {
    let scene = try Scene()
    var random = SplitMix64(seed: 42)
    var fallbacks = 0
    for round in 0..<200 {
      // A quarter of them where a header or a b-tree's root is.
      let place = Int.random(in: 0..<(round % 4 == 0 ? 200 : scene.bytes.count), using: &random)
      var bytes = scene.bytes
      bytes[place] ^= UInt8.random(in: 1...255, using: &random)
      try scene.folder.put(bytes, in: scene.folder.store)
      let (records, log, report) = try scene.open()
      let context = "byte \(place): \(scene.bytes[place]) → \(bytes[place]); \(report.lines)"
      if report.isLoss {
        fallbacks += 1
        #expect(report.origin == .snapshot(file: scene.snapshots[1].path, made: StoreFolder.noon + 60), "\(context)")
        #expect(records == scene.good && log == [], "\(context)")
        let aside = try #require(report.setAside.first?.movedTo)
        #expect(try scene.folder.bytes(aside) == bytes, "\(context)")
        try FileManager.default.removeItem(atPath: aside)
      } else {
        #expect(records == scene.last && log == scene.log, "\(context)")
      }
    }
    #expect(fallbacks > 30 && fallbacks < 170)
  }

  @Test(
    "cut short anywhere, empty, or something else: the newest snapshot takes its place, the rest is set aside, all is said"
  )
  func broken() throws {
    let scene = try Scene()
    let cases: [(String, [UInt8])] =
      [
        ("it is empty", []), ("it has only 10 bytes", Array(scene.bytes.prefix(10))),
        ("it is not an SQLite file", Array(repeating: 0x55, count: 5000)),
      ]
      + [100, 4095, 4096, 9000, scene.bytes.count - 4096, scene.bytes.count - 1].map {
        ("", Array(scene.bytes.prefix($0)))
      }
    for (index, (reason, bytes)) in cases.enumerated() {
      try scene.folder.put(bytes, in: scene.folder.store)
      let (records, _, report) = try scene.open()
      #expect(records == scene.good, "\(index)")
      let moved = "\(scene.folder.store).damaged-20260921T141520Z" + (index == 0 ? "" : "-\(index + 1)")
      #expect(report.setAside.first?.movedTo == moved)
      #expect(try scene.folder.bytes(moved) == bytes)
      #expect(report.lines.first?.hasPrefix("\(scene.folder.store): damaged: \(reason)") == true, "\(report.lines)")
      let loss =
        "\(scene.folder.store): taken from \(scene.snapshots[1].path); every change after 2026-09-21T14:14:20Z is lost"
      #expect(report.lines.last == loss)
    }
  }

  @Test("file and newest snapshot damaged: the older snapshot; a snapshot of a newer version is passed over and stays")
  func older() throws {
    let scene = try Scene()
    try scene.folder.put([], in: scene.folder.store)
    var bytes = try scene.folder.bytes(scene.snapshots[1].path)
    bytes[5000] ^= 0xff
    for index in 4096..<bytes.count { bytes[index] ^= 0x5a }
    try scene.folder.put(bytes, in: scene.snapshots[1].path)
    let newer = scene.folder.snapshots + "/000009-20260921T141420Z.sqlite"
    let other = try StoreFolder()
    let (file, _) = try other.open(schema: StoreFileTests.later)
    try file.backup(to: newer)

    let (records, _, report) = try scene.open()
    #expect(records == scene.old)
    #expect(report.origin == .snapshot(file: scene.snapshots[0].path, made: StoreFolder.noon))
    #expect(
      report.setAside.map(\.movedTo) == [
        "\(scene.folder.store).damaged-20260921T141520Z", nil, "\(scene.snapshots[1].path).damaged-20260921T141520Z",
      ])
    #expect(FileManager.default.fileExists(atPath: newer))
  }

  @Test("file missing: the newest snapshot; none usable: made anew, and it says that all is lost")
  func missing() throws {
    let scene = try Scene()
    try FileManager.default.removeItem(atPath: scene.folder.store)
    #expect(try scene.open().0 == scene.good)

    for snapshot in scene.snapshots { try scene.folder.put([1, 2, 3], in: snapshot.path) }
    try scene.folder.put([4], in: scene.folder.store)
    let (records, _, report) = try scene.open()
    #expect(records == SprinklerRecords())
    #expect(report.origin == .startedAnew && report.isLoss && report.setAside.count == 3)
    #expect(report.lines.last == "\(scene.folder.store): made anew; no snapshot was usable, every setting is lost")
    #expect(report.loss == report.lines.last)
  }

  @Test("a write-ahead log beside a missing file: set aside, never applied to the snapshot that takes the place")
  func strayLog() throws {
    let scene = try Scene()
    try FileManager.default.removeItem(atPath: scene.folder.store)
    try scene.folder.put([9, 9, 9], in: scene.folder.store + "-wal")
    let (records, _, report) = try scene.open()
    #expect(records == scene.good)
    #expect(report.setAside.map(\.movedTo) == ["\(scene.folder.store)-wal.damaged-20260921T141520Z"])
  }

  @Test("damaged while open: reads and writes say so, and no snapshot of it replaces a good one")
  func whileOpen() throws {
    let scene = try Scene()
    let (file, _) = try scene.folder.open()
    // In the file, under the pages that SQLite has not read yet.
    var bytes = scene.bytes
    for index in 4096..<bytes.count { bytes[index] = 0x5a }
    let handle = try #require(FileHandle(forWritingAtPath: scene.folder.store))
    try handle.write(contentsOf: bytes)
    try handle.close()
    do {
      try file.snapshot(at: StoreFolder.noon + 200)
      Issue.record("a snapshot was made")
    } catch {
      guard case .damaged = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(try file.snapshots() == scene.snapshots)
  }
}
