import HTTPTypes
import NIOCore
import Synchronization

/// A document whose bytes are made when its subject has changed, not when it is requested.
///
/// Usable from any thread. The first call after a change makes the bytes; later ones take them.
public final class PreparedDocument: Sendable {
  struct Content {
    var status = HTTPResponse.Status.ok
    var bytes: ByteBuffer
    /// Of a file that never changes: its other form, and the tag that both are known by.
    var file: PreparedFile?
  }

  let contentType: String
  /// Whether browsers may keep it, as long as they ask whether it is still the same one.
  let isFile: Bool
  private let version: @Sendable () -> UInt64
  private let make: @Sendable () -> Content
  private let prepared = Mutex<(version: UInt64, content: Content)?>(nil)

  /// - Parameters:
  ///   - version: cheap; another number whenever `make` would give other bytes.
  ///   - make: the document.
  public convenience init(
    contentType: String = "application/json", version: @escaping @Sendable () -> UInt64,
    make: @escaping @Sendable () -> [UInt8]
  ) {
    self.init(contentType: contentType, version: version, content: { Content(bytes: ByteBuffer(bytes: make())) })
  }

  /// A file that never changes while the program runs, such as a script of the page: browsers keep it and ask only whether it is still
  /// the same one, and it goes out compressed to whoever takes that.
  ///
  /// - Parameter file: called once, at the first request.
  public convenience init(contentType: String, file: @escaping @Sendable () -> [UInt8]) {
    self.init(
      contentType: contentType, isFile: true, version: { 0 },
      content: {
        let bytes = file()
        return Content(bytes: ByteBuffer(bytes: bytes), file: PreparedFile(bytes))
      })
  }

  /// As above, of a document whose status is part of it.
  init(
    contentType: String = "application/json", isFile: Bool = false, version: @escaping @Sendable () -> UInt64,
    content make: @escaping @Sendable () -> Content
  ) {
    self.contentType = contentType
    self.isFile = isFile
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

  var bytes: ByteBuffer { content.bytes }

  /// The newest.
  var content: Content {
    prepared.withLock { prepared in
      let current = version()
      if let prepared, prepared.version == current { return prepared.content }
      let content = make()
      prepared = (current, content)
      return content
    }
  }
}
