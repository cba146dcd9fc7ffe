@_spi(FromOutside) import Conversions
import Glibc

extension Disk {
  /// The free space in bytes below which the disk counts as full. A transaction of the store and its part of the write-ahead log
  /// need some tens of KB.
  private static let leastRoom: UInt64 = 128 << 10

  /// Returns why the file system of a folder would accept no writes, or `nil` if it would accept them or cannot be queried. Writes nothing.
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

  /// The identity of the file at a path, by which another file in its place is noticed.
  struct Identity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// Reads the identity of the file at a path. The result is `nil` if there is no file that can be reached.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
  }
}
