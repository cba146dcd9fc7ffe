import Wire

/// The changes that `tactus token` makes to the token file. Times are seconds since 1970.
extension TokenFile {
  /// The greatest number of tokens in a file, those that are revoked or have expired included.
  public static let greatestCount = 256

  /// How many characters a token's name may have.
  public static var nameLength: ClosedRange<Int> { 1...64 }

  /// The name of a token in words, as `isName` checks it.
  public static let nameRule = "a name of 1…64 characters that are no control characters"

  /// Returns whether a token may have this name: 1…64 characters, at most 256 bytes, each of them seen and not all of them spaces.
  public static func isName(_ name: String) -> Bool { GivenName.flaw(in: name, nameLength) == nil }

  /// Forgets tokens that open nothing any more if the file is full: the revoked ones first, then the expired ones, the oldest first.
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

  /// Checks that no valid token has this name, because people distinguish tokens by their names.
  ///
  /// - Throws: `nameTaken` if a token of this name is valid.
  public func checkIsNew(name: String, now: Int64) throws(TokenFileError) {
    let valid = tokens.first { $0.name == name && $0.state(now: now) == .valid }
    if let valid { throw .nameTaken(name, id: valid.id) }
  }

  /// Returns the name, or the first of `NAME-2`, `NAME-3`, … that no valid token has.
  public func unusedName(like name: String, now: Int64) -> String {
    let taken = Set(tokens.filter { $0.state(now: now) == .valid }.map(\.name))
    var (free, number) = (name, 2)
    while taken.contains(free) { (free, number) = ("\(name)-\(number)", number + 1) }
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

  private func index(of id: String) throws(TokenFileError) -> Int {
    guard let index = tokens.firstIndex(where: { $0.id == id }) else { throw .unknownToken(id) }
    return index
  }

  /// Returns unpredictable bytes from libcrypto.
  public static func randomBytes(_ count: Int) -> [UInt8] { SystemCrypto.randomBytes(count) }
}
