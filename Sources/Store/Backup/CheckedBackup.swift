/// A backup that has been checked and migrated. It is a file beside the store, which is removed when the last reference to this object is released.
public final class CheckedBackup: Sendable {
  /// The name of the backup in errors.
  let name: String
  let path: String

  init(name: String, path: String) {
    self.name = name
    self.path = path
  }

  deinit { Self.remove(path) }

  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? Disk.remove(path + suffix) }
  }
}
