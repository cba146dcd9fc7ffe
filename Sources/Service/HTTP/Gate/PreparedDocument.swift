import HTTPTypes
import NIOCore
import Synchronization

/// A document whose bytes are made at the first request after its subject has changed, not at every request.
///
/// It may be used from any thread. The first call after a change makes the bytes; later calls return them.
public final class PreparedDocument: Sendable {
  struct Content {
    var status = HTTPResponse.Status.ok
    var bytes: ByteBuffer
    /// The compressed form and the entity tag of a file that never changes, or `nil` if the document may change.
    var file: PreparedFile?
  }

  let contentType: String
  let keeping: Keeping
  /// The document's `Content-Security-Policy`, which says which origins may show it in a frame, or `nil` if none may.
  let framePolicy: String?
  private let version: @Sendable () -> UInt64
  private let make: @Sendable () -> Content
  private let prepared = Mutex<(version: UInt64, content: Content)?>(nil)

  /// Makes a document whose content may change.
  ///
  /// - Parameters:
  ///   - version: returns a number that differs whenever `make` would return other bytes; called often, so it must be cheap.
  ///   - make: returns the bytes of the document.
  public convenience init(
    contentType: String = "application/json", version: @escaping @Sendable () -> UInt64,
    make: @escaping @Sendable () -> [UInt8]
  ) {
    self.init(contentType: contentType, version: version, content: { Content(bytes: ByteBuffer(bytes: make())) })
  }

  /// Makes the document of a file that never changes while the program runs, such as a script of the page. It is sent
  /// compressed to clients that accept gzip.
  ///
  /// - Parameters:
  ///   - keeping: whether browsers keep it, and whether they ask each time if it has changed.
  ///   - framePolicy: says which origins may show it in a frame, or `nil` if none may.
  ///   - file: returns the bytes of the file; called once, at the first request.
  convenience init(
    contentType: String, keeping: Keeping, framePolicy: String?, file: @escaping @Sendable () -> [UInt8]
  ) {
    self.init(
      contentType: contentType, keeping: keeping, framePolicy: framePolicy, version: { 0 },
      content: {
        let bytes = file()
        return Content(bytes: ByteBuffer(bytes: bytes), file: PreparedFile(bytes))
      })
  }

  /// Makes a document whose HTTP status is part of its content.
  init(
    contentType: String = "application/json", keeping: Keeping = .never, framePolicy: String? = nil,
    version: @escaping @Sendable () -> UInt64, content make: @escaping @Sendable () -> Content
  ) {
    self.contentType = contentType
    self.keeping = keeping
    self.framePolicy = framePolicy
    self.version = version
    self.make = make
  }

  var bytes: ByteBuffer { content.bytes }

  /// The present content, made again if the version has changed.
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

extension PreparedDocument {
  /// Returns the answer to a request that only the responder can answer: one with a query or of another origin, or one
  /// for a long document over TLS. A file is sent in gzip and kept by browsers in this case, too.
  func answer(to fields: HTTPFields) -> APIAnswer {
    let content = content
    var headers = HTTPFields()
    headers[.contentSecurityPolicy] = framePolicy
    var body = content.bytes
    if let file = content.file {
      headers[.cacheControl] = keeping.rawValue
      headers[.vary] = "accept-encoding"
      headers[.eTag] = file.tag
      if let gzip = file.gzip, PreparedFile.takesGzip(fields.acceptedEncodings) {
        headers[.contentEncoding] = "gzip"
        body = gzip
      }
    }
    var answer = APIAnswer(content.status, contentType: contentType, headers: headers, body: body)
    answer.isShared = true
    return answer
  }
}

extension HTTPFields {
  /// The items of the list `Accept-Encoding`.
  var acceptedEncodings: [Substring] { self[.acceptEncoding]?.split(separator: ",") ?? [] }
}
