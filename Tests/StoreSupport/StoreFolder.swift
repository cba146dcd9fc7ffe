import Foundation
import GRDB
import PlantsDaemon
import PumpDaemon
import SprinklerDaemon
import Store
import WallTime

/// A folder of a test's own, removed when the test lets it go, and the store in it.
///
/// In memory where that is to be had: hundreds of stores are opened here, each of their writes waits for the disk, and nothing that
/// is tested depends on it.
public final class StoreFolder {
  public static let noon = WallInstant(secondsSince1970: 1_790_000_000)
  public let path: String

  public init() throws {
    let memory = URL(filePath: "/dev/shm")
    let parent =
      FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    path = parent.appending(path: "tactus-store-\(UUID().uuidString.prefix(13))").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  public var store: String { path + "/data/store.sqlite" }
  public var snapshots: String { store + ".snapshots" }

  public func open(
    policy: SnapshotPolicy = SnapshotPolicy(), at now: WallInstant = noon
  ) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    try StoreFile.open(store, systems: StoreSystem.all, policy: policy, at: now)
  }

  /// Opens, does, closes.
  @discardableResult
  public func with<Result>(
    at now: WallInstant = noon, _ body: (SprinklerStore) throws -> Result
  ) throws -> (result: Result, report: StoreReport) {
    let (file, report) = try open(at: now)
    let result = try body(SprinklerStore(file))
    try file.close()
    return (result, report)
  }

  public func bytes(_ file: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: file))) }

  public func put(_ bytes: [UInt8], in file: String) throws { try Data(bytes).write(to: URL(filePath: file)) }

  /// In place of the store what a version before this one left: a dump in `StoreTests/fixtures`, as `sqlite3 STORE .dump` writes it.
  public func put(fixture name: String) throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "StoreTests/fixtures")
    let dump = try String(contentsOf: fixtures.appending(path: name), encoding: .utf8)
    try FileManager.default.createDirectory(atPath: path + "/data", withIntermediateDirectories: true)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { try $0.execute(sql: dump) }
    try queue.close()
  }

  public func names(_ folder: String = "data") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
  }
}

extension StoreSystem {
  /// Those of `tactus`, in the order in which their tables came.
  public static var all: [StoreSystem] { [.sprinkler, .plants, .pump] }
}
