import CCrypto
@_spi(FromOutside) import Conversions
import Synchronization

/// The certificates that a client has shown on one TLS connection: its own, then those that lead from it to an authority. It may be used from any
/// thread.
///
/// The client has proved that it has the key of the first. Nothing else is checked before `ClientCertificates.grant`.
final class ClientCertificate: Sendable {
  /// The greatest number of certificates that are looked at.
  static let most = 9
  /// The greatest length of a client's name in UTF-8.
  static let longestName = 64

  /// The result of the last check, valid for the rules of that time.
  struct Verified: Sendable {
    let rules: UInt64
    let notBefore, notAfter: Int64
  }

  private struct State {
    var verified: Verified?
    var reported: CertificateRefusal?
  }

  /// The certificates in DER.
  let chain: [[UInt8]]
  /// The client's name, or `nil` if its certificate has none that is usable.
  let name: String?
  private let state = Mutex(State())

  /// Takes the certificates of a client; all but the first `most` are left out.
  ///
  /// - Parameter chain: certificates in DER.
  init(_ chain: [[UInt8]]) {
    self.chain = Array(chain.prefix(Self.most))
    name = chain.first.flatMap(Self.name)
  }

  /// Returns the result of the last check if it was made with these rules and succeeded, otherwise `nil`.
  func verified(by rules: UInt64) -> Verified? {
    state.withLock { $0.verified.flatMap { $0.rules == rules ? $0 : nil } }
  }

  func note(_ verified: Verified) { state.withLock { $0.verified = verified } }

  /// Returns whether this refusal is not the one that was reported last for this connection, and remembers it.
  func isNews(_ refusal: CertificateRefusal) -> Bool {
    state.withLock { state in
      defer { state.reported = refusal }
      return state.reported != refusal
    }
  }

  /// Returns the first usable name of a certificate: the subject's common name, or else a DNS name or mail address of the alternative names.
  private static func name(_ certificate: [UInt8]) -> String? {
    var room = [CChar](repeating: 0, count: longestName)
    for index: Int32 in 0..<32 {
      let count = crypto_certificate_name(certificate, certificate.count, index, &room, room.count)
      guard count >= 0 else { return nil }
      let bytes = room.prefix(Int(count)).map(UInt8.init(bitPattern:))
      if let name = String(validating: bytes, as: UTF8.self), isUsable(name) { return name }
    }
    return nil
  }

  /// Returns whether a text can stand in a log and beside other names: no control characters, nothing invisible, no space at its ends.
  static func isUsable(_ name: String) -> Bool {
    guard !name.isEmpty, name.first != " ", name.last != " " else { return false }
    return name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
      case .spaceSeparator: scalar == " "
      default: true
      }
    }
  }
}
