import GRDB
public import WallTime

/// One kind of row in a part of the store. The contents of a backup and the changes of a restore are described to people by such kinds.
public struct StoreContent: Sendable {
  /// The effect on the rows of a restore into a running program.
  public enum Restored: Sendable {
    /// The backup's rows take the place of the present ones.
    case replaced
    /// The backup's rows are added; where both have a row of the same key, the present one stays.
    case joined
    /// The present rows stay, because they describe the machine's present state.
    case kept
  }

  let rows: String
  let table: String
  let time: String?
  let restored: Restored

  /// Describes one kind of row.
  ///
  /// - Parameters:
  ///   - rows: the rows in words for people, such as `schedules`.
  ///   - table: the table of the rows, which has a primary key and the column `seal`.
  ///   - time: the column with the seconds since 1970 of each row, or `nil` if rows have no date.
  ///   - restored: what a restore into a running program does with the rows.
  public init(_ rows: String, in table: String, time: String? = nil, _ restored: Restored) {
    (self.rows, self.table, self.time, self.restored) = (rows, table, time, restored)
  }

  private var quoted: String { table.quotedDatabaseIdentifier }

  /// Counts the rows in the database `base`, which is `main` or an attached one. A date that no row of ours can have is ignored.
  func held(_ database: Database, in base: String = "main") throws -> HeldRows {
    let newest = time.map { column in
      let column = column.quotedDatabaseIdentifier
      return "max(CASE WHEN \(column) BETWEEN 0 AND 253402300799 THEN \(column) END)"
    }
    let row = try Row.fetchOne(database, sql: "SELECT count(*), \(newest ?? "NULL") FROM \(base).\(quoted)")
    let seconds: Int64? = row?[1]
    return HeldRows(rows: rows, count: row?[0] ?? 0, newest: seconds.map { WallInstant(secondsSince1970: $0) })
  }

  /// Counts the changes that a restore from the database attached as `backup` would make.
  ///
  /// - Parameter isWhole: whether the backup's rows take the place of all present ones, as in the store of a program that is stopped.
  func change(_ database: Database, isWhole: Bool) throws -> ChangedRows {
    let keys = try String.fetchAll(
      database, sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", arguments: [table])
    let same = keys.map { "there.\($0.quotedDatabaseIdentifier) = here.\($0.quotedDatabaseIdentifier)" }
    func count(_ base: String, _ condition: String) throws -> Int {
      try Int.fetchOne(database, sql: "SELECT count(*) FROM \(base).\(quoted) AS here WHERE \(condition)") ?? 0
    }
    func match(in base: String, and more: [String] = []) -> String {
      "EXISTS (SELECT 1 FROM \(base).\(quoted) AS there WHERE \((same + more).joined(separator: " AND ")))"
    }
    let restored = isWhole ? .replaced : restored
    return ChangedRows(
      now: try held(database), backup: try held(database, in: "backup"),
      lost: restored == .replaced ? try count("main", "NOT \(match(in: "backup"))") : 0,
      // The seal is the check sum of all other columns.
      overwritten: restored == .replaced ? try count("main", match(in: "backup", and: ["there.seal <> here.seal"])) : 0,
      added: restored == .kept ? 0 : try count("backup", "NOT \(match(in: "main"))"))
  }
}

/// A number of rows of one kind.
public struct HeldRows: Sendable, Hashable {
  /// The rows in words for people, such as `schedules`.
  public let rows: String
  /// The number of rows.
  public let count: Int
  /// The date of the newest row, or `nil` if there is no row or rows have no date.
  public let newest: WallInstant?
}

/// The content of one part of a store or of a backup.
public struct HeldPart: Sendable, Hashable {
  /// The name of the part, which is that of its system.
  public let name: String
  /// The rows by kind.
  public let contents: [HeldRows]
}

/// The effect of a restore on the rows of one kind.
public struct ChangedRows: Sendable, Hashable {
  /// The present rows of this kind.
  public let now: HeldRows
  /// The rows in the backup.
  public let backup: HeldRows
  /// The number of present rows that the backup does not have and that would be gone.
  public let lost: Int
  /// The number of present rows that would become those of the backup and are different now.
  public let overwritten: Int
  /// The number of rows of the backup that would be new.
  public let added: Int
}

/// The effect of a restore on one part of the store.
public struct ChangedPart: Sendable, Hashable {
  /// The name of the part, which is that of its system.
  public let name: String
  /// The changes by kind of row, or `nil` if the backup does not hold the part, which then stays as it is.
  public let contents: [ChangedRows]?
}
