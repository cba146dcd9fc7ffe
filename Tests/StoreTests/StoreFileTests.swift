import Foundation
import GRDB
import Glibc
import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("Store file", .ownThread)
struct StoreFileTests {
  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test("nothing there: made with folder 0700 and file 0600, write-ahead log, every write synced, foreign keys checked")
  func made() throws {
    let folder = try StoreFolder()
    let (file, report) = try folder.open()
    #expect(report.origin == .created && !report.isLoss && report.setAside.isEmpty)
    #expect(report.lines == ["\(folder.store): made; there was none"])
    try SprinklerStore(file).apply([.counters(nextRun: 2, nextProgram: 1)])
    #expect(mode(folder.path + "/data") == 0o700 && mode(folder.snapshots) == 0o700)
    for name in ["", "-wal", "-shm", ".lock"] { #expect(mode(folder.store + name) == 0o600, "\(name)") }
    try file.pool.writeWithoutTransaction { database throws in
      #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal")
      #expect(try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2)
      #expect(try Int.fetchOne(database, sql: "PRAGMA foreign_keys") == 1)
      #expect(try Int.fetchOne(database, sql: "PRAGMA busy_timeout") == 5000)
    }
  }

  @Test("open already: refused by its name; closed, opened again with all that was kept")
  func oneOwner() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    try SprinklerStore(file).apply([.counters(nextRun: 7, nextProgram: 3)])
    #expect(throws: StoreError.inUse(file: folder.store)) { try folder.open() }
    try file.close()
    let (records, report) = try folder.with { try $0.records() }
    #expect(records.nextRun == 7 && records.nextProgram == 3)
    #expect(report.origin == .found && report.lines == [])
  }

  @Test("a file of a newer version: refused with what it has, not a byte of it touched")
  func newer() throws {
    let folder = try StoreFolder()
    try folder.open(schema: Self.later).file.close()
    // Something in the write-ahead log, too: it must not be folded in.
    var queue: DatabaseQueue? = try DatabaseQueue(path: folder.store)
    try queue!.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; INSERT INTO later VALUES (1, 2)")
    }
    let copy = try (folder.bytes(folder.store), folder.bytes(folder.store + "-wal"))
    try queue!.close()
    queue = nil
    try folder.put(copy.0, in: folder.store)
    try folder.put(copy.1, in: folder.store + "-wal")
    #expect(throws: StoreError.newer(file: folder.store, unknown: ["later.1"])) { try folder.open() }
    #expect(try folder.bytes(folder.store) == copy.0)
    #expect(try folder.bytes(folder.store + "-wal") == copy.1)
    #expect(copy.1.count > 0)
  }

  @Test("somebody else's database, a folder of that name: refused, not touched")
  func foreign() throws {
    let folder = try StoreFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/data", withIntermediateDirectories: true)
    try DatabaseQueue(path: folder.store).write { try $0.execute(sql: "CREATE TABLE pictures (id INTEGER)") }
    let before = try folder.bytes(folder.store)
    #expect(throws: StoreError.foreign(file: folder.store, found: "the tables pictures")) { try folder.open() }
    #expect(try folder.bytes(folder.store) == before)

    let other = folder.path + "/folder"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    #expect(throws: StoreError.failed(file: other, doing: "opening", reason: "it is not a regular file")) {
      try StoreFile.open(other, systems: StoreSystem.all, at: StoreFolder.noon)
    }
  }

  @Test("errors: each names its file, what was expected and what came")
  func errors() {
    let said = [
      StoreError.newer(file: "/s", unknown: ["pump.3"]), .foreign(file: "/s", found: "no tables"),
      .damaged(file: "/s", reason: "it is empty"), .diskFull(file: "/s", doing: "keeping a change"),
      .inUse(file: "/s"), .failed(file: "/s", doing: "opening", reason: "Permission denied"),
    ].map(\.description)
    #expect(
      said == [
        "/s: written by a newer version (it has pump.3); not touched",
        "/s: expected a store of this program, found no tables; not touched", "/s: damaged: it is empty",
        "/s: keeping a change: the disk is full", "/s: another process has it open", "/s: opening: Permission denied",
      ])
  }

  static let later = StoreSchema(
    systems: StoreSystem.all + [
      StoreSystem(
        contents: [],
        migrations: [
          .init(name: "later.1") {
            try $0.execute(sql: "CREATE TABLE later (id INTEGER PRIMARY KEY, seal INTEGER NOT NULL) STRICT")
          }
        ], restore: { _ in })
    ])
}
