import Glibc

/// The kernel's file calls as the store uses them, their refusals as `StoreError`s that name the file.
enum Disk {
  /// errno as an error.
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

  /// Makes a folder with all those above it, mode 0700; leaves one that is there as it is.
  static func makeFolders(_ path: String) throws(StoreError) {
    if access(path, F_OK) == 0 { return }
    let above = folder(of: path)
    if above != path { try makeFolders(above) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path, "making the folder") }
    giveToOwner(path, of: above)
  }

  /// Nil: there is none.
  static func size(_ path: String) throws(StoreError) -> Int? {
    var status = stat()
    if stat(path, &status) != 0 {
      guard errno == ENOENT else { throw failure(path, "looking for it") }
      return nil
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .failed(file: path, doing: "opening", reason: "it is not a regular file")
    }
    return Int(status.st_size)
  }

  /// An empty file, mode 0600, that was not there before.
  static func create(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path, "making") }
    close(descriptor)
    giveToOwner(path, of: folder(of: path))
  }

  /// Made by root, files belong to whom the folder belongs: a service with a user of its own can open them later.
  static func giveToOwner(_ path: String, of folder: String) {
    var owner = stat()
    guard geteuid() == 0, stat(folder, &owner) == 0 else { return }
    _ = chown(path, owner.st_uid, owner.st_gid)
  }

  static func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path, "making") }
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
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, "reading") }
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

  /// A file's or a folder's contents are on the disk when this returns.
  static func sync(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, "opening") }
    defer { close(descriptor) }
    try check(fsync(descriptor), path, "syncing")
  }

  /// Puts a file that is complete in another's place: the bytes and the name are on the disk when this returns.
  static func putInPlace(_ temporary: String, as path: String) throws(StoreError) {
    try sync(temporary)
    try check(rename(temporary, path), path, "putting the new file in its place")
    try sync(folder(of: path))
  }

  /// Gives a file another name that nothing has yet: `name`, `name-2`, `name-3`…; returns it.
  static func move(_ path: String, aside name: String) throws(StoreError) -> String {
    let target = free(name)
    try check(rename(path, target), path, "moving it aside")
    try sync(folder(of: path))
    return target
  }

  /// `name`, `name-2`, `name-3`…: the first that nothing has.
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
