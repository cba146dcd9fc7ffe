import ArgumentParser
import Foundation
import Glibc

/// A file that is replaced as a whole: after a power cut it is the old one or the new one.
enum WholeFile {
  /// Returns the folder of a file that is to be written with the reason why nothing can be made in it, such as
  /// `/etc/tactus: Permission denied`, or `nil` if something can.
  static func obstacle(to path: String) -> String? {
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    let target = resolved.map { String(cString: $0) } ?? path
    let folder = target.lastIndex(of: "/").map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
    // The dot makes a file in the folder's place an error, too.
    guard access(folder + "/.", W_OK | X_OK) != 0 else { return nil }
    let failure = errno
    return "\(folder): \(String(cString: strerror(failure)))"
  }

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

/// A file that a command makes, which must not exist before.
enum NewFile {
  /// Complains and throws the exit status of a failure if there is something of that name: before a daemon is asked, which may take a minute.
  static func expectNone(at path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    complain(Self.refusal(EEXIST, of: path))
    throw ExitCode.failure
  }

  /// Writes the bytes to a new file that only its owner may read. Complains and throws the exit status of a failure if that fails; nothing is left of a
  /// partial file, which would look like a whole one.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      complain(Self.refusal(errno, of: path))
      throw ExitCode.failure
    }
    var failure = writeAll(bytes, to: descriptor).failure
    // Not every file system can.
    if failure == nil, fsync(descriptor) != 0, errno != EINVAL { failure = String(cString: strerror(errno)) }
    close(descriptor)
    guard let failure else { return }
    unlink(path)
    complain("\(path): \(failure): nothing was written")
    throw ExitCode.failure
  }

  private static func refusal(_ error: Int32, of path: String) -> String {
    let reason = "\(path): \(String(cString: strerror(error)))"
    return error == EEXIST ? "\(reason): give another name with --output, or remove the file" : reason
  }
}
