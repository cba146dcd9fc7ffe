import CCrypto
import Logging
import Synchronization

/// Decides which scope a client's certificate gives: it must be signed by a trusted authority, be valid now, have a name, and the name a rule.
///
/// Usable from any thread. A certificate is verified once for each connection and each change of the rules; its dates are checked at every request.
public final class ClientCertificates: Sendable {
  /// The authorities and the rules in effect.
  public struct Rules: Sendable, Equatable {
    /// The certificates of the trusted authorities in PEM.
    public let authorities: [UInt8]
    /// The rules for scopes. If several fit a name, the first one counts.
    public let scopes: [ClientScope]

    /// Makes rules. Returns `nil` if the text has no certificate, more than 64, or a malformed one.
    public init?(authorities: [UInt8], scopes: [ClientScope]) {
      guard crypto_count_authorities(authorities, authorities.count) > 0 else { return nil }
      (self.authorities, self.scopes) = (authorities, scopes)
    }
  }

  private struct State {
    var rules: Rules
    var number: UInt64 = 0
  }

  private let state: Mutex<State>
  private let logger: Logger

  /// Makes the decision by these rules.
  public init(_ rules: Rules, logger: Logger) {
    state = Mutex(State(rules: rules))
    self.logger = logger
  }

  /// The rules in effect.
  public var rules: Rules { state.withLock { $0.rules } }

  /// Puts other rules in effect, also for connections that are open.
  public func apply(_ rules: Rules) {
    state.withLock { state in
      state.rules = rules
      state.number += 1
    }
  }

  /// Returns the grant of a certificate, with `cert:NAME` as its identifier.
  ///
  /// - Parameters:
  ///   - seconds: the present time in seconds since 1970.
  ///   - address: the peer's address, for the log.
  func grant(
    _ certificate: ClientCertificate, at seconds: Int64, address: String
  ) -> Result<TokenGrant, CertificateRefusal> {
    let result = decide(certificate, at: seconds)
    if case .failure(let refusal) = result, certificate.isNews(refusal) {
      var metadata: Logger.Metadata = ["address": .string(address), "code": .string(refusal.code)]
      // The name is only a claim unless the refusal says that the certificate is valid.
      if let name = certificate.name { metadata["client"] = .string(name) }
      logger.warning("\(refusal.message)", metadata: metadata)
    }
    return result
  }

  private func decide(_ certificate: ClientCertificate, at seconds: Int64) -> Result<TokenGrant, CertificateRefusal> {
    let (rules, number) = state.withLock { ($0.rules, $0.number) }
    let verified: ClientCertificate.Verified
    if let known = certificate.verified(by: number), known.notBefore <= seconds, seconds <= known.notAfter {
      verified = known
    } else {
      switch Self.verify(certificate, by: rules, number, at: seconds) {
      case .success(let found): verified = found
      case .failure(let refusal): return .failure(refusal)
      }
      certificate.note(verified)
    }
    guard let name = certificate.name else { return .failure(.nameless) }
    guard let rule = rules.scopes.first(where: { $0.fits(name) }) else { return .failure(.withoutRule(name)) }
    guard let scope = rule.scope else { return .failure(.refusedByRule(name, pattern: rule.pattern)) }
    return .success(TokenGrant(tokenID: "cert:\(name)", scope: scope, expires: verified.notAfter))
  }

  private static func verify(
    _ certificate: ClientCertificate, by rules: Rules, _ number: UInt64, at seconds: Int64
  ) -> Result<ClientCertificate.Verified, CertificateRefusal> {
    var found = crypto_client()
    let copies = certificate.chain.map { bytes in
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
      _ = copy.initialize(from: bytes)
      return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    let pointers = copies.map { UnsafePointer($0.baseAddress) }
    let counts = copies.map(\.count)
    let result = crypto_verify_client(
      pointers, counts, counts.count, rules.authorities, rules.authorities.count, seconds, &found)
    if result == 0, found.error == 0 {
      return .success(.init(rules: number, notBefore: found.not_before, notAfter: found.not_after))
    }
    if found.has_expired != 0 { return .failure(.expired(found.not_after)) }
    if found.is_too_early != 0 { return .failure(.tooEarly(found.not_before)) }
    let reason = withUnsafeBytes(of: found.reason) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return .failure(.untrusted(reason.isEmpty ? "a certificate that cannot be read" : reason))
  }
}

/// A rule that gives clients with a certificate their scope by their names.
public struct ClientScope: Sendable, Equatable {
  /// The names: `*` stands for any characters, also none; everything else for itself.
  public let pattern: String
  /// The scope, or `nil` if these clients are refused.
  public let scope: Scope?

  /// Makes a rule, which refuses the clients if `scope` is `nil`.
  public init(pattern: String, scope: Scope?) { (self.pattern, self.scope) = (pattern, scope) }

  /// Returns whether the rule applies to the name.
  func fits(_ name: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return pattern == name }
    guard name.count >= first.count + last.count, name.hasPrefix(first), name.hasSuffix(last) else { return false }
    var rest = name.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return true
  }
}
