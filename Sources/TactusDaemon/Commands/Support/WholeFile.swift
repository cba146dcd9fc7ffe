import Foundation
import Glibc

/// A file that is replaced as a whole: after a power cut it is the old one or the new one.
enum WholeFile {
  /// Writes the text with the owner and the mode of the file that it replaces, and through a symbolic link to its target.
  ///
  /// - Throws: `POSIXError`; the old file stays.
  static func write(_ text: String, to path: String) throws {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    let target = resolved.map { String(cString: $0) } ?? path
    var before = stat()
    let isThere = stat(target, &before) == 0
    let other = "\(target).tactus-\(getpid())"
    let descriptor = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    var isWritten = Array(text.utf8).withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + sent, bytes.count - sent)
        if count < 0, errno != EINTR { return false }
        sent += max(0, count)
      }
      return true
    }
    if isThere, isWritten {
      // Only root can give a file to somebody else, and only the owner's file is written by others.
      let isOwn = before.st_uid == geteuid() && before.st_gid == getegid()
      isWritten = isOwn || fchown(descriptor, before.st_uid, before.st_gid) == 0
    }
    isWritten = isWritten && fchmod(descriptor, isThere ? before.st_mode & 0o7777 : 0o644) == 0
    isWritten = isWritten && fsync(descriptor) == 0 && rename(other, target) == 0
    let failure = errno
    close(descriptor)
    guard isWritten else {
      unlink(other)
      throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO)
    }
  }
}
