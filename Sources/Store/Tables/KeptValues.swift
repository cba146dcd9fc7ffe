import GRDB

/// Single named values that a system keeps over a restart, such as a counter or a position. Blocks like `StoreFile`.
public struct KeptValues: Sendable {
  private let file: StoreFile
  private let table: String
  private let instance: String

  /// Creates access to the values that one system keeps.
  ///
  /// - Parameters:
  ///   - system: the kind of the system, such as `kettle`.
  ///   - instance: the full name of the system, such as `kettle/one`.
  public init(of system: String, instance: String, in file: StoreFile) {
    (self.file, self.instance, table) = (file, instance, Self.table(of: system))
  }

  private static func table(of system: String) -> String { system.replacing("-", with: "_") + "_kept" }

  /// Returns the migration that creates the table of a system's kept values. They describe the present, so a restored backup does not change them.
  public static func migration(of system: String) -> StoreSystem.Migration {
    StoreSystem.Migration(name: "\(system).kept") { database in
      try database.execute(
        sql: """
          CREATE TABLE \(table(of: system).quotedDatabaseIdentifier) (
            instance TEXT NOT NULL, name TEXT NOT NULL, value ANY, seal INTEGER NOT NULL, PRIMARY KEY (instance, name)
          ) STRICT
          """)
    }
  }

  /// Returns the description of the kept values for people.
  public static func content(of system: String) -> StoreContent {
    StoreContent("kept values", in: table(of: system), .kept)
  }

  /// Returns the values that were written last, by name.
  public func read() throws(StoreError) -> [String: StoredValue] {
    try file.read("reading what \(instance) has kept") { database in
      let rows = try Row.fetchAll(
        database, sql: "SELECT name, value FROM \(table.quotedDatabaseIdentifier) WHERE instance = ?",
        arguments: [instance])
      return rows.reduce(into: [:]) { $0[$1["name"] as String] = StoredValue($1["value"] as DatabaseValue) }
    }
  }

  /// Writes all of these values or none of them. They are on the disk when this returns.
  public func write(_ values: [String: StoredValue]) throws(StoreError) {
    try file.write("keeping values of \(instance)", by: .byMachine) { database in
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        try SealedRow.write(
          [instance.databaseValue, name.databaseValue, value.database], into: table, in: database)
      }
    }
  }
}
