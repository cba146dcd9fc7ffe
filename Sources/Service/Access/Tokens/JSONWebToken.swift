import Foundation
import Tactus

/// A JSON web token (RFC 7519) signed with HMAC and SHA-256 (`HS256`, RFC 7515), the only algorithm accepted.
///
/// The signature is checked before any part of the token is parsed, and always as HS256: a header that names another
/// algorithm only gets the token refused.
struct JSONWebToken: Equatable {
  /// The least length of the key in bytes (RFC 7518 §3.2).
  static let leastKeyLength = 32
  /// The greatest length of a token in bytes. A longer text is refused unread.
  static let greatestLength = 4096
  /// The greatest lead, in seconds, that the issuer's clock may have over this host's clock. The token's expiry has no such leeway.
  static let leeway = 30.0
  /// The longest accepted lifetime in days. Issuers keep no list of their tokens, so only the expiry withdraws a token for certain.
  static let greatestLifetimeDays: Int64 = 366

  let scope: Scope
  let subject: String?
  /// The claim `jti`, or `nil` if the token has none.
  let identifier: String?
  /// The time from which the token is refused, in seconds since 1970.
  let expires: Int64

  private struct Header: Decodable {
    let alg: String
    let typ: String?
    let crit: [String]?
  }

  private struct Claims: Decodable {
    let exp: Double
    let nbf: Double?
    let iat: Double?
    let scope: String
    let sub: String?
    let jti: String?
  }

  /// Returns the token, or the reason why it is refused, for any text, however malformed. Takes tens of microseconds at most, for an HMAC and two
  /// small JSON documents.
  ///
  /// - Parameter now: the present time in seconds since 1970.
  static func verify(_ text: String, key: [UInt8], now: Int64) -> Result<JSONWebToken, TokenRefusal> {
    precondition(key.count >= leastKeyLength, "a key this short is refused where it is configured")
    guard text.utf8.count <= greatestLength else { return .failure(.invalid) }
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let signature = Base64URL.decode(parts[2]) else { return .failure(.invalid) }
    let signed = bytes[..<(parts[2].startIndex - 1)]
    guard SystemCrypto.areEqual(SystemCrypto.hmacSHA256(signed, key: key), signature) || !Mechanism.tokenCheck.acts
    else {
      return .failure(.invalid)
    }
    guard let header: Header = decode(parts[0]), header.alg == "HS256", header.crit == nil,
      let claims: Claims = decode(parts[1])
    else { return .failure(.invalid) }
    return read(claims, now: now)
  }

  private static func read(_ claims: Claims, now: Int64) -> Result<JSONWebToken, TokenRefusal> {
    let words = claims.scope.split(separator: " ")
    guard let scope = words.compactMap({ Scope(rawValue: String($0)) }).max(),
      claims.sub.map({ !$0.isEmpty && $0.utf8.count <= 128 }) ?? true,
      claims.jti.map({ $0.utf8.count <= 128 }) ?? true
    else { return .failure(.invalid) }
    let latest = Double(now) + leeway
    guard claims.nbf.map({ $0 <= latest }) ?? true, claims.iat.map({ $0 <= latest }) ?? true else {
      return .failure(.invalid)
    }
    guard claims.exp > Double(now) || !Mechanism.tokenExpiry.acts else { return .failure(.expired) }
    guard claims.exp <= Double(now + greatestLifetimeDays * 86_400) else { return .failure(.lastsTooLong) }
    let expires = Int64(saturating: claims.exp.rounded(.up))
    return .success(JSONWebToken(scope: scope, subject: claims.sub, identifier: claims.jti, expires: expires))
  }

  private static func decode<Document: Decodable>(_ part: ArraySlice<UInt8>) -> Document? {
    Base64URL.decode(part).flatMap { try? JSONDecoder().decode(Document.self, from: Data($0)) }
  }
}
