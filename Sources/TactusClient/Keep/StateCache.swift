import Foundation

/// Where the last state of a daemon is kept, for a start of the app without a connection. It holds no token.
public protocol StateCache: Sendable {
  /// What was last saved of a daemon; `nil` if nothing was, or if it cannot be read.
  func load(_ endpoint: Endpoint) -> Data?

  /// Keeps a daemon's state in place of the one before. A cache that cannot be written keeps nothing, and that is no error of the app's.
  func save(_ data: Data, _ endpoint: Endpoint)
}

/// A cache in a folder: one file for each daemon, which only the user can read.
public struct FileStateCache: StateCache {
  /// A larger file is not read.
  static let largestBytes = 4 << 20
  private let folder: URL

  /// Creates the cache.
  /// - Parameter folder: it is made when something is saved. On iOS `URL.cachesDirectory` is a place that backups leave out.
  public init(folder: URL) { self.folder = folder }

  /// What was last saved.
  public func load(_ endpoint: Endpoint) -> Data? {
    guard let data = try? Data(contentsOf: file(endpoint)), data.count <= Self.largestBytes else { return nil }
    return data
  }

  /// Writes the file, whole or not at all.
  public func save(_ data: Data, _ endpoint: Endpoint) { try? PrivateFile.write(data, to: file(endpoint)) }

  private func file(_ endpoint: Endpoint) -> URL {
    folder.appendingPathComponent("tactus-\(Endpoint.escaped(endpoint.description)).json")
  }
}

/// A file that only the user can read.
enum PrivateFile {
  /// Writes a file by way of another that is private from its first byte.
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
