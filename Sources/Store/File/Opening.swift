import WallTime

/// Provides an intact file of a known version at a path, whatever is there at present: the file itself, the last good snapshot or a new file.
///
/// If the process is killed meanwhile, the next opening continues correctly: a file comes into its place complete, by a rename, and
/// a damaged file is set aside before another replaces it.
struct Opening {
  let path: String
  let schema: StoreSchema
  let shelf: SnapshotShelf
  let now: WallInstant
  private(set) var report: StoreReport

  init(path: String, schema: StoreSchema, shelf: SnapshotShelf, now: WallInstant) {
    self.path = path
    self.schema = schema
    self.shelf = shelf
    self.now = now
    report = StoreReport(file: path, origin: .found)
  }

  mutating func run() throws(StoreError) {
    for suffix in ["", "-journal", "-wal", "-shm"] { try Disk.remove(path + ".new" + suffix) }
    guard try Disk.size(path) != nil else {
      try replace(otherwise: .created)
      return
    }
    // SQLite also opens these files beside the store, and would wait at a named pipe.
    for log in [path + "-journal", path + "-shm"] { _ = try Disk.size(log) }
    let flaw = try LogFlaw(in: path + "-wal")
    switch try Inspection.verdict(on: path, schema: schema) {
    case .sound: if let flaw { report.logFlaw = try keep(flaw) }
    case .newer(let unknown): throw .newer(file: path, unknown: unknown)
    case .foreign(let found): throw .foreign(file: path, found: found)
    case .damaged(let reason):
      try setAside(path, reason: "damaged: \(reason)")
      try replace(otherwise: .startedAnew)
    }
  }

  /// Replaces the file by the newest intact snapshot, or by a new file if there is none.
  private mutating func replace(otherwise origin: StoreReport.Origin) throws(StoreError) {
    // SQLite would apply whatever write-ahead log it finds beside the file.
    for log in [path + "-wal", path + "-journal"] where try Disk.size(log) != nil {
      try setAside(log, reason: "the file it belongs to is gone")
    }
    try Disk.remove(path + "-shm")
    var origin = origin
    for snapshot in try shelf.snapshots().reversed() {
      switch try Inspection.verdict(on: snapshot.path, schema: schema) {
      case .sound:
        try Disk.write(try Disk.read(snapshot.path), to: path + ".new")
        try SQLite.useWriteAheadLog(path + ".new")
        try Disk.putInPlace(path + ".new", as: path)
        report.origin = .snapshot(file: snapshot.path, made: snapshot.made)
        return
      case .newer(let unknown): note(snapshot.path, "written by a newer version (\(unknown.joined(separator: ", ")))")
      case .foreign(let found): note(snapshot.path, "expected a store of this program, found \(found)")
      case .damaged(let reason): try setAside(snapshot.path, reason: "damaged: \(reason)")
      }
      origin = .startedAnew
    }
    try create()
    report.origin = origin
  }

  private mutating func note(_ file: String, _ reason: String) {
    report.setAside.append(StoreReport.SetAside(file: file, movedTo: nil, reason: reason))
  }

  /// Sets a damaged file aside together with its logs, so that they can be opened together.
  private mutating func setAside(_ file: String, reason: String) throws(StoreError) {
    let moved = try Disk.move(file, aside: "\(file).damaged-\(now.nameText)")
    for log in ["-wal", "-journal"] where try Disk.size(file + log) != nil {
      _ = try Disk.move(file + log, aside: moved + log)
    }
    report.setAside.append(StoreReport.SetAside(file: file, movedTo: moved, reason: reason))
  }

  /// Copies a log that has lost transactions, since SQLite overwrites it.
  private func keep(_ flaw: LogFlaw) throws(StoreError) -> LogFlaw {
    guard flaw.isLoss else { return flaw }
    var flaw = flaw
    let copy = Disk.free("\(flaw.file).damaged-\(now.nameText)")
    try Disk.write(try Disk.read(flaw.file), to: copy)
    flaw.copy = copy
    return flaw
  }

  private func create() throws(StoreError) {
    let temporary = path + ".new"
    try Disk.create(temporary)
    try SQLite.bringUpToDate(temporary, schema)
    try SQLite.useWriteAheadLog(temporary)
    try Disk.putInPlace(temporary, as: path)
  }
}

extension LogFlaw {
  /// Reads a write-ahead log before SQLite opens it. The result is `nil` if there is no log, or if the log is intact.
  ///
  /// Frames of an earlier pass through the file have other salts, and frames of a transaction that was never committed lack the
  /// mark of its end. Both belong after the last transaction.
  init?(in file: String) throws(StoreError) {
    guard let size = try Disk.size(file), size > 0 else { return nil }
    let log = try Disk.read(file)
    guard let flaw = log.withUnsafeBytes({ Self.find(in: $0) }) else { return nil }
    (self.file, offset, transactions, copy) = (file, flaw.offset, flaw.transactions, nil)
  }
}
