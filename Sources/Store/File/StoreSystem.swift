import GRDB

/// What one system keeps in the store: how its tables are made and changed, and what a restored backup does to them.
public struct StoreSystem: Sendable {
  /// One change of a system's tables, made once in every store.
  public struct Migration: Sendable {
    /// `sprinkler.1`; never changed once released, as little as what it does.
    var name: String
    var make: @Sendable (Database) throws -> Void

    /// - Parameters:
    ///   - name: `sprinkler.1`: one that no other migration has, and that is never changed once released.
    ///   - make: changes the tables, in a transaction of its own. What it does is never changed once released, either.
    public init(name: String, make: @escaping @Sendable (Database) throws -> Void) {
      self.name = name
      self.make = make
    }
  }
  var migrations: [Migration]
  /// What a backup does to a running system's tables, in the transaction of the restore, the backup attached as `backup`, its
  /// tables brought up to date. Logs are merged. What a system holds in memory it reads again (`StoreFile.restoreCount`), or it changes
  /// both in one moment, as `SprinklerStore.restore` does.
  var restore: @Sendable (Database) throws -> Void

  /// - Parameters:
  ///   - migrations: every one since the first release, in the order in which they are applied.
  ///   - restore: takes the system's rows from the database attached as `backup`, in the restore's transaction.
  ///     An error takes back the whole restore.
  public init(migrations: [Migration], restore: @escaping @Sendable (Database) throws -> Void) {
    self.migrations = migrations
    self.restore = restore
  }

  /// Refuses a restore for rows of the attached backup that make no sense: a row's seal says that it is what was written, not what.
  ///
  /// - Parameters:
  ///   - rows: for people: `lines of its watering log`.
  ///   - sense: an SQL condition over the columns of one row.
  /// - Throws: `StoreError.damaged`, which takes back the restore.
  public static func refuse(_ rows: String, in table: String, unless sense: String, _ database: Database) throws {
    let odd = try Int.fetchOne(
      database, sql: "SELECT count(*) FROM backup.\(table.quotedDatabaseIdentifier) WHERE (\(sense)) IS NOT TRUE")
    guard odd == 0 else {
      throw StoreError.damaged(file: "the backup", reason: "\(odd ?? 0) \(rows) make no sense")
    }
  }
}

/// The migrations of several systems as one.
struct StoreSchema: Sendable {
  var systems: [StoreSystem]

  var names: [String] { systems.flatMap { $0.migrations.map(\.name) } }

  /// - Parameter names: Only these; all if nil.
  func migrator(only names: Set<String>? = nil) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for migration in systems.flatMap(\.migrations) where names?.contains(migration.name) ?? true {
      migrator.registerMigration(migration.name, migrate: migration.make)
    }
    return migrator
  }

  /// The shape of a file to which these migrations were applied.
  func shape(of names: Set<String>) throws -> [String] {
    let queue = try DatabaseQueue()
    try migrator(only: names).migrate(queue)
    return try queue.read(Self.shape)
  }

  /// Tables, columns, indices and everything else that a file's schema holds, a line each. Not the statements that made them: other
  /// versions of SQLite write those otherwise.
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
