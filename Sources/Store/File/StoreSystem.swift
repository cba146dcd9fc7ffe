import GRDB

/// What one system keeps in the store: how its tables are made and changed, and what a restored backup does to them.
struct StoreSystem: Sendable {
  struct Migration: Sendable {
    /// `sprinkler.1`; never changed once released, as little as what it does.
    var name: String
    var make: @Sendable (Database) throws -> Void
  }
  var migrations: [Migration]
  /// Runs in the transaction of a restore, the backup attached as `backup`, its tables brought up to date.
  var restore: @Sendable (Database) throws -> Void

  /// All of the program's.
  static var all: [StoreSystem] { [.sprinkler] }
}

/// The migrations of several systems as one.
struct StoreSchema: Sendable {
  var systems: [StoreSystem]

  static var current: StoreSchema { StoreSchema(systems: StoreSystem.all) }

  var names: [String] { systems.flatMap { $0.migrations.map(\.name) } }

  /// - Parameter names: Only these; all if nil.
  func migrator(only names: Set<String>? = nil) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for migration in systems.flatMap(\.migrations) where names?.contains(migration.name) ?? true {
      migrator.registerMigration(migration.name, migrate: migration.make)
    }
    return migrator
  }

  /// What SQLite keeps about the tables of a file to which these migrations were applied.
  func text(of names: Set<String>) throws -> [String] {
    let queue = try DatabaseQueue()
    try migrator(only: names).migrate(queue)
    return try queue.read(Self.text)
  }

  static func text(_ database: Database) throws -> [String] {
    try String.fetchAll(
      database,
      sql: """
        SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || ifnull(sql, '') FROM sqlite_schema
        WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name
        """)
  }
}
