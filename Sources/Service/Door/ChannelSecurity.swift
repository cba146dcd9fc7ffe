import NIOCore

#if TLS
  import NIOSSL
#endif

/// The TLS configuration of accepted connections, or plain HTTP.
struct ChannelSecurity: Sendable {
  /// Makes the TLS handler of one connection. `shown` is called on its event loop if the client shows a certificate.
  typealias MakeHandler =
    @Sendable (_ shown: @escaping @Sendable (ClientCertificate) -> Void) throws -> any ChannelHandler

  #if TLS
    private let context: NIOSSLContext?
    private let configuration: TLSConfiguration
    private let clients: ClientCertificates?

    /// Reads the certificate and its key. TLS 1.2 and later are accepted.
    ///
    /// - Parameter clients: decides the scope of clients' certificates, or `nil` if clients are not asked for one.
    /// - Throws: `.certificate` with the file that cannot be used.
    init(_ mode: ServiceConfiguration.TLSMode, clients: ClientCertificates? = nil) throws(ServiceStartError) {
      self.clients = clients
      guard case .files(let certificate, let key) = mode else {
        (context, configuration) = (nil, .makeClientConfiguration())
        return
      }
      do {
        let chain = try NIOSSLCertificate.fromPEMBytes(Self.bytes(of: certificate)).map {
          NIOSSLCertificateSource.certificate($0)
        }
        let key = try NIOSSLPrivateKey(bytes: Self.bytes(of: key), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: chain, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A close waits this long for the client's, which is within the time for stopping the service.
        configuration.shutdownTimeout = .milliseconds(400)
        context = try NIOSSLContext(configuration: configuration)
        self.configuration = configuration
      } catch let failure as FileFailure {
        throw .certificate("\(failure.path): \(failure.reason)")
      } catch {
        throw .certificate("\(certificate), \(key): \(error)")
      }
    }

    private static func bytes(of path: String) throws(FileFailure) -> [UInt8] {
      guard let bytes = try readWhole(path) else { throw FileFailure(path: path, reason: "there is no such file") }
      return bytes
    }

    /// Makes the TLS handler at the head of a connection's pipeline, or is `nil` for plain HTTP.
    var makeHandler: MakeHandler? {
      guard let context else { return nil }
      guard let clients else { return { _ in NIOSSLServerHandler(context: context) } }
      return { [configuration] shown in
        // Each connection has its own context, so that no session is resumed, since a resumed one would not show the
        // whole chain. It takes the authorities of the last reload, whose names help a browser to choose.
        var configuration = configuration
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(clients.rules.authorities))
        configuration.sendCANameList = true
        let context = try NIOSSLContext(configuration: configuration)
        // TLS checks that the client has the key. Whether the certificate gives access is decided at each request,
        // whose answer can say why not.
        return NIOSSLServerHandler(context: context) { chain, verdict in
          shown(ClientCertificate(chain.prefix(ClientCertificate.most).compactMap { try? $0.toDERBytes() }))
          verdict.succeed(.certificateVerified)
        }
      }
    }
  #else
    /// Makes the configuration for plain HTTP.
    ///
    /// - Throws: `.noTLS` if the mode is not `.off`.
    init(_ mode: ServiceConfiguration.TLSMode, clients: ClientCertificates? = nil) throws(ServiceStartError) {
      guard mode == .off else { throw .noTLS }
    }

    /// Always `nil`, because this build has no TLS.
    var makeHandler: MakeHandler? { nil }
  #endif
}
