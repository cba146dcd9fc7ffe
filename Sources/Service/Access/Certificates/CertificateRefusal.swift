import WallTime

/// The reason why a client's certificate gives no access.
enum CertificateRefusal: Error, Equatable {
  /// No trusted authority has signed the certificate, or the certificate cannot be read. The text is libcrypto's
  /// reason.
  case untrusted(String)
  /// The certificate, or a certificate that leads to the authority, was valid until the given time in seconds since
  /// 1970.
  case expired(Int64)
  /// The certificate, or a certificate that leads to the authority, is valid from the given time on.
  case tooEarly(Int64)
  /// The certificate has no usable name.
  case nameless
  /// No rule of `service.client_scopes` applies to the name.
  case withoutRule(String)
  /// The rule with this pattern refuses this name.
  case refusedByRule(String, pattern: String)

  /// The sentence for the client and for the log.
  var message: String {
    switch self {
    case .untrusted(let reason):
      "the client's certificate is not accepted: expected one that an authority in service.client_ca has signed for "
        + "clients of TLS, got: \(reason)"
    case .expired(let end): "the client's certificate was valid until \(Self.text(end)): it needs a new one"
    case .tooEarly(let begin):
      "the client's certificate is valid from \(Self.text(begin)) on: the daemon's clock or its maker's may be wrong"
    case .nameless:
      "the client's certificate has no usable name: expected a common name, a DNS name or a mail address of "
        + "1…\(ClientCertificate.longestName) bytes without control characters"
    case .withoutRule(let name):
      "no rule of service.client_scopes is for the client '\(name)', whose certificate is valid"
    case .refusedByRule(let name, let pattern):
      "the rule '\(pattern)' of service.client_scopes gives the client '\(name)' no scope"
    }
  }

  private static func text(_ seconds: Int64) -> String {
    WallTimeText.text(WallInstant(secondsSince1970: seconds))
  }

  var code: String {
    switch self {
    case .untrusted: "CERTIFICATE_UNTRUSTED"
    case .expired: "CERTIFICATE_EXPIRED"
    case .tooEarly: "CERTIFICATE_TOO_EARLY"
    case .nameless: "CERTIFICATE_NAMELESS"
    case .withoutRule, .refusedByRule: "CERTIFICATE_WITHOUT_SCOPE"
    }
  }
}
