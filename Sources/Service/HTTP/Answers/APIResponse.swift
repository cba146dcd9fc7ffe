import Foundation
import HTTPTypes
import Store
import Synchronization

/// The response of a route's handler.
public struct APIResponse: Sendable {
  /// The HTTP status; 200 by default.
  public var status: HTTPResponse.Status
  /// The value of `Content-Type`; not sent with status 204.
  public var contentType: String
  /// Further header fields. `Cache-Control` is `no-store` unless these fields contain it.
  public var headers: HTTPFields
  /// The whole body; not sent if there are `pieces`.
  public var body: [UInt8]
  /// The result of the action for its log line, such as `left=30 right=30`, or `nil` if the request only reads.
  public var logValue: String?
  /// Further members of the action's log line, such as `zoneId` and `minutes`.
  public var logFields: [String: String] = [:]
  /// Returns the next piece of a body that is too long for memory or has no end, and `nil` at the end; `nil` itself if
  /// `body` is the whole body. Released after the client has disconnected, which is noticed at the next piece.
  public var pieces: (@Sendable () async throws -> [UInt8]?)?

  /// Makes a response with a whole body. `logFields` and `pieces` are set afterwards.
  public init(
    _ status: HTTPResponse.Status = .ok, contentType: String, headers: HTTPFields = [:], body: [UInt8],
    logValue: String? = nil
  ) {
    (self.status, self.contentType, self.headers, self.body, self.logValue) = (
      status, contentType, headers, body, logValue
    )
  }

  /// Returns a response of JSON with sorted keys; a number that is not finite is written as null.
  public static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, logValue: String? = nil
  ) -> APIResponse {
    APIResponse(status, contentType: "application/json", body: encodeJSON(value), logValue: logValue)
  }
}

/// Returns a value as JSON with sorted keys and without escaped slashes. All JSON of this module is made by this
/// function. A number that is not finite is written as null.
public func encodeJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return Array(try encoder.encode(value))
  } catch {
    // NaN and infinity are written as null, like unknown values. They are an error of ours, but no reason to end the
    // process.
    let mark = "\u{F8FF}no number\u{F8FF}"
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: mark, negativeInfinity: mark, nan: mark)
    guard let bytes = try? encoder.encode(value) else {
      preconditionFailure("a document that JSON cannot carry: \(error)")
    }
    return Array(String(decoding: bytes, as: UTF8.self).replacing("\"\(mark)\"", with: "null").utf8)
  }
}

/// The document `{"ok":true}`.
public struct DoneDocument: Encodable, Sendable {
  /// Always `true`; an error's document has `false`.
  public let ok = true

  /// Makes the document of an action that has no other result.
  public init() {}
}

/// The status of an answer.
public typealias HTTPStatus = HTTPResponse.Status

/// The lines of a CSV list, read one piece after another while they are sent.
private final class CSVLines<Position: Sendable>: Sendable {
  private let pieces: Mutex<CSVPieces<Position>>

  init(_ pieces: CSVPieces<Position>) { self.pieces = Mutex(pieces) }

  /// Returns the next piece, or `nil` after the last one.
  func next() throws -> [UInt8]? { try pieces.withLock { try $0.next() }.map { Array($0.utf8) } }
}

extension APIResponse {
  /// Returns a CSV file that is sent piece by piece, so that a list of many years is never in memory as a whole.
  public static func csv<Position>(_ pieces: CSVPieces<Position>, file name: String) -> APIResponse {
    let lines = CSVLines(pieces)
    var response = APIResponse(
      contentType: "text/csv; charset=utf-8",
      headers: [.contentDisposition: #"attachment; filename="\#(name)""#], body: [])
    response.pieces = { try lines.next() }
    return response
  }
}
