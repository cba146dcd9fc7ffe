import Glibc

/// A lock that keeps every other process from opening a store while this object exists. The kernel releases the lock when the process dies.
final class FileLock: Sendable {
  private let descriptor: Int32

  init(of path: String) throws(StoreError) {
    let name = path + ".lock"
    descriptor = try Disk.open(name, O_RDWR | O_CREAT, "making the lock")
    Disk.giveToOwner(name, of: Disk.folder(of: path))
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      let error = errno == EWOULDBLOCK ? StoreError.inUse(file: path) : Disk.failure(name, "locking")
      close(descriptor)
      throw error
    }
  }

  deinit {
    // Closing the descriptor alone would leave the lock to a child that has been forked and has not yet executed its
    // own program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// The mark that the last process to open the store has written. A process that reads back its own mark knows that no other
  /// process has opened the store since.
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
