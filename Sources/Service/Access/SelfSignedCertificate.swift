import CCrypto
@_spi(FromOutside) import Conversions
import Glibc
import Tactus

/// The certificate that the service makes for itself if the configuration names none: ECDSA on P-256, valid for ten years.
///
/// No certificate authority has signed it: people compare its fingerprint once, and programs pin the fingerprint.
public struct SelfSignedCertificate: Sendable, Equatable {
  static let lifetime: Int64 = 3650 * 86_400
  /// The time at which this constant was written, 1 November 2026. A clock that shows an earlier time is wrong.
  static let earliest: Int64 = 1_793_491_200

  /// The path of the certificate in PEM.
  public let certificate: String
  /// The path of the certificate's private key in PEM (PKCS#8), with mode 0600.
  public let key: String
  /// The SHA-256 of the certificate's DER bytes as browsers and `openssl x509 -fingerprint -sha256` show it: `AA:BB:…`, 32 bytes.
  public let fingerprintSHA256: String

  /// Returns the certificate in a folder, or makes a new one if there is none, if it has expired, or if its key does not belong to it.
  ///
  /// While the clock is not synchronised no certificate counts as expired, because people have come to trust its fingerprint.
  ///
  /// - Parameters:
  ///   - folder: the folder of `tls.crt` and `tls.key`; it is made with mode 0700 if it is missing.
  ///   - names: the DNS names and IP addresses of a new certificate, at least one. An existing certificate is kept
  ///     whatever its names are, also if the machine has another address since then, because people have come to trust
  ///     its fingerprint and phones have pinned it.
  ///   - now: the present time in seconds since 1970.
  ///   - isClockSynchronised: whether a time service keeps the clock right. If not, a new certificate is valid from
  ///     `earliest` on, or from `now` if that is sooner, until ten years after the later of the two.
  /// - Throws: `SelfSignedCertificateError`.
  public static func load(
    orMakeIn folder: String, names: [String], now: Int64 = WallClock.microseconds / 1_000_000,
    isClockSynchronised: Bool = WallClock.isSynchronised
  ) throws(SelfSignedCertificateError) -> SelfSignedCertificate {
    precondition(!names.isEmpty, "a certificate needs a name")
    let paths = (certificate: folder + "/tls.crt", key: folder + "/tls.key")
    if let certificate = try readWhole(paths.certificate), let key = try readWhole(paths.key),
      let found = examine(certificate, key: key), found.notAfter > now || !isClockSynchronised
    {
      return SelfSignedCertificate(certificate: paths.certificate, key: paths.key, fingerprintSHA256: found.fingerprint)
    }
    let made = try make(
      names, from: isClockSynchronised ? now : min(now, earliest), until: max(now, earliest) + lifetime)
    do throws(FileFailure) {
      try makeFolders(folder)
      // The key is written first, since a certificate that does not fit its key is made again at the next start.
      try writeAtomically(made.key, to: paths.key, mode: 0o600)
      try writeAtomically(made.certificate, to: paths.certificate, mode: 0o644)
    } catch {
      throw .unwritable(path: error.path, reason: error.reason)
    }
    guard let found = examine(made.certificate, key: made.key) else { throw .refused(names) }
    return SelfSignedCertificate(certificate: paths.certificate, key: paths.key, fingerprintSHA256: found.fingerprint)
  }

  /// Returns the SHA-256 of any other certificate, in the form of `fingerprintSHA256`, or `nil` if the certificate or
  /// its key cannot be read or if they do not belong together.
  ///
  /// - Parameters:
  ///   - certificate: path of the PEM file, of which the first certificate is used.
  ///   - key: path of the certificate's key in PEM.
  public static func fingerprint(of certificate: String, key: String) -> String? {
    guard let bytes = try? readWhole(certificate), let keyBytes = try? readWhole(key) else { return nil }
    return examine(bytes, key: keyBytes)?.fingerprint
  }

  private static func make(
    _ names: [String], from: Int64, until: Int64
  ) throws(SelfSignedCertificateError) -> (certificate: [UInt8], key: [UInt8]) {
    var certificate = [CChar](repeating: 0, count: 65536)
    var key = [CChar](repeating: 0, count: 4096)
    let texts = names.map { name in UnsafePointer(strdup(name)) }
    defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
    // The validity begins an hour earlier, since the clock of the first client may be slow.
    let result = crypto_make_certificate(
      texts, texts.count, from - 3600, until, &certificate, certificate.count, &key, key.count)
    guard result == 0 else { throw .refused(names) }
    func bytes(_ text: [CChar]) -> [UInt8] { text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)) }
    return (bytes(certificate), bytes(key))
  }

  private static func examine(_ certificate: [UInt8], key: [UInt8]) -> (notAfter: Int64, fingerprint: String)? {
    var notAfter: Int64 = 0
    var digest = [UInt8](repeating: 0, count: 32)
    guard
      crypto_examine_certificate(certificate, certificate.count, key, key.count, &notAfter, &digest) == 0
    else { return nil }
    return (notAfter, digest.map { Hexadecimal.text([$0]).uppercased() }.joined(separator: ":"))
  }

  /// Returns the bytes of the file, or `nil` if the file does not exist.
  private static func readWhole(_ path: String) throws(SelfSignedCertificateError) -> [UInt8]? {
    do throws(FileFailure) {
      return try Service.readWhole(path)
    } catch {
      throw .unreadable(path: error.path, reason: error.reason)
    }
  }
}

/// The reason why a certificate could be neither read nor made.
public enum SelfSignedCertificateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The certificate or its key exists but cannot be read. `reason` is the message of the operating system.
  case unreadable(path: String, reason: String)
  /// The certificate, its key or their folder cannot be written; `path` is the one that failed.
  case unwritable(path: String, reason: String)
  /// libcrypto refuses to make a certificate for these names.
  case refused([String])

  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .unwritable(let path, let reason): "\(path): cannot be written: \(reason)"
    case .refused(let names): "no certificate can be made for \(names.joined(separator: ", "))"
    }
  }
}
