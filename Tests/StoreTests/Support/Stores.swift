import Sprinkler
import StoreSupport

@testable import SprinklerDaemon
@testable import Store

extension StoreFolder {
  func open(schema: StoreSchema) throws(StoreError) -> (file: StoreFile, report: StoreReport) {
    try StoreFile.open(store, schema: schema, at: Self.noon)
  }
}

extension SprinklerStore {
  /// All of a backup that this version takes.
  func restore(_ bytes: [UInt8]) throws {
    _ = try restore(try file.check(bytes, at: StoreFolder.noon))
  }

  @discardableResult
  func restore(_ backup: CheckedBackup) throws -> Bool { try restore(backup) { [.everything($0)] } }
}
