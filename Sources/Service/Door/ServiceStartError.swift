import Foundation
import NIOCore

/// The reason why the service could not open its port.
public enum ServiceStartError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The port is in use by another program.
  case portInUse(address: String, port: UInt16)
  /// The address is not one of the host's, or the port may not be used. `reason` is the kernel's message.
  case cannotListen(address: String, port: UInt16, reason: String)
  /// The certificate or its key cannot be used.
  case certificate(String)
  /// This build has no TLS.
  case noTLS

  public var description: String {
    switch self {
    case .portInUse(let address, let port): Self.sentence(address, port, "the port is taken by another program")
    case .cannotListen(let address, let port, let reason): Self.sentence(address, port, reason)
    case .certificate(let reason): "the TLS certificate cannot be used: \(reason)"
    case .noTLS: "this build has no TLS: build it with `swift build --traits TLS`"
    }
  }

  private static func sentence(_ address: String, _ port: UInt16, _ reason: String) -> String {
    "cannot listen on TCP \(address.contains(":") ? "[\(address)]" : address):\(port): \(reason)"
  }

  init(_ error: any Error, address: String, port: UInt16) {
    if (error as? IOError)?.errnoCode == EADDRINUSE {
      self = .portInUse(address: address, port: port)
      return
    }
    let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    self = .cannotListen(address: address, port: port, reason: reason)
  }
}
