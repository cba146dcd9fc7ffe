/// Where the service listens and what it puts up with.
public struct ServiceConfiguration: Sendable {
  /// Whether connections are encrypted, and with which certificate.
  public enum TLSMode: Sendable, Equatable {
    /// Plain HTTP.
    case off
    /// PEM files: the certificate with those that lead to a known authority, and its key.
    case files(certificate: String, key: String)
  }

  /// In digits: `127.0.0.1`, `::1`.
  public var address: String
  /// 0 takes any free one.
  public var port: UInt16
  /// In a build without TLS (`hasTLS`) anything but `.off` makes `WebService.bind()` throw `.noTLS`.
  public var tls: TLSMode
  /// The program's, for `/api/status` and the OpenAPI document.
  public var version: String
  /// How many threads serve connections. `nil` means 2, or 1 on a machine with up to two processors.
  public var threads: Int?
  /// Connections, time-outs and sizes.
  public var limits: ConnectionLimits
  /// Longest request body in bytes.
  public var bodyLimit: Int
  /// Origins whose pages may read answers: `https://panel.example`. The door's own pages need none.
  public var allowedOrigins: [String]
  /// What the program's systems add to the page and to the OpenAPI document.
  public var additions = APIAdditions()

  /// By default the service listens on loopback only, on port 8000, without TLS, and takes bodies of up to 1 MiB.
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

  /// Whether this build speaks TLS: the trait `TLS`.
  public static var hasTLS: Bool {
    #if TLS
      true
    #else
      false
    #endif
  }
}
