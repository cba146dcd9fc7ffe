import Glibc

/// A file that could not be written, and why.
public struct FileFailure: Error {
  /// The file, temporary file or folder that the failed call was about.
  public let path: String
  /// For people: the words of strerror(3), or `is not a file` or `is longer than 4 MB`.
  public let reason: String
}

/// errno in words.
func lastReason() -> String { String(cString: strerror(errno)) }

func folder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Reads a regular file of at most 4 MB, and returns `nil` if the file does not exist. `look` is shown the file's status.
public func readWhole(
  _ path: String, look: (stat) -> Void = { _ in }
) throws(FileFailure) -> [UInt8]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  if descriptor < 0, errno == ENOENT { return nil }
  guard descriptor >= 0 else { throw FileFailure(path: path, reason: lastReason()) }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw FileFailure(path: path, reason: lastReason()) }
  guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(path: path, reason: "is not a file") }
  look(status)
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(descriptor, &chunk, chunk.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw FileFailure(path: path, reason: lastReason()) }
    if count == 0 { return bytes }
    bytes += chunk[..<count]
    guard bytes.count <= 4 << 20 else { throw FileFailure(path: path, reason: "is longer than 4 MB") }
  }
}

/// Makes a folder with all those above it, mode 0700; does nothing where it is there. Made by root, it belongs to the owner of the folder
/// above it.
func makeFolders(_ path: String) throws(FileFailure) {
  if access(path, F_OK) == 0 { return }
  let above = folder(of: path)
  if above != path { try makeFolders(above) }
  guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFailure(path: path, reason: lastReason()) }
  var owner = stat()
  if geteuid() == 0, stat(above, &owner) == 0 { _ = lchown(path, owner.st_uid, owner.st_gid) }
}

/// Puts a file in place of another: both its bytes and its name are on the disk when this returns.
///
/// Written by root, the file belongs to the owner of the one before it, or else of the folder: a service under a user of its own
/// can still read it.
public func writeAtomically(_ bytes: [UInt8], to path: String, mode: mode_t) throws(FileFailure) {
  let temporary = "\(path).\(Hexadecimal.text(SystemCrypto.randomBytes(6))).new"
  let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  guard descriptor >= 0 else { throw FileFailure(path: temporary, reason: lastReason()) }
  var isInPlace = false
  defer {
    close(descriptor)
    if !isInPlace { unlink(temporary) }
  }
  func check(_ result: Int32) throws(FileFailure) {
    guard result == 0 else { throw FileFailure(path: path, reason: lastReason()) }
  }
  // Whatever the process's umask is.
  try check(fchmod(descriptor, mode))
  if geteuid() == 0 { try check(giveToOwner(descriptor, of: path)) }
  var written = 0
  while written < bytes.count {
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, bytes.count - written) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { throw FileFailure(path: temporary, reason: lastReason()) }
    written += count
  }
  try check(fsync(descriptor))
  try check(rename(temporary, path))
  isInPlace = true
  let parent = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard parent >= 0 else { throw FileFailure(path: path, reason: lastReason()) }
  defer { close(parent) }
  try check(fsync(parent))
}

/// Makes an open file belong to the owner of another, or of the folder where that will be.
@discardableResult
func giveToOwner(_ descriptor: Int32, of path: String) -> Int32 {
  var owner = stat()
  guard stat(path, &owner) == 0 || stat(folder(of: path), &owner) == 0 else { return -1 }
  return fchown(descriptor, owner.st_uid, owner.st_gid)
}
