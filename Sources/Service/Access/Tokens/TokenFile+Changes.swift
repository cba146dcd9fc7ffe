/// What `tactus token` does to the file. Times are seconds since 1970.
extension TokenFile {
  /// Adds a token; returns its text, which is nowhere else.
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

  /// People distinguish tokens by their names.
  ///
  /// - Throws: `nameTaken` if a token of this name is valid.
  public func checkIsNew(name: String, now: Int64) throws(TokenFileError) {
    let valid = tokens.first { token in
      token.name == name && token.revoked == nil && token.expires.map { now < $0 } ?? true
    }
    if let valid { throw .nameTaken(name, id: valid.id) }
  }

  /// Gives a token another secret; the one before is accepted for `grace` more seconds, but not past its own end.
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

  /// Refuses a token from now on, both secrets of a rotation. Revoking twice keeps the first time.
  ///
  /// - Throws: `unknownToken`.
  public mutating func revoke(_ id: String, now: Int64) throws(TokenFileError) {
    let index = try index(of: id)
    tokens[index].revoked = tokens[index].revoked ?? now
  }

  /// Refuses the JSON web tokens whose `jti` this is.
  public mutating func revokeJWT(_ jti: String) {
    if !revokedJWT.contains(jti) { revokedJWT.append(jti) }
  }

  private func index(of id: String) throws(TokenFileError) -> Int {
    guard let index = tokens.firstIndex(where: { $0.id == id }) else { throw .unknownToken(id) }
    return index
  }

  /// Unpredictable bytes, from libcrypto.
  public static func randomBytes(_ count: Int) -> [UInt8] { SystemCrypto.randomBytes(count) }
}
