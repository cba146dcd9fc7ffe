import Foundation
import Glibc
import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Snapshots", .ownThread)
struct SnapshotTests {
  static let noon = StoreFolder.noon

  @Test(
    "due: at once after the first change, then not more often than the policy says; what people change comes sooner")
  func due() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open(policy: SnapshotPolicy(seconds: 60, routineSeconds: 600))
    let store = SprinklerStore(file)
    func tick(_ seconds: Int64) throws -> Bool { try file.snapshotIfDue(at: Self.noon + seconds) != nil }
    try store.apply([.levels(SprinklerLevels(seasonalPercent: 10))])
    #expect(try tick(0))
    #expect(try !tick(1000), "nothing changed")
    try store.apply([.levels(SprinklerLevels(seasonalPercent: 20))])
    #expect(try tick(1000))
    try store.apply([.levels(SprinklerLevels(seasonalPercent: 30))])
    #expect(try !tick(1059))
    #expect(try tick(1060))
    try store.apply([.counters(nextRun: 2, nextProgram: 1)])
    #expect(try !tick(1659))
    try store.apply([.levels(SprinklerLevels(seasonalPercent: 40))])
    #expect(try tick(1659), "a person's change among the machine's")
    try store.apply([.counters(nextRun: 3, nextProgram: 1)])
    #expect(try tick(2259))
    try store.apply([.counters(nextRun: 4, nextProgram: 1)])
    #expect(try tick(-5000), "the clock was set back")
    let numbers = try file.snapshots().map(\.number)
    #expect(numbers == Array(1...6))
  }

  @Test("the last one before the file is closed: of what people changed, however soon; of the machine's, as it is due")
  func last() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open(policy: SnapshotPolicy(seconds: 60, routineSeconds: 600))
    let store = SprinklerStore(file)
    #expect(try file.snapshotIfDue(at: Self.noon) != nil)
    try store.apply([.counters(nextRun: 2, nextProgram: 1)])
    #expect(try file.snapshotIfDue(at: Self.noon + 1, isLast: true) == nil)
    try store.apply([.levels(SprinklerLevels(seasonalPercent: 30))])
    #expect(try file.snapshotIfDue(at: Self.noon + 1) == nil)
    #expect(try file.snapshotIfDue(at: Self.noon + 1, isLast: true) != nil)
    #expect(try file.snapshotIfDue(at: Self.noon + 2, isLast: true) == nil, "nothing changed")
  }

  @Test("a snapshot: named by number and time, 0600, one file, holds what the store held")
  func contents() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    try SprinklerStore(file).apply([.counters(nextRun: 77, nextProgram: 1)])
    let snapshot = try file.snapshot(at: Self.noon)
    #expect(snapshot.path == folder.snapshots + "/000001-20260921T141320Z.sqlite" && snapshot.made == Self.noon)
    try SprinklerStore(file).apply([.counters(nextRun: 78, nextProgram: 1)])
    #expect(try folder.names("data/store.sqlite.snapshots") == ["000001-20260921T141320Z.sqlite"])
    var status = stat()
    #expect(stat(snapshot.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let other = try StoreFolder()
    try FileManager.default.createDirectory(atPath: other.path + "/data", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: snapshot.path, toPath: other.store)
    #expect(try other.with { try $0.records() }.result.nextRun == 77)
  }

  @Test("rotation: the last few by number, and the last one of each of the last days that have any")
  func rotation() throws {
    func snapshot(_ number: Int, day: Int64, hour: Int64) throws -> Snapshot {
      let made = WallInstant(secondsSince1970: (20_000 + day) * 86_400 + hour * 3_600)
      return try #require(Snapshot(folder: "/s", name: Snapshot.name(number, made)))
    }
    let all = try [
      snapshot(1, day: 0, hour: 1), snapshot(2, day: 0, hour: 23), snapshot(3, day: 1, hour: 0),
      snapshot(4, day: 1, hour: 5), snapshot(5, day: 4, hour: 5), snapshot(6, day: 4, hour: 6),
      snapshot(7, day: 4, hour: 7),
    ]
    func kept(_ recent: Int, _ days: Int) -> Set<Int> {
      SnapshotShelf.kept(all, SnapshotPolicy(recent: recent, days: days))
    }
    #expect(kept(1, 0) == [7])
    #expect(kept(2, 1) == [6, 7])
    #expect(kept(2, 3) == [2, 4, 6, 7])
    #expect(kept(4, 9) == [2, 4, 5, 6, 7])
    #expect(kept(9, 0) == Set(1...7))
    #expect(SnapshotShelf.kept([], SnapshotPolicy()) == [])
  }

  @Test("rotation on the disk: what the policy does not keep goes, files of other names stay")
  func rotated() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open(policy: SnapshotPolicy(recent: 2, days: 2))
    try folder.put([1], in: folder.snapshots + "/notes.txt")
    for hour in 0..<60 as Range<Int64> { try file.snapshot(at: Self.noon + hour * 3_600) }
    #expect(try file.snapshots().map(\.number) == [58, 59, 60])
    #expect(FileManager.default.fileExists(atPath: folder.snapshots + "/notes.txt"))
  }

  @Test("names: of snapshots and of nothing else")
  func names() {
    for name in [
      "x", "1-20260921T141320Z.sqlite", "000001-20260921T141320Z", "000000-20260921T141320Z.sqlite",
      "000001-20260921T141320Z.sqlite.damaged-20260921T141320Z", "000001-20261321T141320Z.sqlite", "unfinished",
    ] { #expect(Snapshot(folder: "/s", name: name) == nil, "\(name)") }
    let large = Snapshot(folder: "/s", name: "12345678-20260921T141320Z.sqlite")
    #expect(large?.number == 12_345_678 && large?.path == "/s/12345678-20260921T141320Z.sqlite")
  }

  @Test("the folder of snapshots is gone: an error that names it, writes go on, the next one is still due")
  func folderGone() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    try FileManager.default.removeItem(atPath: folder.snapshots)
    try SprinklerStore(file).apply([.counters(nextRun: 5, nextProgram: 1)])
    do {
      _ = try file.snapshotIfDue(at: Self.noon)
      Issue.record("a snapshot was made")
    } catch {
      #expect("\(error)".hasPrefix(folder.snapshots + "/unfinished: "), "\(error)")
    }
    try SprinklerStore(file).apply([.counters(nextRun: 6, nextProgram: 1)])
    try FileManager.default.createDirectory(atPath: folder.snapshots, withIntermediateDirectories: false)
    #expect(try file.snapshotIfDue(at: Self.noon) != nil)
  }
}
