import Foundation
import GRDB
import Sprinkler
import WallTime

@testable import SprinklerDaemon
@testable import Store

extension SprinklerStore {
  /// All of a backup that this version takes.
  func restore(_ bytes: [UInt8]) throws {
    _ = try restore(try file.check(bytes, at: StoreFolder.noon))
  }

  @discardableResult
  func restore(_ backup: CheckedBackup) throws -> Bool { try restore(backup) { [.everything($0)] } }
}

/// A folder of a test's own, removed when the test lets it go, and the store in it.
///
/// In memory where that is to be had: hundreds of stores are opened here, each of their writes waits for the disk, and nothing that
/// is tested depends on it.
final class StoreFolder {
  static let noon = WallInstant(secondsSince1970: 1_790_000_000)
  let path: String

  init() throws {
    let memory = URL(filePath: "/dev/shm")
    let parent =
      FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    path = parent.appending(path: "tactus-store-\(UUID().uuidString.prefix(13))").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var store: String { path + "/data/store.sqlite" }
  var snapshots: String { store + ".snapshots" }

  func open(
    schema: StoreSchema = .current, policy: SnapshotPolicy = SnapshotPolicy(), at now: WallInstant = noon
  ) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    try StoreFile.open(store, schema: schema, policy: policy, at: now)
  }

  /// Opens, does, closes.
  @discardableResult
  func with<Result>(
    at now: WallInstant = noon, _ body: (SprinklerStore) throws -> Result
  ) throws -> (result: Result, report: StoreReport) {
    let (file, report) = try open(at: now)
    let result = try body(SprinklerStore(file))
    try file.close()
    return (result, report)
  }

  func bytes(_ file: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file))) }

  func put(_ bytes: [UInt8], in file: String) throws { try Data(bytes).write(to: URL(filePath: file)) }

  /// In place of the store what a version before this one left: a dump in `fixtures`, as `sqlite3 STORE .dump` writes it.
  func put(fixture name: String) throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "fixtures")
    let dump = try String(contentsOf: fixtures.appending(path: name), encoding: .utf8)
    try FileManager.default.createDirectory(atPath: path + "/data", withIntermediateDirectories: true)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { try $0.execute(sql: dump) }
    try queue.close()
  }

  func names(_ folder: String = "data") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
  }
}

extension StoreSystem {
  /// Those of `tactus`, in the order in which their tables came.
  static var all: [StoreSystem] { [.sprinkler, .plants, .pump] }
}

extension StoreSchema {
  static var current: StoreSchema { StoreSchema(systems: StoreSystem.all) }
}
