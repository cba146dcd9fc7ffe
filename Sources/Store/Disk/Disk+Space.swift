import Glibc

extension Disk {
  /// Less than this is no room: a transaction of ours and its place in the write-ahead log take some tens of KB.
  private static let leastRoom: UInt64 = 128 << 10

  /// Why the file system of a folder would take no writes, or `nil` if it would, or cannot be asked. Writes nothing.
  static func lacks(_ folder: String, for file: String, _ doing: String) -> StoreError? {
    var system = statvfs()
    guard statvfs(folder, &system) == 0 else { return nil }
    if system.f_flag & UInt(truncatingIfNeeded: ST_RDONLY) != 0 { return .readOnly(file: file, doing: doing) }
    // What only the superuser may use does not count for others.
    let free = UInt64(geteuid() == 0 ? system.f_bfree : system.f_bavail)
    let isFull = system.f_blocks > 0 && free * UInt64(system.f_frsize) < leastRoom
    let hasNoFiles = system.f_files > 0 && system.f_ffree == 0
    return isFull || hasNoFiles ? .diskFull(file: file, doing: doing) : nil
  }

  /// Which file a path leads to, so that another one in its place is noticed.
  struct Identity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if there is no way to a file at this path.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
  }
}
