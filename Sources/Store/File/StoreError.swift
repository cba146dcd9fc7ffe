/// The reason why an operation of the store failed. The texts are suitable for a log line: they name the file and contain nothing
/// else that is private.
public enum StoreError: Error, Sendable, Hashable {
  /// A later version of the program wrote the file. Nothing has been changed.
  case newer(file: String, unknown: [String])
  /// The file is an intact SQLite file of another program. Nothing has been changed.
  case foreign(file: String, found: String)
  /// The backup does not hold a part that was to be restored. Nothing has been changed.
  case lacksPart(file: String, part: String, held: [String])
  /// The contents of the file are damaged.
  case damaged(file: String, reason: String)
  /// The disk is full. Nothing of the change has been made; the next change may succeed.
  case diskFull(file: String, doing: String)
  /// The file system is read-only. Nothing of the change has been made.
  case readOnly(file: String, doing: String)
  /// Another process has the store open.
  case inUse(file: String)
  /// The file system of the store is not mounted. `known` is the source of the expectation that it should be.
  case notMounted(file: String, mount: String, known: String)
  /// The opened file is no longer at its path.
  case gone(file: String)
  /// The opened file is gone, and another file is at its path.
  case replaced(file: String)
  /// A backup was restored after the data on which the change is based had been read. Nothing of the change has been made; the data is to be read
  /// again.
  case restored(file: String, doing: String)
  /// The kernel or SQLite refused the operation for another reason.
  case failed(file: String, doing: String, reason: String)
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .newer(let file, let unknown):
      "\(file): written by a newer version (it has \(unknown.joined(separator: ", "))); not touched"
    case .foreign(let file, let found): "\(file): expected a store of this program, found \(found); not touched"
    case .lacksPart(let file, let part, let held):
      "\(file): expected one that holds the part \(part), got one that holds \(held.joined(separator: ", "))"
    case .damaged(let file, let reason): "\(file): damaged: \(reason)"
    case .diskFull(let file, let doing): "\(file): \(doing): the disk is full"
    case .readOnly(let file, let doing): "\(file): \(doing): the file system is read-only"
    case .inUse(let file): "\(file): another process has it open"
    case .notMounted(let file, let mount, let known):
      "\(file): expected a file system at \(mount) (\(known)), found none mounted there"
    case .gone(let file): "\(file): the open file is not at its path any more"
    case .replaced(let file): "\(file): expected the file that was open before, found another one"
    case .restored(let file, let doing): "\(file): \(doing): a backup was restored meanwhile"
    case .failed(let file, let doing, let reason): "\(file): \(doing): \(reason)"
    }
  }
}

extension StoreError {
  /// The remedy for a person. The daemon notices it without a restart unless the text says otherwise.
  public var wayOut: String {
    switch self {
    case .newer: "install the version that wrote it, or one that is newer"
    case .lacksPart(_, _, let held): "restore parts that it holds: \(held.joined(separator: ", "))"
    case .foreign, .damaged: "move the file away, or put a good one in its place"
    case .diskFull(let file, _): "make room on the disk of \(Disk.folder(of: file))"
    case .readOnly(let file, _): "mount the disk of \(Disk.folder(of: file)) writable"
    case .inUse: "end the other process, or give this one a store of its own (store.folder)"
    case .notMounted(_, let mount, _): "mount \(mount) (or, if the store is to be without it, set store.mount: /)"
    case .gone: "put the file back, or mount its disk again"
    case .replaced: "put the file that was open before back, or restart the daemon to use the other one"
    case .restored: "send it again"
    case .failed(let file, _, _): "make \(file) a file, in a folder, that the daemon may write"
    }
  }

  /// Returns whether two errors differ at most in the operation that failed, so that one line in the log is enough for both.
  public func isSameTrouble(as other: StoreError) -> Bool {
    switch (self, other) {
    case (.diskFull(let file, _), .diskFull(let otherFile, _)), (.readOnly(let file, _), .readOnly(let otherFile, _)):
      Disk.folder(of: file) == Disk.folder(of: otherFile)
    case (.failed(_, _, let reason), .failed(_, _, let otherReason)): reason == otherReason
    default: self == other
    }
  }
}
