import WallTime

/// The address at which the service listens, its TLS mode and its limits.
public struct ServiceConfiguration: Sendable {
  /// Whether connections are encrypted, and with which certificate.
  public enum TLSMode: Sendable, Equatable {
    /// The service speaks plain HTTP.
    case off
    /// The service speaks TLS with these PEM files: the certificate followed by its intermediate certificates, and its private key.
    case files(certificate: String, key: String)
  }

  /// The numeric address at which the service listens: `127.0.0.1`, `::1`.
  public var address: String
  /// The TCP port; 0 chooses any free port.
  public var port: UInt16
  /// The TLS mode. In a build without TLS (`hasTLS`) any mode but `.off` makes `WebService.bind()` throw `.noTLS`.
  public var tls: TLSMode
  /// The rules for clients' certificates, or `nil` if clients are not asked for a certificate; used with TLS only.
  public var clients: ClientCertificates?
  /// The program's version, for `/api/status` and the OpenAPI document.
  public var version: String
  /// The number of threads that serve connections. `nil` means 2, or 1 on a host with up to two processors.
  public var threads: Int?
  /// The limits of connections, timeouts and sizes.
  public var limits: ConnectionLimits
  /// The greatest length of a request body in bytes.
  public var bodyLimit: Int
  /// The origins whose web pages may read answers: `https://panel.example`. The pages that the service itself serves need no entry.
  public var allowedOrigins: [String]
  /// The origins whose web pages may show the page in a frame.
  public var frameAncestors = FrameAncestors.none
  /// The parts that the program's systems add to the page and to the OpenAPI document.
  public var additions = APIAdditions()
  /// The time zone of the machine, which `GET /api/status` names, or `nil` if it names none.
  public var zone: MachineZone?

  /// Makes a configuration. By default the service listens on loopback only, on port 8000, without TLS, and accepts bodies of up to 1 MiB.
  public init(
    address: String = "127.0.0.1", port: UInt16 = 8000, tls: TLSMode = .off, version: String, threads: Int? = nil,
    limits: ConnectionLimits = ConnectionLimits(), bodyLimit: Int = 1_048_576, allowedOrigins: [String] = []
  ) {
    self.address = address
    self.port = port
    self.tls = tls
    self.version = version
    self.threads = threads
    self.limits = limits
    self.bodyLimit = bodyLimit
    self.allowedOrigins = allowedOrigins
  }

  /// Whether this build supports TLS, which needs the package trait `TLS`.
  public static var hasTLS: Bool {
    #if TLS
      true
    #else
      false
    #endif
  }
}
