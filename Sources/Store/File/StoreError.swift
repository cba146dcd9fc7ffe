/// Why the store could not do what it was asked, in words fit for a log line: they name the file and hold nothing else that is
/// private.
public enum StoreError: Error, Sendable, Hashable {
  /// A later version of the program wrote it. Nothing has been touched.
  case newer(file: String, unknown: [String])
  /// A sound SQLite file that is not ours. Nothing has been touched.
  case foreign(file: String, found: String)
  /// Its contents are not what was written.
  case damaged(file: String, reason: String)
  /// Nothing of the change has been made; the next one may go through again.
  case diskFull(file: String, doing: String)
  /// Another process has the store open.
  case inUse(file: String)
  /// The kernel or SQLite refused, for another reason.
  case failed(file: String, doing: String, reason: String)
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .newer(let file, let unknown):
      "\(file): written by a newer version (it has \(unknown.joined(separator: ", "))); not touched"
    case .foreign(let file, let found): "\(file): expected a store of this program, found \(found); not touched"
    case .damaged(let file, let reason): "\(file): damaged: \(reason)"
    case .diskFull(let file, let doing): "\(file): \(doing): the disk is full"
    case .inUse(let file): "\(file): another process has it open"
    case .failed(let file, let doing, let reason): "\(file): \(doing): \(reason)"
    }
  }
}
