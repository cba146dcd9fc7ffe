import Foundation
import Store
import Wire

/// The contents of the token file: JSON, mode 0600, at `TokenFile.standardPath` unless the configuration names another path.
public struct TokenFile: Sendable, Codable, Equatable {
  /// The tokens in the order in which they were made.
  public internal(set) var tokens: [TokenRecord] = []
  /// The `jti` of each JSON web token that is refused although its signature is right.
  public internal(set) var revokedJWT: [String] = []

  /// Makes a file without tokens and without revocations.
  public init() {}

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tokens = try container.decode([TokenRecord].self, forKey: .tokens)
    revokedJWT = try container.decodeIfPresent([String].self, forKey: .revokedJWT) ?? []
  }

  /// Returns the path that a daemon and its command `token` use if none is given: in the folder named for the program below
  /// `XDG_STATE_HOME` if the environment has that, else in `/var/lib` if the present user may write to that folder there, else in the
  /// user's state folder.
  ///
  /// The folder in `/var/lib` is also chosen while its disk is read-only or not mounted, so that no second token file is started elsewhere.
  ///
  /// - Parameter program: the program's name, such as `tactus`: two programs share no folder.
  public static func standardPath(
    of program: String, environment: [String: String], isWritable: (String) -> Bool = isMeant
  ) -> String {
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/\(program)/tokens.json" }
    let folder = "/var/lib/\(program)"
    if isWritable(folder) { return folder + "/tokens.json" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return folder + "/tokens.json" }
    return "\(home)/.local/state/\(program)/tokens.json"
  }

  /// Returns whether the present user may write to a folder once its disk is mounted and writable.
  public static func isMeant(_ folder: String) -> Bool {
    if access(folder, W_OK) == 0 { return true }
    let isReadOnly = errno == EROFS
    if MountWatch().missing(for: folder) != nil { return true }
    var status = stat()
    guard isReadOnly, stat(folder, &status) == 0 else { return false }
    return geteuid() == 0 || geteuid() == status.st_uid
  }
}

/// The reason why the token file cannot be used. None of its tokens is accepted then.
public enum TokenFileError: Error, Sendable, Equatable {
  /// The file cannot be read, for the reason that the operating system gives.
  case unreadable(path: String, reason: String)
  /// The file, its lock file or a folder above it cannot be written; `path` is the one that failed.
  case unwritable(path: String, reason: String)
  /// Users other than the file's owner may write to it.
  case exposed(path: String, mode: UInt16)
  /// The file is malformed; `detail` says where and why.
  case damaged(path: String, detail: String)
  /// No token of the file has this ID.
  case unknownToken(String)
  /// The token with this ID is revoked, so it cannot be rotated.
  case revokedToken(String)
  /// Several valid tokens have this name, so that only an ID tells them apart.
  case ambiguousName(String, ids: [String])
  /// The file already has the greatest number of valid tokens.
  case full(Int)
  /// Another program is changing the file.
  case busy(path: String)
  /// The token with this ID is the last valid one of scope admin.
  case lastAdmin(String)
  /// A valid token with the given ID already has this name, or one that differs from it in spaces alone.
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
    case .unknownToken(let id): "\(id): expected the name or ID of a token, see tactus token list"
    case .revokedToken(let id): "\(id): is revoked and cannot be rotated; create another"
    case .ambiguousName(let name, let ids):
      "\(name): expected a name that one valid token has, got that of \(ids.joined(separator: ", ")): give the ID"
    case .full(let count):
      "expected fewer than \(TokenFile.greatestCount) valid tokens, got \(count): revoke some that nobody uses"
    case .busy(let path): "\(path): another program is changing it; try again"
    case .lastAdmin(let id): "\(id): is the last valid token of scope admin"
    case .nameTaken(let name, let id):
      "expected a new name, got \(name), which the token \(id) has; give this one another, or see tactus token rotate and revoke"
    }
  }
}

