import NIOCore

#if TLS
  import CCrypto
  import NIOSSL

  /// The client's side of TLS. It accepts a certificate that the host trusts, or exactly the certificate with a given fingerprint.
  struct ClientSecurity: Sendable {
    private let context: NIOSSLContext
    private let host: String
    private let fingerprint: [UInt8]?

    init(
      host: String, fingerprint: String?, identity: ClientIdentity? = nil
    ) throws(ServiceClient.Failure) {
      if let fingerprint {
        guard let bytes = Self.bytes(fingerprint) else { throw .badFingerprint(fingerprint) }
        self.fingerprint = bytes
      } else {
        self.fingerprint = nil
      }
      var configuration = TLSConfiguration.makeClientConfiguration()
      if let identity {
        do {
          configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(identity.certificate).map {
            .certificate($0)
          }
          configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: identity.key, format: .pem))
          // The context refuses a key that does not belong to the certificate.
          _ = try NIOSSLContext(configuration: configuration)
        } catch {
          throw .badIdentity(
            "expected a certificate in \(identity.certificate) and its key in \(identity.key), both PEM, got: \(error)")
        }
      }
      do {
        context = try NIOSSLContext(configuration: configuration)
      } catch {
        throw .unreachable("TLS: \(error)")
      }
      self.host = host
    }

    /// Adds TLS to a connection. It is added after all other handlers, or with `first` before them, for a connection that has begun without TLS.
    func secure(_ pipeline: ChannelPipeline.SynchronousOperations, first: Bool = false) throws {
      let position: ChannelPipeline.SynchronousOperations.Position = first ? .first : .last
      // An address is not a valid name for SNI.
      let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
      let name = isAddress ? nil : host
      guard let fingerprint else {
        return try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: name), position: position)
      }
      // The fingerprint replaces the usual checks, since names and dates say nothing about a certificate that is known byte for byte.
      let handler = try NIOSSLClientHandler(context: context, serverHostname: name) { chain, verdict in
        verdict.succeed(Self.isPinned(chain.first, fingerprint) ? .certificateVerified : .failed)
      }
      try pipeline.addHandler(handler, position: position)
    }

    /// Returns the meaning of a failed handshake in words, or `nil` if the error is not one of TLS.
    func sentence(of error: any Error) -> String? {
      guard case .handshakeFailed(let cause)? = error as? NIOSSLError else { return nil }
      guard fingerprint == nil else {
        return "the certificate's fingerprint is not the one given, or no TLS is spoken there"
      }
      guard "\(cause)".contains("CERTIFICATE_VERIFY_FAILED") else { return "no TLS connection: not a TLS port?" }
      return
        "this machine does not trust the certificate: compare its fingerprint with the one in the daemon's log and give it"
        + " with --fingerprint"
    }

    private static func isPinned(_ certificate: NIOSSLCertificate?, _ fingerprint: [UInt8]) -> Bool {
      guard let bytes = try? certificate?.toDERBytes() else { return false }
      var digest = [UInt8](repeating: 0, count: 32)
      return crypto_sha256(bytes, bytes.count, &digest) == 0 && digest == fingerprint
    }

    private static func bytes(_ text: String) -> [UInt8]? {
      let digits = text.filter { $0 != ":" }.compactMap(\.hexDigitValue)
      guard digits.count == 64, text.count(where: { $0 != ":" }) == 64 else { return nil }
      return (0..<32).map { UInt8(clamping: digits[2 * $0] * 16 + digits[2 * $0 + 1]) }
    }
  }
#else
  /// The stand-in for a build without TLS; its initialiser always throws.
  struct ClientSecurity: Sendable {
    init(
      host: String, fingerprint: String?, identity: ClientIdentity? = nil
    ) throws(ServiceClient.Failure) { throw .withoutTLS }

    func secure(_ pipeline: ChannelPipeline.SynchronousOperations, first: Bool = false) throws {}

    func sentence(of error: any Error) -> String? { nil }
  }
#endif

/// The certificate that a client shows to a server that asks for one, instead of a token.
public struct ClientIdentity: Sendable {
  /// The path of a PEM file with the certificate, then those that lead to the server's authority.
  let certificate: String
  /// The path of its private key in PEM, without a password.
  let key: String

  /// Names the files, which are read when a client is made.
  public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}
