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