extension TokenFile {
  /// Returns the contents of a file, decoded strictly. `path` is used in the error only.
  ///
  /// - Throws: `damaged`.
  public static func decode(_ bytes: [UInt8], path: String) throws(TokenFileError) -> TokenFile {
    do throws(JSONParser.Failure) {
      // This parser is stricter than Foundation's, and its errors name the place.
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
  /// The name of a member that no version of this program can have written, with the expectation, or `nil` if all
  /// members are well-formed. The text never shows the hash.
  fileprivate var wrongMember: String? {
    if !OpaqueToken.isIdentifier(id) { return "id: expected 8 characters a–z 2–7" }
    if (previousHash == nil) != (previousUntil == nil) { return "previousUntil: expected together with previousHash" }
    return nil
  }
}

/// The changes that `tactus token` makes to the token file. Times are seconds since 1970.
extension TokenFile {
  /// The greatest number of tokens in a file, those that are revoked or have expired included.
  public static let greatestCount = 256

  /// The number of characters that a token's name may have.
  public static var nameLength: ClosedRange<Int> { 1...64 }

  /// The name of a token in words, as `isName` checks it.
  public static let nameRule = "a name of 1…64 characters that are no control characters"

  /// Returns whether a new token may have this name: 1…64 visible characters in at most 256 bytes, without spaces at its
  /// ends and without two in a row. A file may have tokens with such names, which earlier versions have made.
  public static func isName(_ name: String) -> Bool {
    GivenName.flaw(in: name, nameLength) == nil && GivenName.misplacedSpace(in: name) == nil
  }

  /// Removes tokens that give no access any more if the file is full: the revoked ones first, then the expired ones,
  /// the oldest first.
  ///
  /// - Throws: `full` if every token of a full file is valid.
  public mutating func makeRoom(now: Int64) throws(TokenFileError) {
    while tokens.count >= Self.greatestCount {
      let dead =
        tokens.firstIndex { $0.state(now: now) == .revoked } ?? tokens.firstIndex { $0.state(now: now) == .expired }
      guard let dead else { throw .full(tokens.count) }
      tokens.remove(at: dead)
    }
  }

  /// Returns the ID of the token with this ID, or else of the valid token with this name.
  ///
  /// - Throws: `unknownToken`, or `ambiguousName` if several valid tokens have the name.
  public func identifier(of idOrName: String, now: Int64) throws(TokenFileError) -> String {
    if tokens.contains(where: { $0.id == idOrName }) { return idOrName }
    let named = tokens.filter { $0.name == idOrName && $0.state(now: now) == .valid }.map(\.id)
    guard named.count <= 1 else { throw .ambiguousName(idOrName, ids: named) }
    guard let id = named.first else { throw .unknownToken(idOrName) }
    return id
  }

  /// Returns whether this is the only valid token of scope admin.
  public func isLastAdmin(_ id: String, now: Int64) -> Bool {
    tokens.filter { $0.scope == .admin && $0.state(now: now) == .valid }.map(\.id) == [id]
  }

  /// Adds a token and returns its record and its text. The text is stored nowhere.
  public mutating func create(
    name: String, scope: Scope, expires: Int64?, now: Int64, random: (Int) -> [UInt8] = randomBytes
  ) -> (record: TokenRecord, text: String) {
    var identifier = OpaqueToken.newIdentifier(random: random)
    while tokens.contains(where: { $0.id == identifier }) { identifier = OpaqueToken.newIdentifier(random: random) }
    let token = OpaqueToken(identifier: identifier, random: random)
    let record = TokenRecord(
      id: identifier, name: name, scope: scope, created: now, expires: expires, hash: token.hash)
    tokens.append(record)
    return (record, token.text)
  }

  /// Checks that no valid token has this name, or one that looks like it, because people distinguish tokens by their names.
  ///
  /// - Throws: `nameTaken` if such a token is valid.
  public func checkIsNew(name: String, now: Int64) throws(TokenFileError) {
    let valid = tokens.first { GivenName.looksAlike($0.name, name) && $0.state(now: now) == .valid }
    if let valid { throw .nameTaken(name, id: valid.id) }
  }

  /// Returns the name, or the first of `NAME-2`, `NAME-3`, … that `checkIsNew` does not refuse.
  public func unusedName(like name: String, now: Int64) -> String {
    let taken = tokens.filter { $0.state(now: now) == .valid }.map(\.name)
    func isTaken(_ name: String) -> Bool { taken.contains { GivenName.looksAlike($0, name) } }
    var (free, number) = (name, 2)
    while isTaken(free) { (free, number) = ("\(name)-\(number)", number + 1) }
    return free
  }

  /// Gives a token a new secret, and returns its record and its new text. The old secret is accepted for `grace` more
  /// seconds, but not past the token's expiry.
  ///
  /// - Throws: `unknownToken`, `revokedToken`.
  public mutating func rotate(
    _ id: String, grace: Int64, now: Int64, random: (Int) -> [UInt8] = randomBytes
  ) throws(TokenFileError) -> (record: TokenRecord, text: String) {
    let index = try index(of: id)
    guard tokens[index].revoked == nil else { throw .revokedToken(id) }
    let token = OpaqueToken(identifier: id, random: random)
    tokens[index].previousHash = tokens[index].hash
    tokens[index].previousUntil = now + grace
    tokens[index].hash = token.hash
    return (tokens[index], token.text)
  }

  /// Refuses a token from now on, including both secrets of a rotation. Revoking a token again keeps the time of the first revocation.
  ///
  /// - Throws: `unknownToken`.
  public mutating func revoke(_ id: String, now: Int64) throws(TokenFileError) {
    let index = try index(of: id)
    tokens[index].revoked = tokens[index].revoked ?? now
  }

  /// Refuses the JSON web tokens with this `jti`.
  public mutating func revokeJWT(_ jti: String) {
    if !revokedJWT.contains(jti) { revokedJWT.append(jti) }
  }

  /// Returns the tokens of a backup as they are put in the place of `present`: what is revoked there stays revoked.
  func keepingRevocations(of present: TokenFile) -> TokenFile {
    var restored = self
    for token in present.tokens {
      guard let revoked = token.revoked, let index = restored.tokens.firstIndex(where: { $0.id == token.id }) else {
        continue
      }
      restored.tokens[index].revoked = revoked
    }
    for jti in present.revokedJWT { restored.revokeJWT(jti) }
    return restored
  }

  private func index(of id: String) throws(TokenFileError) -> Int {
    guard let index = tokens.firstIndex(where: { $0.id == id }) else { throw .unknownToken(id) }
    return index
  }

  /// Returns unpredictable bytes from libcrypto.
  public static func randomBytes(_ count: Int) -> [UInt8] { SystemCrypto.randomBytes(count) }
}
