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
  /// The file system takes no writes. Nothing of the change has been made.
  case readOnly(file: String, doing: String)
  /// Another process has the store open.
  case inUse(file: String)
  /// The file system that the store is on is not there. `known`: who says that it should be.
  case notMounted(file: String, mount: String, known: String)
  /// The file that was opened is not at its path any more.
  case gone(file: String)
  /// The file that was opened is gone, and what is at its path now is another one.
  case replaced(file: String)
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
    case .readOnly(let file, let doing): "\(file): \(doing): the file system is read-only"
    case .inUse(let file): "\(file): another process has it open"
    case .notMounted(let file, let mount, let known):
      "\(file): expected a file system at \(mount) (\(known)), found none mounted there"
    case .gone(let file): "\(file): the open file is not at its path any more"
    case .replaced(let file): "\(file): expected the file that was open before, found another one"
    case .failed(let file, let doing, let reason): "\(file): \(doing): \(reason)"
    }
  }
}

extension StoreError {
  /// What a person can do; the daemon notices by itself, unless it says otherwise.
  public var wayOut: String {
    switch self {
    case .newer: "install the version that wrote it, or one that is newer"
    case .foreign, .damaged: "move the file away, or put a good one in its place"
    case .diskFull(let file, _): "make room on the disk of \(Disk.folder(of: file))"
    case .readOnly(let file, _): "mount the disk of \(Disk.folder(of: file)) writable"
    case .inUse: "end the other process"
    case .notMounted(_, let mount, _): "mount \(mount) (or, if the store is to be without it, set store.mount: /)"
    case .gone: "put the file back, or mount its disk again"
    case .replaced: "put the file that was open before back, or restart the daemon to use the other one"
    case .failed(let file, _, _): "make \(file) a file, in a folder, that the daemon may write"
    }
  }

  /// Whether two differ at most in what was being done, so that one line in the log is enough for both.
  public func isSameTrouble(as other: StoreError) -> Bool {
    switch (self, other) {
    case (.diskFull(let file, _), .diskFull(let otherFile, _)), (.readOnly(let file, _), .readOnly(let otherFile, _)):
      Disk.folder(of: file) == Disk.folder(of: otherFile)
    case (.failed(_, _, let reason), .failed(_, _, let otherReason)): reason == otherReason
    default: self == other
    }
  }
}
