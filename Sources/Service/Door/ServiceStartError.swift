import Foundation
import NIOCore

/// Why the service does not listen.
public enum ServiceStartError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The port is taken, or the address is not this machine's. `reason`: the system's words.
  case cannotListen(address: String, port: UInt16, reason: String)
  /// The certificate or its key cannot be used.
  case certificate(String)
  /// This build has no TLS.
  case noTLS

  public var description: String {
    switch self {
    case .cannotListen(let address, let port, let reason):
      "cannot listen on TCP \(address.contains(":") ? "[\(address)]" : address):\(port): \(reason)"
    case .certificate(let reason): "the TLS certificate cannot be used: \(reason)"
    case .noTLS: "this build has no TLS: build it with `swift build --traits TLS`"
    }
  }

  init(_ error: any Error, address: String, port: UInt16) {
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    self = .cannotListen(address: address, port: port, reason: reason)
  }
}
