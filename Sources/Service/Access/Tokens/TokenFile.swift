import Foundation
import Store
import Wire

/// What the token file holds: JSON, mode 0600, in `TokenFile.standardPath` unless the configuration names another.
public struct TokenFile: Sendable, Codable, Equatable {
  /// In the order of their making.
  public internal(set) var tokens: [TokenRecord] = []
  /// The `jti` of JSON web tokens that are refused although rightly signed.
  public internal(set) var revokedJWT: [String] = []

  /// A file without tokens and without revocations.
  public init() {}

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tokens = try container.decode([TokenRecord].self, forKey: .tokens)
    revokedJWT = try container.decodeIfPresent([String].self, forKey: .revokedJWT) ?? []
  }

  /// Where the daemon and `tactus token` look unless a path is given: the package's folder where this user may write,
  /// else the user's own.
  ///
  /// A disk that is read-only or not mounted now is no reason to begin anew elsewhere.
  public static func standardPath(
    environment: [String: String], isWritable: (String) -> Bool = isMeant
  ) -> String {
    let folder = "/var/lib/tactus"
    if isWritable(folder) { return folder + "/tokens.json" }
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/tactus/tokens.json" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return folder + "/tokens.json" }
    return home + "/.local/state/tactus/tokens.json"
  }

  /// Whether this user may write to a folder when its disk is as it should be.
  public static func isMeant(_ folder: String) -> Bool {
    if access(folder, W_OK) == 0 { return true }
    let isReadOnly = errno == EROFS
    if MountWatch().missing(for: folder) != nil { return true }
    var status = stat()
    guard isReadOnly, stat(folder, &status) == 0 else { return false }
    return geteuid() == 0 || geteuid() == status.st_uid
  }
}

/// Why the token file cannot be used. No token of it is accepted then.
public enum TokenFileError: Error, Sendable, Equatable {
  /// The operating system's reason.
  case unreadable(path: String, reason: String)
  /// The file, its lock file or a folder above it cannot be written; `path` says which.
  case unwritable(path: String, reason: String)
  /// Others than its owner may write to it.
  case exposed(path: String, mode: UInt16)
  /// What is wrong, and where.
  case damaged(path: String, detail: String)
  /// No token of the file has this ID.
  case unknownToken(String)
  /// The token with this ID is revoked, so it cannot be rotated.
  case revokedToken(String)
  /// A token of this name is valid: it has this ID.
  case nameTaken(String, id: String)
}

extension TokenFileError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .unwritable(let path, let reason): "\(path): cannot be written: \(reason)"
    case .exposed(let path, let mode):
      "\(path): expected a file that only its owner may write (mode 0600), got 0\(String(mode, radix: 8)): "
        + "chmod 600 \(path)"
    case .damaged(let path, let detail): "\(path):\(detail)"
    case .unknownToken(let id): "\(id): expected the ID of a token, see tactus token list"
    case .revokedToken(let id): "\(id): is revoked and cannot be rotated; create another"
    case .nameTaken(let name, let id):
      "expected a new name, got \(name), which the token \(id) has; give this one another, or see tactus token rotate and revoke"
    }
  }
}

extension TokenFile {
  /// Reads a file's text strictly. `path` is for the error only.
  static func decode(_ bytes: [UInt8], path: String) throws(TokenFileError) -> TokenFile {
    do throws(JSONParser.Failure) {
      // Stricter than Foundation's, and it knows the place.
      _ = try JSONParser.parse(bytes)
    } catch {
      throw .damaged(path: path, detail: "\(error.line):\(error.column): \(error.reason)")
    }
    do {
      let file = try JSONDecoder().decode(TokenFile.self, from: Data(bytes))
      for (index, token) in file.tokens.enumerated() {
        if let wrong = token.wrongMember {
          throw TokenFileError.damaged(path: path, detail: " tokens[\(index)].\(wrong)")
        }
        if file.tokens[..<index].contains(where: { $0.id == token.id }) {
          throw TokenFileError.damaged(path: path, detail: " tokens[\(index)].id: expected each id once, got it twice")
        }
      }
      return file
    } catch let error as TokenFileError {
      throw error
    } catch {
      throw .damaged(path: path, detail: place(of: error))
    }
  }

  private static func place(of error: any Error) -> String {
    func path(_ keys: [any CodingKey]) -> String {
      keys.reduce("") { text, key in
        key.intValue.map { "\(text)[\($0)]" } ?? (text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)")
      }
    }
    switch error as? DecodingError {
    case .keyNotFound(let key, let context)?: return " \(path(context.codingPath + [key])): is missing"
    case .typeMismatch(let type, let context)?, .valueNotFound(let type, let context)?:
      return " \(path(context.codingPath)): expected \(type)"
    case .dataCorrupted(let context)? where !context.codingPath.isEmpty:
      return " \(path(context.codingPath)): \(context.debugDescription)"
    default: return " expected JSON"
    }
  }

  func encoded() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(self)) + [0x0A]
    } catch {
      preconditionFailure("a document that JSON cannot carry: \(error)")
    }
  }
}

extension TokenRecord {
  /// A member that no version of this program can have written, or `nil` if there is none. Never shows the hash.
  fileprivate var wrongMember: String? {
    if !OpaqueToken.isIdentifier(id) { return "id: expected 8 characters a–z 2–7" }
    if (previousHash == nil) != (previousUntil == nil) { return "previousUntil: expected together with previousHash" }
    return nil
  }
}
