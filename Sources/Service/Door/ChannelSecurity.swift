import NIOCore

#if TLS
  import NIOSSL
#endif

/// TLS in front of a connection, or nothing.
struct ChannelSecurity: Sendable {
  #if TLS
    private let context: NIOSSLContext?

    /// Reads the certificate and its key; TLS 1.2 and later.
    ///
    /// - Throws: `.certificate` with the file that cannot be used.
    init(_ mode: ServiceConfiguration.TLSMode) throws(ServiceStartError) {
      guard case .files(let certificate, let key) = mode else {
        context = nil
        return
      }
      do {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: chain, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // How long a close waits for the client's: within what stopping the service allows.
        configuration.shutdownTimeout = .milliseconds(400)
        context = try NIOSSLContext(configuration: configuration)
      } catch {
        throw .certificate("\(certificate), \(key): \(error)")
      }
    }

    /// The handler that a connection begins with; `nil` for plain HTTP.
    var makeHandler: (@Sendable () throws -> any ChannelHandler)? {
      guard let context else { return nil }
      return { NIOSSLServerHandler(context: context) }
    }
  #else
    /// - Throws: `.noTLS` when the mode asks for it.
    init(_ mode: ServiceConfiguration.TLSMode) throws(ServiceStartError) {
      guard mode == .off else { throw .noTLS }
    }

    /// What a connection begins with: plain HTTP.
    var makeHandler: (@Sendable () throws -> any ChannelHandler)? { nil }
  #endif
}
