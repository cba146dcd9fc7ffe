import WallTime

/// A backup that has been checked and migrated. It is a file beside the store, which is removed when the last reference to this object is released.
public final class CheckedBackup: Sendable {
  /// The names of the parts that a restore takes, which the backup holds.
  public let parts: Set<String>
  /// The name of the backup in errors.
  let name: String
  let path: String
  /// When the backup was checked.
  let made: WallInstant
  /// The path of the copy of what a restore replaces.
  let replaced: String

  init(name: String, path: String, parts: Set<String>, replaced: String, made: WallInstant) {
    (self.name, self.path, self.parts) = (name, path, parts)
    (self.replaced, self.made) = (replaced, made)
  }

  deinit {
    Self.remove(path)
    Self.remove(replaced)
  }

  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? Disk.remove(path + suffix) }
  }
}
