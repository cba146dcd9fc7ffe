import NIOCore

/// Where the service listens and what it puts up with.
public struct ServiceConfiguration: Sendable {
  public enum TLSMode: Sendable, Equatable {
    case off
    /// PEM files: the certificate with those that lead to a known authority, and its key.
    case files(certificate: String, key: String)
  }

  /// In digits: `127.0.0.1`, `::1`.
  public var address: String
  /// 0 takes any free one.
  public var port: UInt16
  public var tls: TLSMode
  /// The program's, for `/api/status` and the OpenAPI document.
  public var version: String
  /// Connections at a time; the next is closed at once.
  public var maxConnections: Int
  /// A connection on which nothing is asked is closed after it.
  public var idleTimeout: TimeAmount
  /// A request's head must be whole after it.
  public var headerTimeout: TimeAmount
  /// Longest request body in bytes.
  public var bodyLimit: Int
  /// Origins whose pages may read answers: `https://panel.example`. The door's own pages need none.
  public var allowedOrigins: [String]

  public init(
    address: String = "127.0.0.1", port: UInt16 = 8000, tls: TLSMode = .off, version: String,
    maxConnections: Int = 256, idleTimeout: TimeAmount = .seconds(60), headerTimeout: TimeAmount = .seconds(10),
    bodyLimit: Int = 1_048_576, allowedOrigins: [String] = []
  ) {
    self.address = address
    self.port = port
    self.tls = tls
    self.version = version
    self.maxConnections = maxConnections
    self.idleTimeout = idleTimeout
    self.headerTimeout = headerTimeout
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
