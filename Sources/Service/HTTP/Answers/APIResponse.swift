import Foundation
import HTTPTypes

/// What a handler answers.
public struct APIResponse: Sendable {
  /// HTTP status; 200 unless given.
  public var status: HTTPResponse.Status
  /// Value of `Content-Type`; not sent with status 204.
  public var contentType: String
  /// Further header fields. `Cache-Control` is `no-store` unless it is among them.
  public var headers: HTTPFields
  /// The whole body; not sent if there are `pieces`.
  public var body: [UInt8]
  /// What the action's log line says was done: `left=30 right=30`; nil for mere looks.
  public var logValue: String?
  /// Members of that line of their own: `zoneId`, `minutes`.
  public var logFields: [String: String] = [:]
  /// What follows `body`, piece by piece, for what is too long to be in memory or has no end; nil from it: the end. Not with
  /// `body`. Let go of when the client has gone, which shows at the next piece.
  public var pieces: (@Sendable () async throws -> [UInt8]?)?

  /// A response with a whole body. `logFields` and `pieces` are set afterwards.
  public init(
    _ status: HTTPResponse.Status = .ok, contentType: String, headers: HTTPFields = [:], body: [UInt8],
    logValue: String? = nil
  ) {
    (self.status, self.contentType, self.headers, self.body, self.logValue) = (
      status, contentType, headers, body, logValue
    )
  }

  /// JSON with sorted keys; a number that is not finite is written as null.
  public static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, logValue: String? = nil
  ) -> APIResponse {
    APIResponse(status, contentType: "application/json", body: encodeJSON(value), logValue: logValue)
  }
}

/// The one way this module writes JSON: sorted keys, no escaped slashes.
public func encodeJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return Array(try encoder.encode(value))
  } catch {
    // NaN and infinity are written as null, as what is unknown is: a fault of ours, but no reason to end the process.
    let mark = "\u{F8FF}no number\u{F8FF}"
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: mark, negativeInfinity: mark, nan: mark)
    guard let bytes = try? encoder.encode(value) else {
      preconditionFailure("a document that JSON cannot carry: \(error)")
    }
    return Array(String(decoding: bytes, as: UTF8.self).replacing("\"\(mark)\"", with: "null").utf8)
  }
}

/// `{"ok":true}`
public struct DoneDocument: Encodable, Sendable {
  /// Always `true`; an error's document has `false`.
  public let ok = true

  /// For actions that have nothing else to say.
  public init() {}
}

/// The status of an answer.
public typealias HTTPStatus = HTTPResponse.Status
