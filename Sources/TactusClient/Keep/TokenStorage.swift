import Foundation

/// Storage for the tokens of an app's daemons, by `Endpoint.keptAs`.
public protocol TokenStorage: Sendable {
  /// Returns the token of a daemon, or `nil` if none is stored.
  func token(for endpoint: Endpoint) throws -> String?

  /// Stores a token in place of the previous one.
  func keep(_ token: String, for endpoint: Endpoint) throws

  /// Removes the token of a daemon. Has no effect if there is none.
  func forget(_ endpoint: Endpoint) throws
}

/// Stores tokens in memory, until the program ends.
public final class MemoryTokens: TokenStorage, @unchecked Sendable {
  // `@unchecked Sendable`: `tokens` is behind `lock`.
  private let lock = NSLock()
  private var tokens: [String: String] = [:]

  /// Creates a storage without tokens.
  public init() {}

  /// Returns the token of a daemon, or `nil` if none is stored.
  public func token(for endpoint: Endpoint) -> String? { lock.withLock { tokens[endpoint.keptAs] } }

  /// Stores the token of a daemon.
  public func keep(_ token: String, for endpoint: Endpoint) { lock.withLock { tokens[endpoint.keptAs] = token } }

  /// Removes the token of a daemon.
  public func forget(_ endpoint: Endpoint) { lock.withLock { tokens[endpoint.keptAs] = nil } }
}

/// Stores each token in a file that only the user can read (0600), for programs without a keychain.
public struct FileTokens: TokenStorage {
  /// The reason why a token's file is not read.
  public enum Failure: Error, Equatable, LocalizedError {
    /// Other users can read the file.
    case readableByOthers(path: String, mode: Int)

    /// The error in one sentence, for people.
    public var errorDescription: String? {
      switch self {
      case .readableByOthers(let path, let mode):
        "\(path): expected a file that only its owner can read (0600), got mode \(String(mode, radix: 8)); make a new token"
      }
    }
  }

  private let folder: URL

  /// Creates the storage. The folder is created with the first token.
  public init(folder: URL) { self.folder = folder }

  /// Returns the token of a daemon, or `nil` if none is stored.
  /// - Throws: `Failure.readableByOthers` if other users have permission to read the file.
  public func token(for endpoint: Endpoint) throws -> String? {
    let path = file(endpoint).path
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let mode = (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? 0
    guard mode & 0o077 == 0 else { throw Failure.readableByOthers(path: path, mode: mode) }
    let text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }

  /// Stores the token of a daemon.
  public func keep(_ token: String, for endpoint: Endpoint) throws {
    try PrivateFile.write(Data((token + "\n").utf8), to: file(endpoint))
  }

  /// Removes the token of a daemon.
  public func forget(_ endpoint: Endpoint) throws {
    guard FileManager.default.fileExists(atPath: file(endpoint).path) else { return }
    try FileManager.default.removeItem(at: file(endpoint))
  }

  private func file(_ endpoint: Endpoint) -> URL {
    folder.appendingPathComponent("\(Endpoint.escaped(endpoint.keptAs)).token")
  }
}
