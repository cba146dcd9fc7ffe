import GRDB

/// The reason why a list of parts is refused.
public struct PartRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The accepted values, in words.
  public let expected: String
  /// The given value, quoted.
  public let got: String

  /// The refusal in one sentence.
  public var description: String { "expected \(expected), got \(got)" }
}

extension StoreFile {
  /// Reads a list of the store's parts, such as `plants,pump`.
  ///
  /// - Throws: `PartRefusal` for a name that no part has and for an empty list.
  public func parts(in list: String) throws(PartRefusal) -> Set<String> {
    try Self.parts(in: list, of: schema.systems)
  }

  /// Reads a list of parts, such as `plants,pump`, where each of these systems has one part.
  public static func parts(in list: String, of systems: [StoreSystem]) throws(PartRefusal) -> Set<String> {
    let known = systems.map(\.name)
    let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if let unknown = names.first(where: { !known.contains($0) }) {
      throw PartRefusal(
        expected: "parts of the store with commas between them, of \(known.sorted().joined(separator: ", "))",
        got: unknown.isEmpty ? "an empty name" : "\"\(unknown.prefix(40))\"")
    }
    return Set(names)
  }

  /// Returns the contents of the store, part by part.
  public func held() throws(StoreError) -> [HeldPart] {
    try read("counting what it holds") { database in
      try schema.systems.map { HeldPart(name: $0.name, contents: try $0.contents.map { try $0.held(database) }) }
    }
  }

  /// Returns the copies of the contents that restores have replaced, the oldest first; at most five are kept. `checkReplaced` checks the last one.
  public func replaced() throws(StoreError) -> [Snapshot] { try replacedShelf.snapshots() }

  /// Returns the contents of a backup, part by part. The file is neither checked nor changed.
  ///
  /// - Parameters:
  ///   - file: the path of the backup.
  ///   - systems: the systems whose parts are looked for.
  /// - Throws: `StoreError` if the file cannot be read or is no SQLite file.
  public static func held(inBackup file: String, systems: [StoreSystem]) throws(StoreError) -> [HeldPart] {
    try SQLite.translating(file, "looking into it") {
      var configuration = SQLite.configuration
      configuration.readonly = true
      let queue = try DatabaseQueue(path: file, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read { database in
        let applied = try String.fetchSet(database, sql: "SELECT identifier FROM grdb_migrations")
        return try systems.filter { $0.isPart(ofFileWith: applied) }.map { system in
          // A backup of an older version may lack tables.
          let contents = try system.contents.filter { try database.tableExists($0.table) }
          return HeldPart(name: system.name, contents: try contents.map { try $0.held(database) })
        }
      }
    }
  }

  /// Removes the tables of all other parts from a copy of the store, with all that was in them.
  func keep(only parts: Set<String>, in copy: String) throws(StoreError) {
    try SQLite.alone(copy, "leaving out parts") { queue in
      try queue.writeWithoutTransaction { database in
        try database.inTransaction {
          for system in schema.systems where !parts.contains(system.name) {
            for table in try system.tables() {
              try database.execute(sql: "DROP TABLE IF EXISTS \(table.quotedDatabaseIdentifier)")
            }
            for migration in system.migrations {
              try database.execute(
                sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: [migration.name])
            }
          }
          return .commit
        }
        try database.execute(sql: "VACUUM")
      }
    }
  }
}
