@_spi(FromOutside) import Conversions
import Glibc

/// The token file on disk, which is read whole, changed under a lock and replaced atomically.
///
/// A change survives a power cut once the function has returned; a concurrent reader sees the old file or the new one.
public struct TokenFolder: Sendable {
  /// The path of the token file, not of its folder. The lock file has the same path with `.lock` appended.
  public let path: String

  /// Makes the value without touching the disk.
  ///
  /// - Parameter path: path of the token file; the file and its folder may be missing.
  public init(path: String) { self.path = path }

  /// The properties that distinguish one state of the file from another.
  struct Identity: Equatable, Sendable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    /// The time of the last status change. Unlike the time of the last write this time cannot be set, and chmod changes it.
    var seconds: Int
    var nanoseconds: Int

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      seconds = status.st_ctim.tv_sec
      nanoseconds = status.st_ctim.tv_nsec
    }
  }

  /// The file's identity, or `nil` if the file does not exist or cannot be reached. Takes about 1 µs.
  var identity: Identity? {
    var status = stat()
    return stat(path, &status) == 0 ? Identity(status) : nil
  }

  /// Returns the file's contents, or an empty `TokenFile` if the file does not exist.
  public func read() throws(TokenFileError) -> TokenFile { try readIdentified().file }

  func readIdentified() throws(TokenFileError) -> (file: TokenFile, identity: Identity?) {
    var found: stat?
    let bytes: [UInt8]?
    do throws(FileFailure) {
      bytes = try readWhole(path) { found = $0 }
    } catch {
      throw .unreadable(path: path, reason: error.reason)
    }
    guard let bytes, let found else { return (TokenFile(), nil) }
    guard found.st_mode & 0o022 == 0 else {
      throw .exposed(path: path, mode: UInt16(truncatingIfNeeded: found.st_mode & 0o777))
    }
    return (try TokenFile.decode(bytes, path: path), Identity(found))
  }

  /// Changes the file after waiting for other processes that are changing it, and returns the result of `body`. Makes
  /// the file and its folder (mode 0700) if they are missing.
  ///
  /// - Parameter waits: whether other processes that are changing the file are waited for. If not, `busy` is thrown then.
  public func change<Result>(
    waits: Bool = true, _ body: (inout TokenFile) throws(TokenFileError) -> Result
  ) throws(TokenFileError) -> Result {
    try makeFolder()
    let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw .unwritable(path: path + ".lock", reason: lastReason()) }
    // Closing releases the lock.
    defer { close(lock) }
    if geteuid() == 0 { giveToOwner(lock, of: path) }
    while flock(lock, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      if !waits, errno == EWOULDBLOCK { throw .busy(path: path) }
      guard errno == EINTR else { throw .unwritable(path: path + ".lock", reason: lastReason()) }
    }
    var file = try read()
    let result = try body(&file)
    try replaceFile(path, with: file.encoded(), mode: 0o600)
    return result
  }

  /// Puts the tokens of a backup in the place of the file's, as `change` does. What is revoked in the file stays revoked.
  ///
  /// - Parameter copy: path of a new file that has the tokens as they were. None is made if there was no token file.
  /// - Returns: whether the file has changed.
  public func restore(_ backup: TokenFile, keepingAs copy: String) throws(TokenFileError) -> Bool {
    try change { file throws(TokenFileError) -> Bool in
      let restored = backup.keepingRevocations(of: file)
      guard restored != file else { return false }
      if identity != nil { try replaceFile(copy, with: file.encoded(), mode: 0o600) }
      file = restored
      return true
    }
  }

  private func makeFolder() throws(TokenFileError) {
    do throws(FileFailure) {
      try makeFolders(folder(of: path))
    } catch {
      throw .unwritable(path: error.path, reason: error.reason)
    }
  }

  private func replaceFile(_ path: String, with bytes: [UInt8], mode: mode_t) throws(TokenFileError) {
    do throws(FileFailure) {
      try writeAtomically(bytes, to: path, mode: mode)
    } catch {
      throw .unwritable(path: error.path, reason: error.reason)
    }
  }
}
