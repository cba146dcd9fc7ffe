import Glibc

/// Keeps every other process away from a store for as long as it lives. The kernel lifts it when the process dies.
final class FileLock: Sendable {
  private let descriptor: Int32

  init(of path: String) throws(StoreError) {
    let name = path + ".lock"
    descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Disk.failure(name, "making the lock") }
    Disk.giveToOwner(name, of: Disk.folder(of: path))
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      let error = errno == EWOULDBLOCK ? StoreError.inUse(file: path) : Disk.failure(name, "locking")
      close(descriptor)
      throw error
    }
  }

  deinit {
    // Closing alone would leave it to a child that has been forked and has not yet become its own program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// What the last process that has opened the store wrote here: a process that finds its own mark again knows that no other has opened it since.
  var mark: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(0, count)))
  }

  func write(mark: [UInt8], _ path: String) throws(StoreError) {
    let name = path + ".lock"
    guard pwrite(descriptor, mark, mark.count, 0) == mark.count else { throw Disk.failure(name, "writing to the lock") }
    try Disk.check(fsync(descriptor), name, "syncing")
  }
}
