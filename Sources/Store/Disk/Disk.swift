@_spi(FromOutside) import Conversions
import Glibc

/// The kernel's file calls as the store uses them. Failures are `StoreError`s that name the file.
enum Disk {
  /// Returns the present errno as an error.
  static func failure(_ file: String, _ doing: String) -> StoreError {
    let code = errno
    if code == ENOSPC || code == EDQUOT { return .diskFull(file: file, doing: doing) }
    if code == EROFS { return .readOnly(file: file, doing: doing) }
    return .failed(file: file, doing: doing, reason: String(cString: strerror(code)))
  }

  static func check(_ result: Int32, _ file: String, _ doing: String) throws(StoreError) {
    guard result == 0 else { throw failure(file, doing) }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Creates a folder and all its parents with mode 0700. An existing folder is left as it is.
  static func makeFolders(_ path: String) throws(StoreError) {
    if access(path, F_OK) == 0 { return }
    let above = folder(of: path)
    if above != path { try makeFolders(above) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path, "making the folder") }
    giveToOwner(path, of: above)
  }

  /// Returns the size of a file, or `nil` if the file does not exist.
  static func size(_ path: String) throws(StoreError) -> Int? {
    var status = stat()
    if stat(path, &status) != 0 {
      guard errno == ENOENT else { throw failure(path, "looking for it") }
      return nil
    }
    try check(status, path)
    return Int(status.st_size)
  }

  private static func check(_ status: stat, _ path: String) throws(StoreError) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .failed(file: path, doing: "opening", reason: "it is not a regular file")
    }
  }

  /// Opens a regular file and never waits: a named pipe in its place would block `open` until its other end is opened.
  static func open(_ path: String, _ flags: Int32, _ doing: String) throws(StoreError) -> Int32 {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw failure(path, doing) }
    do throws(StoreError) {
      var status = stat()
      try check(fstat(descriptor, &status), path, doing)
      try check(status, path)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Creates an empty file with mode 0600. Throws if a file of this name exists.
  static func create(_ path: String) throws(StoreError) {
    try close(open(path, O_RDWR | O_CREAT | O_EXCL, "making"))
    giveToOwner(path, of: folder(of: path))
  }

  /// Gives a file that root has created to the owner of the folder, so that a service with its own user can open the file later.
  static func giveToOwner(_ path: String, of folder: String) {
    var owner = stat()
    guard geteuid() == 0, stat(folder, &owner) == 0 else { return }
    _ = chown(path, owner.st_uid, owner.st_gid)
  }

  static func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
    let descriptor = try open(path, O_WRONLY | O_CREAT | O_EXCL, "making")
    defer { close(descriptor) }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(path, "writing") }
      written += count
    }
  }

  static func read(_ path: String) throws(StoreError) -> [UInt8] {
    let descriptor = try open(path, O_RDONLY, "reading")
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path, "reading") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Writes the contents of a file or a folder to the disk, where they are when this returns.
  static func sync(_ path: String) throws(StoreError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(path, "opening") }
    defer { close(descriptor) }
    try check(fsync(descriptor), path, "syncing")
  }

  /// Puts a complete file in the place of another. Its bytes and its name are on the disk when this returns.
  static func putInPlace(_ temporary: String, as path: String) throws(StoreError) {
    try sync(temporary)
    try check(rename(temporary, path), path, "putting the new file in its place")
    try sync(folder(of: path))
  }

  /// Renames a file to the first free name of `name`, `name-2`, `name-3`…, and returns that name.
  static func move(_ path: String, aside name: String) throws(StoreError) -> String {
    let target = free(name)
    try check(rename(path, target), path, "moving it aside")
    try sync(folder(of: path))
    return target
  }

  /// Returns the first of the names `name`, `name-2`, `name-3`… that does not exist.
  static func free(_ name: String) -> String {
    var target = name
    var number = 1
    while access(target, F_OK) == 0 {
      number += 1
      target = "\(name)-\(number)"
    }
    return target
  }

  static func remove(_ path: String) throws(StoreError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure(path, "removing") }
  }

  static func names(in folder: String) throws(StoreError) -> [String] {
    guard let directory = opendir(folder) else {
      guard errno == ENOENT else { throw failure(folder, "listing") }
      return []
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}

extension Disk {
  /// The free space in bytes below which the disk counts as full. A transaction of the store and its part of the write-ahead log
  /// need some tens of KB.
  private static let leastRoom: UInt64 = 128 << 10

  /// Returns the reason why the file system of a folder would accept no writes, or `nil` if it would accept them or cannot be queried. Writes
  /// nothing.
  static func lacks(_ folder: String, for file: String, _ doing: String) -> StoreError? {
    var system = statvfs()
    guard statvfs(folder, &system) == 0 else { return nil }
    if system.f_flag & UInt(truncatingIfNeeded: ST_RDONLY) != 0 { return .readOnly(file: file, doing: doing) }
    // Space that only the superuser may use does not count for other users.
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
