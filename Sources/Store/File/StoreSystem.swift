import GRDB

/// The data of one system in the store: how its tables are created and changed, and how a restored backup affects them.
public struct StoreSystem: Sendable {
  /// A change of a system's tables, which is made once in every store.
  public struct Migration: Sendable {
    /// The name of the migration, such as `sprinkler.1`. Neither the name nor the change may be modified once released.
    var name: String
    var make: @Sendable (Database) throws -> Void

    /// Creates a migration from its name and the function that carries it out.
    ///
    /// - Parameters:
    ///   - name: a unique name such as `sprinkler.1`, which must not be modified once released.
    ///   - make: changes the tables, in a separate transaction. The change must not be modified once released either.
    public init(name: String, make: @escaping @Sendable (Database) throws -> Void) {
      self.name = name
      self.make = make
    }
  }
  /// The name of the system's part of the store, such as `sprinkler`, which precedes the last dot in the names of its migrations.
  public var name: String {
    let first = migrations.first?.name ?? ""
    return String(first[..<(first.lastIndex(of: ".") ?? first.endIndex)])
  }

  /// The kinds of rows by which the contents of a backup are described to people.
  let contents: [StoreContent]
  var migrations: [Migration]
  /// Merges a backup into a running system's tables, in the transaction of the restore, with the backup attached as `backup` and
  /// its tables migrated. Logs are merged. Data that a system holds in memory is either read again (`StoreFile.restoreCount`) or
  /// changed at the same moment as the tables, as in `SprinklerStore.restore`.
  var restore: @Sendable (Database) throws -> Void

  /// Creates the description of a system's data in the store.
  ///
  /// - Parameters:
  ///   - contents: the kinds of rows that people are told about before and after a restore.
  ///   - migrations: every migration since the first release, in the order in which they are applied.
  ///   - restore: takes the system's rows from the database attached as `backup`, in the restore's transaction.
  ///     An error rolls back the whole restore.
  public init(
    contents: [StoreContent], migrations: [Migration], restore: @escaping @Sendable (Database) throws -> Void
  ) {
    self.contents = contents
    self.migrations = migrations
    self.restore = restore
  }

  /// Returns whether a file to which the migrations `applied` have been applied holds this system's part.
  func isPart(ofFileWith applied: Set<String>) -> Bool { migrations.contains { applied.contains($0.name) } }

  /// Returns the names of the system's tables.
  func tables() throws -> [String] {
    let queue = try DatabaseQueue()
    try StoreSchema(systems: [self]).migrator().migrate(queue)
    return try queue.read { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT name FROM sqlite_schema
          WHERE type = 'table' AND name <> 'grdb_migrations' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          """)
    }
  }

  /// Refuses a restore if rows of the attached backup have invalid values. A row's seal shows only that the row is as it was written.
  ///
  /// - Parameters:
  ///   - rows: the name of the rows for people, such as `lines of its watering log`.
  ///   - sense: an SQL condition over the columns of one row, which valid rows meet.
  /// - Throws: `StoreError.damaged`, which rolls back the restore.
  public static func refuse(_ rows: String, in table: String, unless sense: String, _ database: Database) throws {
    let odd = try Int.fetchOne(
      database, sql: "SELECT count(*) FROM backup.\(table.quotedDatabaseIdentifier) WHERE (\(sense)) IS NOT TRUE")
    guard odd == 0 else {
      throw StoreError.damaged(file: "the backup", reason: "\(odd ?? 0) \(rows) make no sense")
    }
  }
}

/// The migrations of several systems combined.
struct StoreSchema: Sendable {
  var systems: [StoreSystem]

  var names: [String] { systems.flatMap { $0.migrations.map(\.name) } }

  /// Returns the migrator of the systems' tables.
  ///
  /// - Parameter names: the names of the migrations to apply, or `nil` for all.
  func migrator(only names: Set<String>? = nil) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for migration in systems.flatMap(\.migrations) where names?.contains(migration.name) ?? true {
      migrator.registerMigration(migration.name, migrate: migration.make)
    }
    return migrator
  }

  /// Returns the shape of a file to which these migrations have been applied.
  func shape(of names: Set<String>) throws -> [String] {
    let queue = try DatabaseQueue()
    try migrator(only: names).migrate(queue)
    return try queue.read(Self.shape)
  }

  /// Returns the tables, columns, indices and all other parts of a file's schema, one line each. The SQL statements that created
  /// them are not included, since other versions of SQLite write them differently.
  static func shape(_ database: Database) throws -> [String] {
    try String.fetchAll(
      database,
      sql: """
        SELECT format('table %s %d %d: %d %s %s %d %s %d %d', t.name, t.wr, t.strict, c.cid, c.name, c.type, c."notnull",
          ifnull(c.dflt_value, ''), c.pk, c.hidden) AS line
        FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        UNION ALL
        SELECT format('index %s of %s %d %d: %d %s %d %s', m.name, m.tbl_name, l."unique", l.partial, c.seqno,
          ifnull(c.name, ''), c.desc, c.coll)
        FROM sqlite_schema AS m, pragma_index_list(m.tbl_name) AS l, pragma_index_xinfo(m.name) AS c
        WHERE m.type = 'index' AND l.name = m.name
        UNION ALL
        SELECT format('%s %s of %s: %s', type, name, tbl_name, sql) FROM sqlite_schema WHERE type NOT IN ('table', 'index')
        ORDER BY line
        """)
  }
}
