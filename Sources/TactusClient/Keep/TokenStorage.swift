import Foundation

/// Where an app keeps the tokens of its daemons.
public protocol TokenStorage: Sendable {
  /// The token of a daemon; `nil` if none is kept.
  func token(for endpoint: Endpoint) throws -> String?

  /// Keeps a token in place of the one before.
  func keep(_ token: String, for endpoint: Endpoint) throws

  /// Forgets the token of a daemon. Without one it does nothing.
  func forget(_ endpoint: Endpoint) throws
}

/// Keeps tokens until the program ends.
public final class MemoryTokens: TokenStorage, @unchecked Sendable {
  // `@unchecked Sendable`: `tokens` is behind `lock`.
  private let lock = NSLock()
  private var tokens: [Endpoint: String] = [:]

  /// Creates a storage without tokens.
  public init() {}

  /// The token of a daemon.
  public func token(for endpoint: Endpoint) -> String? { lock.withLock { tokens[endpoint] } }

  /// Keeps a token.
  public func keep(_ token: String, for endpoint: Endpoint) { lock.withLock { tokens[endpoint] = token } }

  /// Forgets a token.
  public func forget(_ endpoint: Endpoint) { lock.withLock { tokens[endpoint] = nil } }
}

/// Keeps each token in a file that only the user can read (0600), for programs without a keychain.
public struct FileTokens: TokenStorage {
  /// Why a token's file is not read.
  public enum Failure: Error, Equatable, LocalizedError {
    /// Others can read it.
    case readableByOthers(path: String, mode: Int)

    /// The error in a sentence, for people.
    public var errorDescription: String? {
      switch self {
      case .readableByOthers(let path, let mode):
        "\(path): expected a file that only its owner can read (0600), got mode \(String(mode, radix: 8)); make a new token"
      }
    }
  }

  private let folder: URL

  /// Creates the storage. The folder is made with the first token.
  public init(folder: URL) { self.folder = folder }

  /// The token of a daemon.
  /// - Throws: `Failure.readableByOthers` if the file's permissions give it to others.
  public func token(for endpoint: Endpoint) throws -> String? {
    let path = file(endpoint).path
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let mode = (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? 0
    guard mode & 0o077 == 0 else { throw Failure.readableByOthers(path: path, mode: mode) }
    let text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }

  /// Keeps a token.
  public func keep(_ token: String, for endpoint: Endpoint) throws {
    try PrivateFile.write(Data((token + "\n").utf8), to: file(endpoint))
  }

  /// Forgets a token.
  public func forget(_ endpoint: Endpoint) throws {
    guard FileManager.default.fileExists(atPath: file(endpoint).path) else { return }
    try FileManager.default.removeItem(at: file(endpoint))
  }

  private func file(_ endpoint: Endpoint) -> URL {
    folder.appendingPathComponent("\(Endpoint.escaped(endpoint.description)).token")
  }
}
