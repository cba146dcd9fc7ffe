import GRDB
import Glibc

/// The inspection of a store's file, which only reads the file.
enum Inspection {
  enum Verdict: Sendable, Hashable {
    /// The file is intact and was written by this program; these migrations have been applied.
    case sound(applied: Set<String>)
    case newer(unknown: [String])
    case foreign(found: String)
    case damaged(reason: String)
  }

  /// The size in bytes beyond which indices are no longer compared with their tables, since that alone would take longer than all the rest.
  static let largeFile = 256 << 20

  /// Inspects a file that exists: its pages, the definitions of its tables and the seal of every row are checked.
  ///
  /// - Throws: the reason why the file cannot be read, such as its permissions or a folder that cannot be written.
  static func verdict(on path: String, schema: StoreSchema) throws(StoreError) -> Verdict {
    let size = try Disk.size(path) ?? 0
    guard size > 0 else { return .damaged(reason: "it is empty") }
    if let reason = try brokenHeader(path, size) { return .damaged(reason: reason) }
    do {
      do {
        return try verdict(reading: path, size: size, schema: schema)
      } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
        try SQLite.rollBack(path)
        return try verdict(reading: path, size: size, schema: schema)
      }
    } catch let error as DatabaseError where isDamage(error) {
      return .damaged(reason: error.reason)
    } catch {
      return try SQLite.translating(path, "checking") { throw error }
    }
  }

  private static func verdict(reading path: String, size: Int, schema: StoreSchema) throws -> Verdict {
    var configuration = SQLite.configuration
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read { try verdict($0, size: size, schema: schema) }
  }

  private static func verdict(_ database: Database, size: Int, schema: StoreSchema) throws -> Verdict {
    let check = size > largeFile ? "quick_check" : "integrity_check"
    let findings = try String.fetchAll(database, sql: "PRAGMA \(check)(1)")
    guard findings == ["ok"] else {
      return .damaged(reason: findings.first.map { $0.replacing("\n", with: "; ") } ?? "the check said nothing")
    }
    let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
    guard tables.contains("grdb_migrations") else {
      return .foreign(found: tables.isEmpty ? "no tables" : "the tables \(tables.prefix(3).joined(separator: ", "))")
    }
    let applied = try String.fetchSet(database, sql: "SELECT identifier FROM grdb_migrations")
    let unknown = applied.subtracting(schema.names).sorted()
    guard !applied.isEmpty, unknown.count < applied.count else {
      return .foreign(found: "the migrations \(unknown.prefix(3).joined(separator: ", "))")
    }
    guard unknown.isEmpty else { return .newer(unknown: unknown) }
    guard try StoreSchema.shape(database) == schema.shape(of: applied) else {
      return .damaged(reason: "its tables are not those that were made")
    }
    for table in tables {
      if let reason = try SealedRow.firstBroken(in: table, database) { return .damaged(reason: reason) }
    }
    return .sound(applied: applied)
  }

  /// Returns whether an error means damage. Sectors that cannot be read count as damage, since the file can still be moved aside
  /// and replaced by a snapshot.
  private static func isDamage(_ error: DatabaseError) -> Bool {
    switch error.extendedResultCode {
    case .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ: true
    default: [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode)
    }
  }

  /// Returns the reason why the file's header is damaged, or `nil` if it is intact. Bytes 18 and 19 are the versions for writing and reading; SQLite
  /// opens a file with an unknown byte 18 read-only.
  private static func brokenHeader(_ path: String, _ size: Int) throws(StoreError) -> String? {
    let descriptor = try Disk.open(path, O_RDONLY, "opening")
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    guard pread(descriptor, &header, header.count, 0) == header.count else { return "it has only \(size) bytes" }
    guard header.starts(with: Array("SQLite format 3\0".utf8)) else { return "it is not an SQLite file" }
    guard header[18] == header[19], (1...2).contains(header[18]) else { return "its header makes no sense" }
    return nil
  }
}
