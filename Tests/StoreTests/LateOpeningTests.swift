import Foundation
import Sprinkler
import StoreSupport
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import Store

@Suite("a store that cannot be opened, or is lost, and comes back", .ownThread)
struct LateOpeningTests {
  private func later(_ folder: StoreFolder) -> StoreFile {
    StoreFile(folder.store, systems: StoreSystem.all, mounts: .none)
  }

  /// What reads and writes are told; `nil` if they go through.
  private func refusal(_ file: StoreFile) -> StoreError? {
    do throws(StoreError) {
      _ = try SprinklerStore(file).records()
      try SprinklerStore(file).apply([.counters(nextRun: 2, nextProgram: 1)])
      return nil
    } catch {
      return error
    }
  }

  @Test("a folder where the file should be: refused with the reason; moved away: opened, and everything goes through")
  func folderInPlace() throws {
    let folder = try StoreFolder()
    try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: true)
    let file = later(folder)
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { try file.open(at: StoreFolder.noon) }
      #expect(error == .failed(file: folder.store, doing: "opening", reason: "it is not a regular file"))
      #expect(refusal(file) == error && file.trouble == error && !file.isOpen)
    }
    try FileManager.default.removeItem(atPath: folder.store)
    #expect(try file.open(at: StoreFolder.noon).origin == .created)
    #expect(refusal(file) == nil && file.trouble == nil && file.isOpen)
    try file.close()
  }

  @Test("a file where the folder should be: refused; moved away: opened with what was kept")
  func fileInPlace() throws {
    let folder = try StoreFolder()
    try folder.with { try $0.apply([.counters(nextRun: 7, nextProgram: 1)]) }
    let (data, away) = (folder.path + "/data", folder.path + "/away")
    try FileManager.default.moveItem(atPath: data, toPath: away)
    try folder.put([1], in: data)
    let file = later(folder)
    #expect(throws: StoreError.self) { try file.open(at: StoreFolder.noon) }
    #expect(refusal(file) != nil)
    try FileManager.default.removeItem(atPath: data)
    try FileManager.default.moveItem(atPath: away, toPath: data)
    #expect(try file.open(at: StoreFolder.noon).origin == .found)
    #expect(try SprinklerStore(file).records().nextRun == 7)
    try file.close()
  }

  @Test("gone while open: noticed, writes refused, nothing made in its place; back: it goes on with what was kept")
  func gone() throws {
    let folder = try StoreFolder()
    let file = later(folder)
    _ = try file.open(at: StoreFolder.noon)
    try SprinklerStore(file).apply([.counters(nextRun: 7, nextProgram: 1)])
    let (data, away) = (folder.path + "/data", folder.path + "/away")
    try FileManager.default.moveItem(atPath: data, toPath: away)
    file.checkDisk()
    #expect(file.trouble == .gone(file: folder.store) && !file.isOpen)
    #expect(refusal(file) == .gone(file: folder.store))
    #expect(throws: StoreError.gone(file: folder.store)) { try file.open(at: StoreFolder.noon) }
    // An empty mount point.
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    #expect(throws: StoreError.gone(file: folder.store)) { try file.open(at: StoreFolder.noon) }
    #expect(try folder.names().isEmpty, "nothing is made there")
    try FileManager.default.removeItem(atPath: data)
    try FileManager.default.moveItem(atPath: away, toPath: data)
    #expect(try file.open(at: StoreFolder.noon).origin == .found)
    #expect(try SprinklerStore(file).records().nextRun == 7 && file.trouble == nil)
    try file.close()
  }

  @Test("another store in the place of the one that is gone: refused and not touched, however sound")
  func replaced() throws {
    let (folder, other) = (try StoreFolder(), try StoreFolder())
    try other.with { try $0.apply([.counters(nextRun: 99, nextProgram: 1)]) }
    let file = later(folder)
    _ = try file.open(at: StoreFolder.noon)
    try FileManager.default.moveItem(atPath: folder.path + "/data", toPath: folder.path + "/away")
    file.checkDisk()
    try FileManager.default.moveItem(atPath: other.path + "/data", toPath: folder.path + "/data")
    let before = try folder.bytes(folder.store)
    let error = #expect(throws: StoreError.self) { try file.open(at: StoreFolder.noon) }
    #expect(error == .replaced(file: folder.store) && error?.wayOut.contains("restart") == true)
    #expect(try folder.bytes(folder.store) == before)
  }

  @Test("a write that was refused: trouble until a write goes through, which a look finds out")
  func refusedWrite() throws {
    let folder = try StoreFolder()
    let file = later(folder)
    _ = try file.open(at: StoreFolder.noon)
    try file.pool.write { try $0.execute(sql: "ALTER TABLE sprinkler_state RENAME TO elsewhere") }
    #expect(throws: StoreError.self) { try SprinklerStore(file).apply([.counters(nextRun: 2, nextProgram: 1)]) }
    #expect(file.trouble != nil && file.isOpen)
    try file.pool.write { try $0.execute(sql: "ALTER TABLE elsewhere RENAME TO sprinkler_state") }
    file.checkDisk()
    #expect(file.trouble == nil)
    try file.close()
  }
}
