import Service
import Store
import WallTime

/// The answer of `GET /api/store`: the contents of the store, part by part.
struct StoreHeld: Codable {
  /// Rows of one kind.
  struct Rows: Codable {
    var rows: String
    var count: Int
    /// The date of the newest row, or `nil` if rows of this kind have no date.
    @OrNull var newestISO: String?

    init(_ held: HeldRows) {
      (rows, count) = (held.rows, held.count)
      _newestISO = OrNull(wrappedValue: held.newest.map { WallTimeText.text($0) })
    }
  }

  /// A part of the store.
  struct Part: Codable {
    var part: String
    var contents: [Rows]
  }

  var ok = true
  var parts: [Part]
  /// The start of the restore that `POST /api/restore/undo` undoes, or `nil` if there is none.
  @OrNull var undoISO: String?

  init(parts: [HeldPart], replaced: Snapshot?) {
    self.parts = parts.map { Part(part: $0.name, contents: $0.contents.map(Rows.init)) }
    _undoISO = OrNull(wrappedValue: replaced.map { WallTimeText.text($0.made) })
  }
}

/// The answer of `POST /api/restore/look`: the changes that a restore would make, part by part.
struct StoreLook: Codable {
  /// The changes of the rows of one kind.
  struct Rows: Codable {
    var rows: String
    /// The number of rows in the store now; `inBackup` is that of the backup.
    var now: Int
    var inBackup: Int
    @OrNull var newestISO: String?
    @OrNull var newestInBackupISO: String?
    /// The number of rows that the restore would remove; `overwritten` is that of rows it would change, `added` that of
    /// new ones.
    var lost: Int
    var overwritten: Int
    var added: Int

    init(_ changed: ChangedRows) {
      (rows, now, inBackup) = (changed.now.rows, changed.now.count, changed.backup.count)
      _newestISO = OrNull(wrappedValue: changed.now.newest.map { WallTimeText.text($0) })
      _newestInBackupISO = OrNull(wrappedValue: changed.backup.newest.map { WallTimeText.text($0) })
      (lost, overwritten, added) = (changed.lost, changed.overwritten, changed.added)
    }
  }

  /// A part of the store.
  struct Part: Codable {
    var part: String
    /// Whether the backup holds the part. A part that the backup does not hold stays as it is.
    var isInBackup: Bool
    var contents: [Rows]
  }

  var ok = true
  var parts: [Part]

  init(_ parts: [ChangedPart]) {
    self.parts = parts.map {
      Part(part: $0.name, isInBackup: $0.contents != nil, contents: ($0.contents ?? []).map(Rows.init))
    }
  }
}
