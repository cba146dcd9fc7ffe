import Glibc

/// The failure of a file operation: the path and the reason.
public struct FileFailure: Error, CustomStringConvertible {
  /// The file, temporary file or folder on which the operation failed.
  public let path: String
  /// The reason in words: the text of strerror(3), `is not a file but a named pipe` or `is longer than 4 MB`.
  public let reason: String
  /// Whether the file has more bytes than are read of it.
  public private(set) var isTooLong = false

  public var description: String { "\(path): \(reason)" }

  /// Makes a failure from the path and the reason.
  public init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }

  fileprivate static func tooLong(_ path: String, most: Int) -> FileFailure {
    var failure = FileFailure(path: path, reason: "is longer than \(most >> 20) MB")
    failure.isTooLong = true
    return failure
  }
}

/// Opens a file that a user has named, without waiting: a named pipe in its place would block `open` until its other end is opened. Only a regular
/// file, or a kind of file that the caller also accepts, is opened. Returns the descriptor, or `nil` if there is no such file.
///
/// - Parameters:
///   - flags: those of open(2); O_CLOEXEC is added.
///   - mode: the mode of a file that is made.
///   - kinds: the kinds of files that are accepted besides regular ones, as in `st_mode`.
///   - pipes: whether a pipe is accepted, too, and waited for, as by a command that a person has typed and can end;
///     never in a daemon.
public func openOutside(
  _ path: String, _ flags: Int32, mode: mode_t = 0, alsoTaking kinds: [mode_t] = [],
  waitingForPipes pipes: Bool = false,
  look: (stat) -> Void = { _ in }
) throws(FileFailure) -> Int32? {
  let kinds = pipes ? kinds + [S_IFIFO] : kinds
  let descriptor = open(path, flags | O_CLOEXEC | (pipes && isPipe(path) ? 0 : O_NONBLOCK) | O_NOCTTY, mode)
  var status = stat()
  guard descriptor >= 0 else {
    if errno == ENOENT { return nil }
    let reason = lastReason()
    // The kind of file (a pipe without a reader, or a socket) says more than "no such device".
    let isPlain = errno != ENXIO || stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    throw FileFailure(path: path, reason: isPlain ? reason : "is not a file but \(kind(of: status))")
  }
  guard fstat(descriptor, &status) == 0 else {
    let reason = lastReason()
    close(descriptor)
    throw FileFailure(path: path, reason: reason)
  }
  guard ([S_IFREG] + kinds).contains(status.st_mode & S_IFMT) else {
    close(descriptor)
    throw FileFailure(path: path, reason: "is not a file but \(kind(of: status))")
  }
  look(status)
  return descriptor
}

private func isPipe(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
}

private func kind(of status: stat) -> String {
  switch status.st_mode & S_IFMT {
  case S_IFIFO: "a named pipe"
  case S_IFDIR: "a folder"
  case S_IFSOCK: "a socket"
  default: "a device"
  }
}

/// Returns the text of strerror(3) for the present errno.
func lastReason() -> String { String(cString: strerror(errno)) }

func folder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Returns the bytes of a regular file of at most `most` bytes, or `nil` if the file does not exist. `look` is called with the file's status.
/// With `pipes` a pipe is taken, too, and read until it ends, however long that takes: see `openOutside`.
public func readWhole(
  _ path: String, most: Int = 4 << 20, waitingForPipes pipes: Bool = false, look: (stat) -> Void = { _ in }
) throws(FileFailure) -> [UInt8]? {
  guard let descriptor = try openOutside(path, O_RDONLY, waitingForPipes: pipes, look: look) else { return nil }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(descriptor, &chunk, chunk.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw FileFailure(path: path, reason: lastReason()) }
    if count == 0 { return bytes }
    bytes += chunk[..<count]
    guard bytes.count <= most else { throw FileFailure.tooLong(path, most: most) }
  }
}

/// Makes a folder and its missing parents with mode 0700; does nothing if the folder exists. A folder made by root is
/// given to the owner of its parent.
func makeFolders(_ path: String) throws(FileFailure) {
  if access(path, F_OK) == 0 { return }
  let above = folder(of: path)
  if above != path { try makeFolders(above) }
  guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFailure(path: path, reason: lastReason()) }
  var owner = stat()
  if geteuid() == 0, stat(above, &owner) == 0 { _ = lchown(path, owner.st_uid, owner.st_gid) }
}

/// Replaces a file atomically: both its bytes and its name are on the disk when this returns.
///
/// A file written by root is given to the owner of the file that it replaces, or else to the owner of the folder, so
/// that a service under another user can still read it.
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
  // The mode must not depend on the process's umask.
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

/// Gives an open file to the owner of the file at `path`, or to the owner of the folder of `path` if there is no such
/// file. Returns 0, or −1 if that failed.
@discardableResult
func giveToOwner(_ descriptor: Int32, of path: String) -> Int32 {
  var owner = stat()
  guard stat(path, &owner) == 0 || stat(folder(of: path), &owner) == 0 else { return -1 }
  return fchown(descriptor, owner.st_uid, owner.st_gid)
}
