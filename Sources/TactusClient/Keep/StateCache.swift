import Foundation

/// Storage for the last state of a daemon, by `Endpoint.keptAs`, for a start of the app without a connection. It contains no token.
public protocol StateCache: Sendable {
  /// Returns the last saved content for a daemon, or `nil` if there is none or it cannot be read.
  func load(_ endpoint: Endpoint) -> Data?

  /// Saves a daemon's state in place of the previous one. A cache that cannot be written saves nothing and reports no error.
  func save(_ data: Data, _ endpoint: Endpoint)
}

/// A cache in a folder, with one file per daemon that only the user can read.
public struct FileStateCache: StateCache {
  /// The size in bytes of the largest file that is read.
  static let largestBytes = 4 << 20
  private let folder: URL

  /// Creates the cache.
  /// - Parameter folder: the folder, which is created when something is saved. On iOS `URL.cachesDirectory` is left out of backups.
  public init(folder: URL) { self.folder = folder }

  /// Returns the last saved content for a daemon, or `nil` if there is none or it cannot be read.
  public func load(_ endpoint: Endpoint) -> Data? {
    guard let data = try? Data(contentsOf: file(endpoint)), data.count <= Self.largestBytes else { return nil }
    return data
  }

  /// Writes the file, either completely or not at all.
  public func save(_ data: Data, _ endpoint: Endpoint) { try? PrivateFile.write(data, to: file(endpoint)) }

  private func file(_ endpoint: Endpoint) -> URL {
    folder.appendingPathComponent("tactus-\(Endpoint.escaped(endpoint.keptAs)).json")
  }
}

/// Functions for a file that only the user can read.
enum PrivateFile {
  /// Writes a file through a temporary one that is private from its first byte.
  static func write(_ data: Data, to file: URL) throws {
    let manager = FileManager.default
    let folder = file.deletingLastPathComponent()
    if !manager.fileExists(atPath: folder.path) {
      try manager.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    let draft = folder.appendingPathComponent(".\(file.lastPathComponent).\(UUID().uuidString)")
    let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    do {
      try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: data)
    } catch {
      try? manager.removeItem(at: draft)
      throw error
    }
    guard rename(draft.path, file.path) == 0 else {
      try? manager.removeItem(at: draft)
      throw CocoaError(.fileWriteUnknown)
    }
  }
}
