/// One token as the token file keeps it: everything but its secret.
public struct TokenRecord: Sendable, Codable, Equatable {
  /// 8 characters; public.
  public let id: String
  /// For people; not unique.
  public var name: String
  public var scope: Scope
  /// Seconds since 1970, as all times here.
  public var created: Int64
  /// From this second on it is refused; nil: never.
  public var expires: Int64?
  /// When it was revoked; from then on it is refused.
  public var revoked: Int64?
  /// Hexadecimal SHA-256 of the token's text.
  var hash: String
  /// The same of the secret before the last rotation, accepted before the second `previousUntil`.
  var previousHash: String?
  public internal(set) var previousUntil: Int64?

  /// Decides about a presented token of which only the hash is known. Takes the same time whatever differs.
  func decide(_ presented: [UInt8], now: Int64) -> Result<TokenGrant, TokenRefusal> {
    let isCurrent = SystemCrypto.areEqual(presented, Hexadecimal.bytes(hash) ?? [])
    let isPrevious = SystemCrypto.areEqual(presented, previousHash.flatMap(Hexadecimal.bytes) ?? [])
    guard isCurrent || isPrevious, revoked == nil else { return .failure(.invalid) }
    let ends = isCurrent ? expires : min(expires ?? .max, previousUntil ?? 0)
    if let ends, now >= ends { return .failure(.expired) }
    return .success(TokenGrant(tokenID: id, scope: scope, expires: ends))
  }
}

/// Bytes as two lower-case digits each.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// nil: anything but an even number of digits.
  static func bytes(_ text: String) -> [UInt8]? {
    let values = text.utf8.map { digits.firstIndex(of: $0) }
    guard values.count.isMultiple(of: 2), !values.contains(nil) else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0]! << 4 | values[$0 + 1]!) }
  }
}
