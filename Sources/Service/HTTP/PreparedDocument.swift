import NIOCore
import Synchronization

/// A document whose bytes are made when its subject has changed, not when someone asks.
///
/// Any thread. Who asks first after a change makes the bytes; the others take what is there.
public final class PreparedDocument: Sendable {
  private struct Prepared {
    var version: UInt64
    var bytes: ByteBuffer
  }

  let contentType: String
  private let version: @Sendable () -> UInt64
  private let make: @Sendable () -> [UInt8]
  private let prepared = Mutex<Prepared?>(nil)

  /// - Parameters:
  ///   - version: cheap; another number whenever `make` would give other bytes.
  ///   - make: the document.
  public init(
    contentType: String = "application/json", version: @escaping @Sendable () -> UInt64,
    make: @escaping @Sendable () -> [UInt8]
  ) {
    self.contentType = contentType
    self.version = version
    self.make = make
  }

  /// A JSON document, written with sorted keys.
  ///
  /// - Parameters:
  ///   - version: cheap; another number whenever `json` would give another value.
  ///   - json: the document. A value that JSON cannot carry traps.
  public convenience init(
    version: @escaping @Sendable () -> UInt64, json: @escaping @Sendable () -> some (Encodable & SendableMetatype)
  ) {
    self.init(version: version) { encodeJSON(json()) }
  }

  /// The newest bytes.
  var bytes: ByteBuffer {
    prepared.withLock { prepared in
      let current = version()
      if let prepared, prepared.version == current { return prepared.bytes }
      let bytes = ByteBuffer(bytes: make())
      prepared = Prepared(version: current, bytes: bytes)
      return bytes
    }
  }
}
