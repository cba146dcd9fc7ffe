/// A backup that was found sound and brought up to date: a file beside the store, removed when the last reference to this is gone.
public final class CheckedBackup: Sendable {
  /// As errors call it.
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
