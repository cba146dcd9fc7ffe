import GRDB

/// The settings of every connection to the store.
enum SQLite {
  static var configuration: Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = true
    // Only a person with the sqlite3 shell could hold a lock for so long.
    configuration.busyMode = .timeout(5)
    configuration.maximumReaderCount = 2
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
    }
    return configuration
  }

  /// Returns connections to an intact store with its write-ahead log.
  static func pool(_ path: String) throws(StoreError) -> DatabasePool {
    try translating(path, "opening") {
      let pool = try DatabasePool(path: path, configuration: configuration)
      // GRDB's set-up of the write-ahead log leaves NORMAL, with which a power cut undoes what was acknowledged.
      try pool.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
          throw StoreError.failed(file: path, doing: "opening", reason: "SQLite does not sync every write")
        }
      }
      return pool
    }
  }

  /// Runs `body` and translates errors of GRDB and SQLite to those of the store.
  static func translating<Result>(
    _ file: String, _ doing: String, _ body: () throws -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as DatabaseError {
      switch error.resultCode {
      case .SQLITE_FULL: throw .diskFull(file: file, doing: doing)
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: throw .damaged(file: file, reason: "\(doing): \(error.reason)")
      // SQLite reports a disk that accepts no writes in several ways, such as "disk I/O error" and "unable to open
      // database file".
      case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY:
        throw Disk.lacks(Disk.folder(of: file), for: file, doing)
          ?? .failed(file: file, doing: doing, reason: error.reason)
      default: throw .failed(file: file, doing: doing, reason: error.reason)
      }
    } catch {
      throw .failed(file: file, doing: doing, reason: String(describing: error))
    }
  }
}

extension DatabaseError {
  /// The text of SQLite's error without the statement and its arguments, which contain people's data.
  var reason: String { "SQLite error \(extendedResultCode.rawValue): \(message ?? "no message")" }
}

extension SQLite {
  /// Applies all migrations that a file lacks. The file must not be open elsewhere.
  static func bringUpToDate(_ path: String, _ schema: StoreSchema) throws(StoreError) {
    try alone(path, "making its tables") { try schema.migrator().migrate($0) }
  }

  /// Sets the write-ahead log as the mode of a file that is not open elsewhere, before the file is put in its place. If
  /// this were done in its place and the process killed meanwhile, a journal would be left that only a writer can roll
  /// back.
  static func useWriteAheadLog(_ path: String) throws(StoreError) {
    try alone(path, "setting its journal mode") { queue in
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
    }
  }

  /// Rolls back an unfinished write of another program that was killed while it wrote without a write-ahead log.
  static func rollBack(_ path: String) throws {
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    _ = try queue.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
  }

  /// Runs `body` with a file that is not open elsewhere.
  static func alone(_ path: String, _ doing: String, _ body: (DatabaseQueue) throws -> Void) throws(StoreError) {
    try translating(path, doing) {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      try body(queue)
    }
  }
}
